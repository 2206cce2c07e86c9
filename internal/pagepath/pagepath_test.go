package pagepath

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

func TestPathsOfPages(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://example.org/":                            "example.org/index.md",
		"https://example.org/docs/setup":                  "example.org/docs/setup.md",
		"https://example.org/docs/setup.html":             "example.org/docs/setup.html.md",
		"https://example.org/docs/":                       "example.org/docs/index.md",
		"https://example.org/docs/v1.2/":                  "example.org/docs/v1.2_/index.md",
		"https://example.org/a.md/b":                      "example.org/a.md_/b.md",
		"https://example.org/a_/b":                        "example.org/a__/b.md",
		"http://example.org/a":                            "example.org+http/a.md",
		"http://127.0.0.1:8080/a":                         "127.0.0.1+8080+http/a.md",
		"https://example.org:8443/a":                      "example.org+8443/a.md",
		"https://example.org/index":                       "example.org/index~#.md",
		"https://example.org/docs/?page=2":                "example.org/docs/_page=2~#.md",
		"https://example.org/search?q=a/../b&c=%2e":       "example.org/search_q=a_.._b_c=_~#.md",
		"https://example.org/Wiki/Storm":                  "example.org/Wiki/Storm~#.md",
		"https://example.org/%C3%9Cber/%e6%b5%b7":         "example.org/Über/海~#.md",
		"https://example.org/a%FFb":                       "example.org/a_b~#.md",
		"https://example.org/a%2Fb":                       "example.org/a_b~#.md",
		"https://example.org/%2e%2e/%2E%2E%2fetc":         "example.org/___/_._etc~#.md",
		"https://example.org/../../etc/passwd":            "example.org/___/___/etc/passwd~#.md",
		"https://example.org//a///b":                      "example.org/a/b~#.md",
		"https://example.org/.well-known/-rf":             "example.org/_well-known/_rf~#.md",
		"https://example.org/con/NUL.txt":                 "example.org/_con/_NUL.txt~#.md",
		"https://example.org/a%00b%0Ac%E2%80%AEd":         "example.org/a_b_c_d~#.md",
		"https://example.org/a ":                          "example.org/a_~#.md",
		`https://example.org/C:\x`:                        "example.org/C__x~#.md",
		"https://user:secret@example.org/a":               "example.org/a~#.md",
		"https://..":                                      "__/index~#.md",
		"https://[2001:db8::1]:8080/a":                    "_2001_db8__1_+8080/a~#.md",
		"http://example.org/f#POST-0123456789abcdef012":   "example.org+http/f_POST-0123456789abcdef012~#.md",
		"mailto:someone@example.org":                      "example.org+none/index~#.md",
		"":                                                "_+none/index~#.md",
		"imap://mail.example/INBOX;UID=3":                 "mail.example+imap/INBOX_UID=3~#.md",
		"https://example.org/" + strings.Repeat("a", 300): "example.org/" + strings.Repeat("a", 176) + "~#.md",
		"https://example.org/" + strings.Repeat("abcdefghi/", 100) + "end": "example.org" +
			strings.Repeat("/abcdefghi", 58) + "/end~#.md",
	} {
		if got := hashPattern.ReplaceAllString(Of(url, ".md"), "~#"); got != want {
			t.Errorf("%.80q is %q, want %q", url, got, want)
		}
	}
}

var hashPattern = regexp.MustCompile("~[a-z2-7]{20}")

// Two pages that are near to each other are two files, and neither is a folder of the other's.
func TestTwoPagesAreTwoFiles(t *testing.T) {
	t.Parallel()
	var urls []string
	for _, host := range []string{"https://h.example", "http://h.example", "https://h.example:80", "https://h.example:443", "https://H.example", "https://u@h.example", "https://h.example+80"} {
		for _, path := range []string{"", "/", "/index", "/index/", "/index.md", "/index.md/", "/a", "/A", "/a/", "/a.md", "/a.md/", "/a.md_", "/a.md_/", "/a_/", "/a__/", "/a.", "/a./b",
			"/a.md/b", "/a.md_/b", "/%61", "/a%2Fb", "/a/b", "/a//b", "/a?b", "/a_b", "/a#b", "/a%20", "/a ", "/\u00e4", "/a\u0308", "/%C3%A4", "/..", "/../", "/.", "/con", "/_con", "/%FF", "/%FE",
			"/" + strings.Repeat("x", 300), "/" + strings.Repeat("x", 301), "/" + strings.Repeat("x/", 400), "/" + strings.Repeat("x/", 401), "/" + strings.Repeat("x/", 401) + "a"} {
			urls = append(urls, host+path)
		}
	}
	files, folders := make(map[string]string), make(map[string]string)
	for _, url := range urls {
		path := folded(Of(url, ".md"))
		if other, isThere := files[path]; isThere {
			t.Errorf("%q and %q are both %q", url, other, path)
		}
		files[path] = url
		for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
			folders[dir] = url
		}
	}
	for path, url := range files {
		if other, isThere := folders[path]; isThere {
			t.Errorf("%q of %q is the folder of %q", path, url, other)
		}
	}
}

// folded is a path as systems see it that take files which differ in case or composition for the same.
func folded(path string) string { return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(path))) }

// FuzzOf wants a path of names that every system takes, from which the URL can be told, or its hash.
func FuzzOf(f *testing.F) {
	for _, seed := range []string{"https://example.org/a/b.c?d#e", "http://h:80/../..//", "https://h/%2e%2e%2fa\x00", "https://h/con.txt/NUL/", `\\h\c$`, "C:/x", "https://h/Ä/ſ", "https://h/a.md/b_/", "https://h:x/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, url string) {
		path := Of(url, ".md")
		if Of(url, ".md") != path || !utf8.ValidString(path) || !filepath.IsLocal(path) || len(path) > 801 || !strings.HasSuffix(path, ".md") {
			t.Fatalf("%q is %q", url, path)
		}
		names := strings.Split(path, "/")
		for i, name := range names {
			isFile := i == len(names)-1
			if name == "" || len(name) > longestName || strings.ContainsAny(name, `\<>:"|?*%'`+"`$&;!") || strings.ContainsAny(name[:1], ".-") || IsDevice(name) ||
				strings.ContainsFunc(name, func(r rune) bool {
					return unicode.IsControl(r) || unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError
				}) {
				t.Errorf("%q is %q, with %q", url, path, name)
			}
			if end := name[len(name)-1]; end == '.' || !isFile && i > 0 && strings.Contains(name, ".") && end != '_' {
				t.Errorf("%q is %q, with %q", url, path, name)
			}
		}
		if hashPattern.MatchString(names[len(names)-1]) {
			if other := Of(url+"x", ".md"); folded(other) == folded(path) {
				t.Errorf("%q and that with an x are both %q", url, path)
			}
		} else if back := urlOf(names); back != url {
			t.Errorf("%q is %q, which means %q", url, path, back)
		}
	})
}

// urlOf tells a URL from a path without a hash.
func urlOf(names []string) string {
	scheme, rest, port := "https://", "", ""
	for _, part := range strings.Split(names[0], "+")[1:] {
		if '0' <= part[0] && part[0] <= '9' {
			port = ":" + part
		} else {
			scheme = part + "://"
		}
	}
	host, _, _ := strings.Cut(names[0], "+")
	for _, folder := range names[1 : len(names)-1] {
		rest += "/" + strings.TrimSuffix(folder, "_")
	}
	last := strings.TrimSuffix(names[len(names)-1], ".md")
	if last == "index" {
		last = ""
	}
	return scheme + host + port + rest + "/" + last
}
