package robots_test

import (
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/robots"
)

// Each sentence of RFC 9309, sections 2.2 and 2.5, that asks something of a crawler. What it asks of the one who
// fetches the file (2.3, 2.4) is held by the tests of the stage fetch.
func TestRFC9309SentenceBySentence(t *testing.T) {
	t.Parallel()
	const agent = "WebRace/1 (+https://example.org/contact)"
	utf16 := "\xff\xfeU\x00s\x00e\x00r\x00-\x00a\x00g\x00e\x00n\x00t\x00:\x00*\x00\n\x00D\x00i\x00s\x00a\x00l\x00l\x00o\x00w\x00:\x00/\x00\n\x00"
	for _, c := range []struct{ section, file, allowed, refused string }{
		{"2.1 rules are within a group, which begins with user-agent lines", "Disallow: /\nUser-agent: *\nDisallow: /a", "/b", "/a"},
		{"2.2 lines end in CR, LF, or both", "User-agent: *\rDisallow: /a\nDisallow: /b\r\nDisallow: /c\r\rDisallow: /d\n\n\nDisallow: /e", "/f", "/a /b /c /d /e"},
		{"2.2 the file ends without a line end", "User-agent: *\nDisallow: /a", "/b", "/a"},
		{"2.2 whitespace is anywhere around names and values", " \tUser-agent\t : \t* \t\n\t Disallow \t:\t /a \t", "/b", "/a /a%20"},
		{"2.2 names of lines are of any case", "USER-AGENT: *\ndisallow: /a\naLLoW: /a/b", "/a/b", "/a"},
		{"2.2 a comment goes to the end of its line", "User-agent: * # me\n#Disallow: /a\nDisallow: /b# /a\nDisallow: # /a", "/a", "/b"},
		{"2.2 it is UTF-8, and may begin with a mark that says so", "\xef\xbb\xbfUser-agent: *\nDisallow: /a", "/b", "/a"},
		{"2.2 what is not UTF-8 is no rule", utf16, "/ /a", ""},
		{"2.2 octets that are no UTF-8 stand for themselves", "User-agent: *\nDisallow: /a\xff", "/a /a%FE", "/a%FF /a%ff /a\xff"},
		{"2.2 paths begin with a slash, or with what may be one", "User-agent: *\nDisallow: *b\nDisallow: c", "/a /c", "/b /ab"},
		{"2.2.1 a crawler obeys the group of its product token", "User-agent: webrace\nDisallow: /a\n\nUser-agent: *\nDisallow: /b", "/b", "/a"},
		{"2.2.1 which is compared without regard to case", "User-agent: WEBrace\nDisallow: /a", "/b", "/a"},
		{"2.2.1 and as a whole", "User-agent: web\nDisallow: /a\nUser-agent: webrace-images\nDisallow: /a\nUser-agent: race\nDisallow: /a", "/a", ""},
		{"2.2.1 what follows the token does not count", "User-agent: webrace/7.0 (old)\nDisallow: /a", "/b", "/a"},
		{"2.2.1 whatever it is", "User-agent: webrace*\nDisallow: /a\nUser-agent: webrace, other\nDisallow: /b\nUser-agent: (webrace)\nDisallow: /c", "/c", "/a /b"},
		{"2.2.1 a token that goes on is another", "User-agent: webrace2\nDisallow: /a\nUser-agent: webrace.org\nDisallow: /a\nUser-agent: webrace_\nDisallow: /a", "/a", ""},
		{"2.2.1 the rules of all its groups are combined", "User-agent: webrace\nDisallow: /a\n\nUser-agent: x\nDisallow: /b\n\nUser-agent: WebRace\nDisallow: /c\nAllow: /a/b", "/b /a/b", "/a /c"},
		{"2.2.1 a group has several agents", "User-agent: x\nUser-agent: webrace\nUser-agent: y\nDisallow: /a", "/b", "/a"},
		{"2.2.1 empty and unknown lines part no agents", "User-agent: webrace\n\n# x\nNoindex: /\n\nUser-agent: y\nDisallow: /a", "/b", "/a"},
		{"2.2.1 no group of its own: that of the star", "User-agent: x\nDisallow: /\nUser-agent: *\nDisallow: /a", "/b", "/a"},
		{"2.2.1 all of those of the star", "User-agent: *\nDisallow: /a\nUser-agent: x\nDisallow: /b\nUser-agent: *\nDisallow: /c", "/b", "/a /c"},
		{"2.2.1 a group without rules is one", "User-agent: webrace\nDisallow:\n\nUser-agent: *\nDisallow: /", "/ /a", ""},
		{"2.2.1 no group at all: nothing is forbidden", "User-agent: x\nDisallow: /", "/ /a", ""},
		{"2.2.2 rules match from the beginning of the path", "User-agent: *\nDisallow: /b", "/a/b /a?x=/b", "/b /bc /b/c /b?c"},
		{"2.2.2 paths are compared with regard to case", "User-agent: *\nDisallow: /A", "/a", "/A"},
		{"2.2.2 the longest match decides, wherever it stands", "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/c", "/a/b /", "/a /a/b/c"},
		{"2.2.2 of two as long, the one that allows", "User-agent: *\nDisallow: /a\nAllow: /a\nAllow: /b\nDisallow: /b", "/a /b", ""},
		{"2.2.2 as long, with the wildcards counted", "User-agent: *\nAllow: /a*\nDisallow: /ab", "/a /ab /abc", ""},
		{"2.2.2 what no rule matches is allowed", "User-agent: *\nDisallow: /a", "/ /b", "/a"},
		{"2.2.2 an empty rule matches nothing", "User-agent: *\nDisallow:\nAllow:\nDisallow: /a", "/ /b", "/a"},
		{"2.2.2 /robots.txt is always allowed", "User-agent: *\nDisallow: /", "/robots.txt", "/robots.txt2 /a/robots.txt"},
		{"2.2.2 the query is part of the path", "User-agent: *\nDisallow: /a?b=c", "/a /a?b=d", "/a?b=c /a?b=cd"},
		{"2.2.2 example: a query", "User-agent: *\nDisallow: /foo/bar?baz=quux", "/foo/bar", "/foo/bar?baz=quux"},
		{"2.2.2 example: reserved in a query", "User-agent: *\nDisallow: /foo/bar?baz=https://foo.bar", "/foo/bar?baz=foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar /foo/bar?baz=https%3a%2f%2ffoo.bar /foo/bar?baz=https://foo.bar"},
		{"2.2.2 example: the same, escaped", "User-agent: *\nDisallow: /foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar /foo/bar?baz=https://foo.bar"},
		{"2.2.2 example: beyond ASCII", "User-agent: *\nDisallow: /foo/bar/\u30c4\nDisallow: /foo/baz/%E3%83%84", "/foo/bar/", "/foo/bar/%E3%83%84 /foo/bar/%e3%83%84 /foo/bar/\u30c4 /foo/baz/\u30c4"},
		{"2.2.2 example: unreserved", "User-agent: *\nDisallow: /foo/bar/%62%61%7A", "/foo/bar/", "/foo/bar/baz /foo/bar/%62a%7a"},
		{"2.2.2 what no URL holds as it is, is escaped", "User-agent: *\nDisallow: /a b\nDisallow: /{c}\nDisallow: /\"d\"<e>\nDisallow: /f\\g|h^i`j\nDisallow: /k\x01", "/a /a%2520b /{d} /f", "/a%20b /a%20bc /%7Bc%7D /%7bc%7d/x /%22d%22%3Ce%3E /f%5Cg%7Ch%5Ei%60j /f%5Cg|h%5Ei%60j /k%01"},
		{"2.2.2 on either side", "User-agent: *\nDisallow: /a%20b\nDisallow: /%7Bc%7d", "/a", "/a%20b /{c}"},
		{"2.2.2 a percent sign that escapes nothing is one", "User-agent: *\nDisallow: /100%/a\nDisallow: /b%zz", "/100/a", "/100%25/a /b%25zz"},
		{"2.2.2 spaces around a pattern are none of it", "User-agent: *\nDisallow: \t /a b \t", "/a", "/a%20b /a%20b%20"},
		{"2.2.2 escaped slashes part no segments (RFC 3986, section 2.2)", "User-agent: *\nDisallow: /a%2Fb\nDisallow: /c/d", "/a/b /c%2Fd", "/a%2Fb /a%2fb /c/d"},
		{"2.2.2 wildcards stand anywhere in what is escaped", "User-agent: *\nDisallow: /*?*=http://*.org", "/x?a=http:/b.org", "/x?a=http%3A%2F%2Fb.org /?u=1&a=http://b.org/c"},
		{"2.2.2 rules that do not say where the query begins find what is written as they are", "User-agent: *\nDisallow: /*%3A%2F\nDisallow: /*=//", "/x?a=:b", "/x?a=:/b /x?a=%3A%2F /x?a=//b"},
		{"2.2.3 # ends a line", "User-agent: *\nDisallow: /a#b", "/", "/a /ab"},
		{"2.2.3 # escaped does not", "User-agent: *\nDisallow: /a%23b", "/a /ab", "/a%23b /a%23bc"},
		{"2.2.3 $ is the end of the path", "User-agent: *\nDisallow: /a.gif$\nDisallow: /b$\nDisallow: /$", "/a.gif?x /a.gif/ /bc", "/a.gif /b /"},
		{"2.2.3 and nothing special within", "User-agent: *\nDisallow: /a$b", "/a /a$", "/a$b /a%24bc"},
		{"2.2.3 * is any octets, or none", "User-agent: *\nDisallow: /a/*/c\nDisallow: /*.php", "/a/c /b.ph", "/a//c /a/b/c /a/b/d/c/e /.php /x/y.php?z"},
		{"2.2.3 example: * and $", "User-agent: *\nDisallow: *.gif$\nAllow: /publications/\nDisallow: /example/", "/publications/a.gif/b /a.gif?b /publications/", "/a.gif /example/ /example/b"},
		{"2.2.3 example: the star as itself", "User-agent: *\nDisallow: /path/file-with-a-%2A.html", "/path/file-with-a-b.html", "/path/file-with-a-*.html /path/file-with-a-%2A.html"},
		{"2.2.3 example: the dollar as itself", "User-agent: *\nDisallow: /path/foo-%24", "/path/foo-", "/path/foo-$ /path/foo-%24 /path/foo-$a"},
		{"2.2.4 sitemaps belong to no group, and part none", "User-agent: x\nSitemap: https://example.org/s.xml\nUser-agent: webrace\nDisallow: /a", "/b", "/a"},
		{"2.2.4 nor do other lines", "User-agent: webrace\nCrawl-delay: 1\nHost: example.org\nUser-agent: x\nDisallow: /a", "/b", "/a"},
		{"2.2.4 nor do those on usage", "User-agent: webrace\nContent-Usage: train-ai=n\nContent-Signal: search=yes\nLicense: x\nUser-agent: x\nDisallow: /a", "/b", "/a"},
		{"2.2 what is no line of these is skipped", "<html>\nUser-agent: *\n<p>Disallow: /\n::::\n:\nDisallow /b\nDisallow: /a", "/ /c", "/a /b"},
		{"2.2 of a line so long that it is none, the rest does not count", "User-agent: *\nDisallow: /a" + strings.Repeat("x", 1<<16) + "\nDisallow: /b" + strings.Repeat(" ", 1<<16) + "\nDisallow: /c", "/a /ax", "/b /c"},
		{"2.5 half a MB is read at least", "User-agent: *\n" + strings.Repeat("#\n", 250_000-10) + "Disallow: /a", "/b", "/a"},
	} {
		rules := robots.Parse([]byte(c.file)).Agent(agent)
		for _, path := range strings.Fields(c.allowed) {
			if ok, why := rules.Allowed(path); !ok {
				t.Errorf("%s: %s is refused by %q", c.section, path, why)
			}
		}
		for _, path := range strings.Fields(c.refused) {
			if ok, _ := rules.Allowed(path); ok {
				t.Errorf("%s: %s is allowed", c.section, path)
			}
		}
	}
}
