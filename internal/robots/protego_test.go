package robots_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/robots"
	"github.com/webrace/webrace/internal/testutil"
)

// question is a file, and what is asked of it.
type question struct {
	File  string     `json:"file"`
	Asked [][]string `json:"asked"` // agent and path
}

const protego = `
import json, sys
from protego import Protego
answers = []
for q in json.load(sys.stdin):
    rules = Protego.parse(q["file"])
    answers.append([rules.can_fetch(path, agent) for agent, path in q["asked"]])
json.dump(answers, sys.stdout)
`

// TestReferenceWrittenElsewhere asks Protego (the Debian package python3-protego), which shares no code with this
// package or its parser. The files have what the grammar of RFC 9309 has, so that the standard decides. Left out is
// what it leaves open, and where Protego does not follow it:
//   - lines of other names between those of agents, which end the group there;
//   - agents whose names are part of each other: it compares them so;
//   - "&", "=" and the like in a path, and escapes of what need not be escaped: it counts the octets of a pattern
//     after it has escaped, or decoded, them;
//   - escapes and slashes in queries, which it does not compare octet by octet, empty ones, which it drops, and "$"
//     behind one, which it moves before it;
//   - a mark of UTF-8, and paths that begin with two slashes, which it takes for a host.
func TestReferenceWrittenElsewhere(t *testing.T) {
	t.Parallel()
	python := testutil.Python(t, "protego", "python3-protego")
	g := standardGenerator{generator{rand.New(rand.NewPCG(9309, 2))}}
	questions := make([]question, *files)
	for i := range questions {
		questions[i].File = g.file()
		for range 3 {
			for _, agent := range []string{"webrace", "some-bot"} {
				questions[i].Asked = append(questions[i].Asked, []string{agent, g.path()})
			}
		}
	}
	given, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	var faults bytes.Buffer
	command := exec.Command(python, "-c", protego)
	command.Stdin, command.Stderr = bytes.NewReader(given), &faults
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &faults)
	}
	var answers [][]bool
	if err := json.Unmarshal(output, &answers); err != nil || len(answers) != len(questions) {
		t.Fatalf("%d answers of %d: %v", len(answers), len(questions), err)
	}
	differ, asked, refused, permitted := 0, 0, 0, 0
	for i, q := range questions {
		file := robots.Parse([]byte(q.File))
		for j, a := range q.Asked {
			got, because := file.Agent(a[0]).Allowed(a[1])
			if asked++; got != answers[i][j] {
				if differ++; differ < 10 {
					t.Errorf("%s for %s: allowed %v by %q, want %v, of\n%q", a[1], a[0], got, because, answers[i][j], q.File)
				}
			}
			switch {
			case !got:
				refused++
			case because != "":
				permitted++
			}
		}
	}
	t.Logf("%d files, %d decisions: %d refusals, %d permissions by a rule, %d differ", len(questions), asked, refused, permitted, differ)
	if refused < asked/10 || permitted < asked/20 {
		t.Error("not enough of each to tell anything")
	}
}

// standardGenerator makes up files as the standard's grammar has them.
type standardGenerator struct{ generator }

func (g standardGenerator) file() string {
	var b strings.Builder
	eol := g.one("\n", "\n", "\r\n", "\r")
	line := func(text string) {
		if g.chance(8) {
			text += g.one(" ", "\t", " # a comment: Disallow: /", "#")
		}
		b.WriteString(text + eol)
		if g.chance(8) {
			b.WriteString(g.one("", "# Allow: /", " \t") + eol)
		}
	}
	for range 1 + g.IntN(4) {
		for range 1 + g.IntN(2) {
			line(g.one("User-agent", "user-agent", "USER-AGENT") + g.one(":", ": ", " : ") + g.one("*", "*", "webrace", "WebRace", "Some-Bot", "other_bot"))
		}
		for range g.IntN(6) {
			line(g.one("Allow", "allow", "Disallow", "Disallow", "DISALLOW") + g.one(":", ": ", ":\t") + g.pattern())
		}
		if g.chance(10) {
			line("Disallow:")
			line("Sitemap: https://example.org/s.xml")
		}
	}
	return b.String()
}

func (g standardGenerator) text() string {
	return g.one("a", "a", "b", "ab", "/", "/a", "/b", "/ab/", ".gif", "~", "-", "_", "%C3%A9", "%c3%a9", "%2F", "%20")
}

func (g standardGenerator) query() string {
	return g.one("?a", "?a", "?a=b", "?b&a=b")
}

func (g standardGenerator) pattern() string {
	var b strings.Builder
	b.WriteString(g.one("/", "/a", "/b", "/ab", "/*"))
	for range g.IntN(4) {
		text := g.text()
		if b.Len() == 1 {
			text = strings.TrimLeft(text, "/")
		}
		b.WriteString(text)
		if g.chance(25) {
			b.WriteString(g.one("*", "*", "**"))
		}
	}
	switch {
	case g.chance(15):
		b.WriteString(g.query())
	case g.chance(20):
		b.WriteString(g.one("$", "*"))
	}
	return b.String()
}

func (g standardGenerator) path() string {
	var b strings.Builder
	b.WriteString(g.one("/", "/a", "/b", "/ab"))
	for range g.IntN(5) {
		text := g.text()
		if b.Len() == 1 {
			text = strings.TrimLeft(text, "/")
		}
		b.WriteString(text)
	}
	if g.chance(20) {
		b.WriteString(g.query())
	}
	return b.String()
}
