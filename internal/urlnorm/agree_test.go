package urlnorm

import (
	"errors"
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
)

var cases = flag.Int("urls", 250_000, "how many invented references the fast path and the standard's parser are compared on")

// pieces are what references are invented of: ordinary parts of URLs, and whatever has a meaning somewhere.
var pieces = []string{
	"a", "b1", "index.html", "Caps", "x-y_z~", "/", "//", "/", ".", "..", "/./", "/../", "...", "?", "#", "&", "=", ";", ":", "@", "%", "%2e", "%2E", "%41",
	"%zz", "%e2%82%ac", "é", "ü", "日本", "\xff", "\x00", "\x7f", " ", "\t", "\n", "\\", "|", "^", "`", "{", "}", "<", ">", "\"", "'", "[", "]", "!$&'()*+,",
	"http:", "https:", "http://", "https://", "HTTP://", "ftp://", "mailto:", "javascript:", "data:,", "file:///", "example.org", "EXAMPLE.org", "a.b-c.example",
	"xn--mnchen-3ya.example", "münchen.example", "127.0.0.1", "0x7f.1", "1.2.3", "256.1.1.1", "01.2.3.4", "1.2.3.4.", "[::1]", "[1::2:3.4.5.6]", ":80", ":443",
	":8080", ":0", ":00080", ":65535", ":65536", ":8a", "user:pw@", "@", "utm_source=x", "a=b", "?a?b", "-", "--", ".a", "a.", "..a", "1", "0",
}

func invent(r *rand.Rand) string {
	var s strings.Builder
	for range 1 + r.IntN(7) {
		s.WriteString(pieces[r.IntN(len(pieces))])
	}
	return s.String()
}

// TestFastPathAgreesWithTheStandard compares both on invented references and absolute URLs.
func TestFastPathAgreesWithTheStandard(t *testing.T) {
	t.Parallel()
	n := *cases
	if testing.Short() {
		n /= 20
	}
	r := rand.New(rand.NewPCG(5, 2026))
	var made []*Base
	for _, s := range bases {
		b, err := NewBase(s)
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, b)
	}
	fast, plain := 0, 0
	for i := range n {
		ref := invent(r)
		if agree(t, made[i%len(made)], []byte(ref)) {
			fast++
		}
		if agreePlain(t, "http://"+ref) || agreePlain(t, "https://example.org/"+ref) {
			plain++
		}
	}
	t.Logf("%d references, of which %d took the fast path; %d absolute URLs were plain", n, fast, plain)
	if fast < n/20 || plain < n/50 {
		t.Errorf("only %d of %d references took the fast path, and %d absolute URLs were plain", fast, n, plain)
	}
}

// agreePlain checks that what isPlain takes for normalized is.
func agreePlain(t *testing.T, s string) (plain bool) {
	t.Helper()
	if !isPlain(s) {
		return false
	}
	if exact, err := parseExactly(s); err != nil || exact != s {
		t.Fatalf("%q is taken for normalized, and is %q, %v", s, exact, err)
	}
	return true
}

// TestWhatIsPlain holds on to what most URLs look like: the standard's parser is not to be asked for them.
func TestWhatIsPlain(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"http://example.org/", "https://www.example.org/a/b.html?q=1&r=a%20b", "http://127.0.0.1:18080/py/index.html", "http://localhost:8080/%C3%A9",
		"https://example.org:8443/a//b/", "http://10.0.0.255/?",
	} {
		if !agreePlain(t, s) {
			t.Errorf("%s is not plain", s)
		}
	}
	for _, s := range []string{
		"", "http://", "http:///", "http://example.org", "http://example.org?x", "http://Example.org/", "http://example.org:80/", "https://example.org:443/",
		"http://example.org:080/", "http://example.org:/", "http://example.org:65536/", "http://u@example.org/", "http://1.2.3/", "http://1.2.3.04/",
		"http://1.2.3.256/", "http://example.org/a/../b", "http://example.org/.", "http://example.org/a/%2e%2E", "http://example.org/%zz", "http://example.org/é",
		"http://example.org/a#b", "http://example.org/a b", "ftp://example.org/", "http://example.org/" + strings.Repeat("a", MaxLength), "HTTP://example.org/",
	} {
		if isPlain(s) {
			t.Errorf("%.60s is plain", s)
		}
	}
}

func FuzzPlain(f *testing.F) {
	for _, s := range bases {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		agreePlain(t, s)
		if got, err := Parse(s); err == nil {
			if exact, exactErr := parseExactly(s); exactErr != nil || got != exact {
				t.Fatalf("Parse(%q) = %q; exactly %q, %v", s, got, exact, exactErr)
			}
		} else if !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrScheme) && !errors.Is(err, ErrLength) {
			t.Fatalf("Parse(%q): %v is of no kind", s, err)
		}
	})
}
