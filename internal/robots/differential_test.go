package robots_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jimsmart/grobotstxt"

	"github.com/webrace/webrace/internal/robots"
)

var files = flag.Int("files", 4000, "how many robots.txt files are generated for each reference")

// The compiled rules answer as the library does, which reads the file anew for each question and compares
// patterns octet by octet: over generated files with what people write into them, and paths that are near to what
// the files speak of.
//
// They differ on purpose where the library does not follow the standard, and such text is not generated:
//   - it compares escapes of unreserved octets, of "*" and of "$" as they are written (RFC 9309, section 2.2.2);
//   - it takes a delimiter in a query and its escape for different (the same section), and what no URL holds as it is
//     and its escape;
//   - its names of robots are tokens of RFC 9110, so that webrace* is not webrace (section 2.2.1);
//   - it garbles the digits of all escapes in a pattern that has lower-case ones, or octets that it escapes itself;
//   - it has rules for /robots.txt itself;
//   - it has no end: ours reads [robots.MaxBytes].
func TestReferenceOfTheParser(t *testing.T) {
	t.Parallel()
	files := *files
	questions, refused, permitted := 0, 0, 0
	g := generator{rand.New(rand.NewPCG(9309, 1))}
	for range files {
		text := g.file()
		file, paths := robots.Parse([]byte(text)), []string{g.path(), g.path()}
		for _, agent := range []string{"webrace", g.one("Other", "k2.bot")} {
			rules := file.Agent(agent + "/1.0 (+https://example.org)")
			for _, path := range paths {
				got, because := rules.Allowed(path)
				if want := grobotstxt.AgentAllowed(text, agent, "http://example.org"+path); got != want {
					t.Fatalf("%s for %s: allowed %v by %q, want %v, of\n%q", path, agent, got, because, want, text)
				}
				questions++
				switch {
				case !got:
					refused++
				case because != "":
					permitted++
				}
			}
		}
	}
	if questions < 4*files || refused < questions/10 || permitted < questions/10 {
		t.Errorf("%d questions, %d refusals, %d permissions by a rule: not enough of each to tell anything", questions, refused, permitted)
	}
}

// generator makes up robots.txt files.
type generator struct{ *rand.Rand }

func (g generator) one(choices ...string) string { return choices[g.IntN(len(choices))] }

func (g generator) chance(percent int) bool { return g.IntN(100) < percent }

func (g generator) file() string {
	var b strings.Builder
	if g.chance(5) {
		b.WriteString("\xef\xbb\xbf")
	}
	eol := g.one("\n", "\n", "\r\n", "\r")
	for range 1 + g.IntN(10) {
		b.WriteString(g.line())
		if g.chance(3) {
			eol = g.one("\n", "\r\n", "\r", "\n\n")
		}
		b.WriteString(eol)
	}
	if g.chance(70) { // mostly, some rule is meant for us
		return g.one("User-agent: *", "User-agent: webrace", "user-agent:other") + eol + b.String() + g.line()
	}
	return b.String() + g.line()
}

func (g generator) line() string {
	line := ""
	switch n := g.IntN(100); {
	case n < 25:
		line = g.one("User-agent", "user-agent", "USER-AGENT", "useragent", "User agent") + g.separator() + g.agent()
	case n < 60:
		line = g.one("Disallow", "disallow", "DISALLOW", "Dissallow", "disalow", "diaslow") + g.separator() + g.pattern()
	case n < 85:
		line = g.one("Allow", "allow", "ALLOW", "allowed") + g.separator() + g.pattern()
	case n < 90:
		line = g.one("Sitemap: https://example.org/s.xml", "Crawl-delay: 3", "Noindex: /a", "Host: example.org")
	case n < 95:
		line = g.one("", " ", "\t", ":", "::", ": /a", "Disallow", "<html>", "Disallow /a b", "# Disallow: /")
	default:
		line = strings.Repeat("x", g.IntN(20)) + g.separator() + g.pattern()
	}
	if g.chance(8) {
		line = g.one(" ", "\t", "  ") + line
	}
	if g.chance(8) {
		line += g.one(" ", "\t", "# all", " # Allow: /", "#")
	}
	return line
}

func (g generator) separator() string {
	return g.one(":", ": ", ": ", ": ", " : ", "\t:\t", " ", "  ", "\t")
}

func (g generator) agent() string {
	return g.one("*", "*", "* all", "*x", "webrace", "WebRace", "webrace/2.0", "webrace (old)", "webrace,x", "webracer", "web", "web-race",
		"other", "OTHER", "other webrace", "k2.bot", "k2", "", "\xff")
}

// text is what paths and patterns are made of; few pieces, so that they meet.
func (g generator) text() string {
	return g.one("a", "a", "b", "ab", "/", "/", "/a", "/b/", ".gif", "index.html", "index.htm", "?", "?a=b", "&", "=", "-", "%20", "%C3%A9", "%21", ";", "//")
}

func (g generator) pattern() string {
	if g.chance(5) {
		return g.one("", "/", "*", "$", "/$", "/*", "/*$", "**")
	}
	var b strings.Builder
	if g.chance(90) {
		b.WriteByte('/')
	}
	for range g.IntN(4) {
		b.WriteString(g.text())
		if g.chance(25) {
			b.WriteString(g.one("*", "*", "**", "$", "\u00e9", "\xff"))
		}
	}
	if g.chance(15) {
		b.WriteString(g.one("$", "*", "*$", "$$"))
	}
	if s := b.String(); strings.Contains(s, "%") {
		return strings.NewReplacer("\u00e9", "", "\xff", "").Replace(s)
	}
	return b.String()
}

func (g generator) path() string {
	var b strings.Builder
	b.WriteByte('/')
	for range g.IntN(6) {
		b.WriteString(g.text())
		if g.chance(5) {
			b.WriteString(g.one("$", "%FF", fmt.Sprint(g.IntN(3))))
		}
	}
	return b.String()
}
