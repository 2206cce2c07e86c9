package urlnorm

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

var besides = flag.Int("besides", 20_000, "how many invented references are resolved by Node's parser of URLs as well")

// hosts are what hosts are invented of, beside whole ones: what the host parser of the standard looks at.
var hosts = []string{
	"a", "b1", "xn--", "xn--a", "xn--mnchen-3ya", "m\u00fcnchen", "fa\u00df", "\u03c2", "\u200d", "\u00ad", "\u3002", "\uff0e", "\uff11", "\uff41", "\u2488", "\u1e9e", "\u0660",
	".", ".", "-", "--", "_", "~", "!", "$", "&", "'", "(", ")", "*", "+", ",", ";", "=", "%", "%41", "%2e", "%2E", "%00", "%20", "%25", "%c3%bc", "%ff", "%zz", "|", "^", "<", ">", "\"", "`", "{", "}", " ",
	"0", "1", "255", "256", "0x", "0xff", "0X7F", "0x7fffffff", "4294967295", "4294967296", "00", "010", "08", "09", "1e3", "[", "]", ":", "::", "1:2:3", "ffff", "[::]", "[::1]", "[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:7::]",
	"[::ffff:1.2.3.4]", "[::1.2.3]", "[::1.2.3.04]", "[1::2::3]", "[::g]", "[0:0:1:0:0:0:1:0]", "[::1%25eth0]", "[v1.a]", "@", "user@", ":80", ":", ":443", ":99999", "\t", "\n",
}

func inventHost(r *rand.Rand) string {
	var s strings.Builder
	for range 1 + r.IntN(4) {
		s.WriteString(hosts[r.IntN(len(hosts))])
	}
	return s.String()
}

const nodeResolves = `
const answers = JSON.parse(require('fs').readFileSync(0)).map(([ref, base]) => {
  try { return new URL(ref, base).href } catch { return null }
});
process.stdout.write(JSON.stringify(answers));
`

// TestStandardBesideNode resolves invented references by Node's parser, which is also that of other programs that
// follow the standard, and by this package: they agree, but for what this package documents beyond the standard, and
// for what knownToDiffer lists.
func TestStandardBesideNode(t *testing.T) {
	t.Parallel()
	version, err := exec.Command("node", "--print", "process.versions.node.split('.')[0]").Output()
	if err != nil {
		t.Skip("node is not installed (Debian package nodejs)")
	}
	if n, _ := strconv.Atoi(strings.TrimSpace(string(version))); n < 20 {
		t.Skipf("node is of version %s: those before 20 differ in more", version)
	}
	r := rand.New(rand.NewPCG(14, 2026))
	asked := make([][2]string, *besides)
	for i := range asked {
		ref := invent(r)
		if i%2 == 0 {
			scheme := []string{"http://", "https://", "//", "http:", "HTTP:\\\\"}[r.IntN(5)]
			ref = scheme + inventHost(r) + []string{"", "/", "?", "/" + ref}[r.IntN(4)]
		}
		asked[i] = [2]string{string([]rune(ref)), bases[r.IntN(len(bases))]}
	}
	given, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command("node", "-e", nodeResolves)
	command.Stdin = bytes.NewReader(given)
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var answers []*string
	if err := json.Unmarshal(output, &answers); err != nil || len(answers) != len(asked) {
		t.Fatalf("%d answers of %d: %v", len(answers), len(asked), err)
	}
	differ, known, urls := 0, 0, 0
	for i, q := range asked {
		c := standardCase{Input: q[0], Base: &q[1], Failure: answers[i] == nil}
		if answers[i] != nil {
			c.Href = *answers[i]
		}
		want, _ := c.wanted()
		if end := strings.IndexByte(want+"?", '?'); strings.Contains(want[:end], "^") {
			want = strings.ReplaceAll(want[:end], "^", "%5E") + want[end:]
		}
		base, err := NewBase(q[1])
		if err != nil {
			t.Fatal(err)
		}
		got, err := base.Resolve([]byte(q[0]))
		if err == nil {
			urls++
		}
		if got == want && (err == nil) == (want != "") {
			continue
		}
		if knownToDiffer(q[0], q[1], got, want) {
			known++
			continue
		}
		if differ++; differ <= 20 {
			t.Errorf("%q on %s is %q, %v; Node has %q", q[0], q[1], got, err, want)
		}
	}
	t.Logf("%d references, %d of them URLs: %d differ, and %d as is known", len(asked), urls, differ, known)
	if urls < len(asked)/10 {
		t.Error("too few of them are URLs")
	}
}

// knownToDiffer knows where Node's parser, in version 20, does not do what the standard has.
func knownToDiffer(ref, base, got, want string) bool {
	switch {
	case strings.HasSuffix(base, "?") && got == want+"?": // a reference without path and query keeps an empty query, too
		return true
	case got == "" && strings.ContainsRune(ref, '\u0660'): // a label that begins with an Arabic digit breaks the rule of RFC 5893
		return true
	case strings.Contains(want, "/../"), strings.Contains(want, "/./"): // it leaves the dots of some paths
		return true
	}
	return got == "" && strings.Contains(strings.ToLower(ref), "xn--") // punycode of ASCII alone, refused since Unicode 15.1
}
