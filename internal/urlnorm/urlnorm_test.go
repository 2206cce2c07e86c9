package urlnorm

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace/internal/htmltext"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"http://example.org", "http://example.org/"},
		{" \tHTTP://EXAMPLE.org:80/A/../b/./c?D=e#f\n", "http://example.org/b/c?D=e"},
		{"https://example.org:443/", "https://example.org/"},
		{"https://example.org:80/", "https://example.org:80/"},
		{"http://example.org:08080/", "http://example.org:8080/"},
		{"http://user:secret@example.org/x", "http://example.org/x"},
		{"http://user@@example.org/", "http://example.org/"},
		{"http://example.org/a b\"<>`{}^|[]", "http://example.org/a%20b%22%3C%3E%60%7B%7D%5E|[]"},
		{"http://example.org/?a b'\"<>`{}|", "http://example.org/?a%20b%27%22%3C%3E`{}|"},
		{"http://example.org/100%", "http://example.org/100%25"},
		{"http://example.org/%zz%4%41?50%&%", "http://example.org/%25zz%254%41?50%25&%25"},
		{"http://example.org/%2e%2E/%2e/x", "http://example.org/x"},
		{"http://example.org/é?ü", "http://example.org/%C3%A9?%C3%BC"},
		{"http://münchen.example/", "http://xn--mnchen-3ya.example/"},
		{`http:\\example.org\a\b`, "http://example.org/a/b"},
		{"http:example.org/a", "http://example.org/a"},
		{"http:////example.org/a//b/", "http://example.org/a//b/"},
		{"ht\ntp://exa\tmple.org/", "http://example.org/"},
		{"http://0x7f.1/", "http://127.0.0.1/"},
		{"http://[0:0::1]:80/", "http://[::1]/"},
		{"http://example.org?", "http://example.org/?"},
		{"http://example.org/\xff", "http://example.org/%EF%BF%BD"},
	} {
		got, err := Parse(c.in)
		if err != nil || got != c.want {
			t.Errorf("Parse(%q) = %q, %v, want %q", c.in, got, err, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		want error
	}{
		{"", ErrInvalid}, {"/path", ErrInvalid}, {"example.org", ErrInvalid}, {"http://", ErrInvalid},
		{"http://a b/", ErrInvalid}, {"http://example.org:99999/", ErrInvalid}, {"http://1.2.3.256/", ErrInvalid},
		{"http://[::1", ErrInvalid}, {"http://%00/", ErrInvalid}, {"http://user@/", ErrInvalid},
		{"ftp://example.org/", ErrScheme}, {"mailto:a@b", ErrScheme}, {"javascript:x", ErrScheme},
		{"file:///etc/passwd", ErrScheme}, {"data:text/html,x", ErrScheme}, {"ws://example.org/", ErrScheme},
		{"http://example.org/" + strings.Repeat("a", MaxLength), ErrLength},
		{"http://example.org/" + strings.Repeat(" ", MaxLength/2) + "x", ErrLength},
	} {
		if got, err := Parse(c.in); got != "" || !errors.Is(err, c.want) {
			t.Errorf("Parse(%.40q) = %.40q, %v, want %v", c.in, got, err, c.want)
		}
	}
}

// bases of every shape that matters to the fast path.
var bases = []string{
	"http://example.org/", "https://example.org/a/b/c.html?q=1", "http://example.org:8080/a//b/?", "http://127.0.0.1/x",
	"http://[::1]:81/y/", "https://xn--mnchen-3ya.example/%C3%A9/z", "http://user:pw@example.org/a/b#f",
}

// agree checks that the fast path, if it is sure, returns what the standard's parser returns.
func agree(t *testing.T, b *Base, ref []byte) (fast bool) {
	t.Helper()
	prefix := []byte("prefix")
	got, err := b.appendFast(prefix, trim(ref))
	if err != nil && !errors.Is(err, ErrScheme) {
		return false
	}
	want, exactErr := b.exact(string(ref))
	switch {
	case len(ref) > MaxLength || errors.Is(exactErr, ErrLength):
	case (err == nil) != (exactErr == nil):
		t.Fatalf("%s + %q: fast %q, %v; exact %q, %v", b, ref, got, err, want, exactErr)
	case err == nil && string(got) != "prefix"+want:
		t.Fatalf("%s + %q:\n fast %s\nexact prefix%s", b, ref, got, want)
	}
	return true
}

func TestFastPathIsExact(t *testing.T) {
	t.Parallel()
	refs := []string{"", "#x", "a", "./a", "../a", "../../../../a", ".", "..", "./", "../", "a/.", "a/..", "a/../..", "a/./b/../c/",
		"/", "/a/../..", "/..", "/.a/..b/...", "//", "///", "//h", "//h/", "//h?x", "//H/", "//h.1", "//h.a1", "//1a", "//a-b.c", "//a--b.c",
		"//-a", "//a-", "//a.", "//.a", "//a..b", "//xn--a", "//a_b/", "//u@h/", "//h:81/", "?", "?a", "?a'b", "?%", "?%41", "a?b/../c", "a#b?c",
		"%", "%4", "%41", "%2e", "a/%2E%2e/b", "a:b", "1a:b", "a/b:c", ":", ":a", "http:", "http:a", "http:/a", "http://example.org", "http://example.org/a/../b",
		"https://example.org/x?y#z", "HTTP://example.org/x", "http://example.org:80/", "http://example.org:8080/a", "http://example.orgx/", "ftp://h/", "javascript:void(0)",
		"mailto:a@b", "data:,x", "a b", " a ", "\ta", "a\nb", "\\a", "/\\a", "a\\b", "?\\", "[]|", "a'b", "a\"b", "{}", "^", "é", "\x7f", "?é", "a//b", "..//a", ".//", "/./", "/../a/./", "...", ".a", "a.", "a/.b",
		"0x7f.1", "//0x7f.1", "//1.2.3.4/", "//a.0x", "//a.b0", "//a.0b"}
	for _, s := range bases {
		b, err := NewBase(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range refs {
			agree(t, b, []byte(r))
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	b, err := NewBase("http://user:pw@example.org:8080/a/b?q#f")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ ref, want string }{
		{"", "http://example.org:8080/a/b?q"}, {"#x", "http://example.org:8080/a/b?q"}, {" ../c#d ", "http://example.org:8080/c"},
		{"?x", "http://example.org:8080/a/b?x"}, {"//h", "http://h/"}, {"http://u:p@h/x", "http://h/x"}, {"50%", "http://example.org:8080/a/50%25"},
		{"é", "http://example.org:8080/a/%C3%A9"}, {"http:c", "http://example.org:8080/a/c"},
	} {
		if got, err := b.Resolve([]byte(c.ref)); err != nil || got != c.want {
			t.Errorf("Resolve(%q) = %q, %v, want %q", c.ref, got, err, c.want)
		}
	}
	for _, c := range []struct {
		ref  string
		want error
	}{{"tel:1", ErrScheme}, {"JavaScript:x", ErrScheme}, {"java\nscript:x", ErrScheme}, {"//", ErrInvalid}, {strings.Repeat("a", MaxLength), ErrLength},
		{strings.Repeat("a", MaxLength+1), ErrLength}, {strings.Repeat("é", MaxLength/3), ErrLength}} {
		if got, err := b.Resolve([]byte(c.ref)); got != "" || !errors.Is(err, c.want) {
			t.Errorf("Resolve(%.40q) = %.40q, %v, want %v", c.ref, got, err, c.want)
		}
	}
}

func TestFastPathIsExactOnTheLinksOfRealPagesAndTakesMostOfThem(t *testing.T) {
	const dir = "/usr/share/doc/python3.11/html"
	var s htmltext.Scanner
	fast, all := 0, 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".html" {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b, err := NewBase("http://127.0.0.1:8080" + strings.TrimPrefix(path, dir))
		if err != nil {
			return err
		}
		s.Scan(src)
		seen := make(map[string]bool)
		for _, l := range s.Links {
			all++
			if ref := string(l.URL); seen[ref] {
				fast++
			} else if agree(t, b, l.URL) {
				fast++
				seen[ref] = true
			}
		}
		return nil
	})
	if os.IsNotExist(err) {
		t.Skip("real pages are missing: install the Debian package python3.11-doc")
	}
	if err != nil {
		t.Fatal(err)
	}
	if all < 50_000 || fast*100 < all*99 {
		t.Errorf("%d of %d links took the fast path", fast, all)
	}
}

func TestBaseServesManyGoroutines(t *testing.T) {
	t.Parallel()
	b, err := NewBase("http://example.org/a?x=y")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if got, err := b.Resolve([]byte("é")); err != nil || got != "http://example.org/%C3%A9" {
					t.Errorf("%q, %v", got, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestFastPathAllocatesNothing(t *testing.T) {
	b, err := NewBase("http://example.org/a/b")
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]byte, 0, 100)
	refs := [][]byte{[]byte("../c?d=e#f"), []byte("http://example.org/x%20y"), []byte("//example.com/z"), []byte("#x")}
	if n := testing.AllocsPerRun(100, func() {
		for _, r := range refs {
			if _, err := b.Append(dst, r); err != nil {
				t.Error(err)
			}
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestAppendKeepsWhatWasThere(t *testing.T) {
	t.Parallel()
	b, err := NewBase("http://example.org/a/b")
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"c", "é", "mailto:x", "//[", "../../.."} {
		got, err := b.Append([]byte("before "), []byte(ref))
		if !bytes.HasPrefix(got, []byte("before ")) || err != nil && len(got) != len("before ") {
			t.Errorf("%q: %q, %v", ref, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range bases {
		f.Add(s)
	}
	for _, s := range []string{"http://[1::2:3.4.5.6]/%", "http://a@b@c/?%#%", "HTTPS:\\\\É/..//./%2e?'", "http://1.0x2.3/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := Parse(s)
		if err != nil {
			return
		}
		if again, err := Parse(u); err != nil || again != u {
			t.Fatalf("Parse(%q) = %q, and of that %q, %v", s, u, again, err)
		}
		if !strings.HasPrefix(u, "http://") && !strings.HasPrefix(u, "https://") || strings.ContainsAny(u, "# \t\r\n<>") || len(u) > MaxLength {
			t.Fatalf("Parse(%q) = %q", s, u)
		}
		host := Host(u)
		if host == "" || strings.ContainsAny(host, "/?@") {
			t.Fatalf("Host(%q) = %q", u, host)
		}
		r := Rules{Strip: TrackingParameters(), Index: IndexPages(), Sort: true}
		once := r.Apply(u)
		if once != u && !r.Concern([]byte(u)) {
			t.Fatalf("rules make %q of %q, and are said not to concern it", once, u)
		}
		if r.Apply(once) != once || Host(once) != host {
			t.Fatalf("rules make %q of %q, and then %q", once, u, r.Apply(once))
		}
		if again, err := Parse(once); err != nil || again != once {
			t.Fatalf("rules make %q of %q, which parses as %q, %v", once, u, again, err)
		}
	})
}

func FuzzResolve(f *testing.F) {
	for i, ref := range []string{"../a?b#c", "//h/x", "http://example.org/y", "a:b", "%2e/", "é", "?x"} {
		f.Add(bases[i], []byte(ref))
	}
	f.Fuzz(func(t *testing.T, base string, ref []byte) {
		b, err := NewBase(base)
		if err != nil {
			return
		}
		agree(t, b, ref)
		u, err := b.Resolve(ref)
		if err != nil {
			return
		}
		if again, err := Parse(u); err != nil || again != u {
			t.Fatalf("%s + %q = %q, which parses as %q, %v", b, ref, u, again, err)
		}
	})
}
