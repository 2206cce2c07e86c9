package scope

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

var usual = Traps{Length: 2048, Depth: 20, Repeats: 3, Parameters: 20, Queries: 10_000, Dates: 20_000, FarDates: 50}

func judge(t Traps, u string) Refusal { return (&Gate{Traps: t}).Judge(u) }

func TestTrapsShowInTheURL(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]Refusal{
		"":                       Pass,
		"/":                      Pass,
		"?x":                     Pass,
		"/a/b/a/b/a/b":           Repeating,
		"/a/b/a/b/a/b/":          Repeating,
		"/x/a/b/a/b/a":           Pass,
		"/news/news/news/":       Repeating,
		"/news/news/":            Pass,
		"/news//news//news":      Repeating,
		"/news/x/news/y/news/z":  Pass,
		"/2/2/2/2":               Pass,
		"/12/5/12/5/12/5":        Pass,
		"/a/a/a/a/aaa.html":      Pass,
		"/pool/main/0/0ad/0/0ad": Pass,
		"/lang3/apidocs/org/apache/commons/lang3/src-html/org/apache/commons/lang3/Range.html": Pass,
		"/news/about/team/about/news/team/news/team/about":                                     Repeating,
		"/?a=1/2/2/2":                           Pass,
		"/?x=/a/a/a":                            Pass,
		strings.Repeat("/x", 21):                TooDeep,
		"/" + strings.Repeat("12/", 20):         Pass,
		"/" + strings.Repeat("12//", 20):        Pass,
		"/?" + strings.Repeat("x=1&", 19) + "x": Pass,
		"/?" + strings.Repeat("x=1&", 20) + "x": ManyParameters,
		"/" + strings.Repeat("x", 2048):         TooLong,
	} {
		if got := judge(usual, "http://a.org"+path); got != want {
			t.Errorf("%.80s is trap %d, want %d", path, got, want)
		}
		if judge(Traps{}, "http://a.org"+path) != Pass {
			t.Errorf("%.80s is a trap without limits", path)
		}
	}
	unbounded := Traps{Repeats: 3}
	if judge(unbounded, "http://a.org"+strings.Repeat("/a/b", 2000)) != Repeating || judge(unbounded, "http://a.org/"+strings.Repeat("12/", 2000)) != Pass {
		t.Error("of a very deep path the wrong is said")
	}
}

func TestFamilies(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	family := func(u string) (s string) {
		list, n := usual.Families("http://a.org"+u, now)
		for _, f := range list[:n] {
			s += fmt.Sprintf("%d:%x ", f.Beyond, f.ID)
		}
		return s
	}
	for _, u := range []string{"/", "/?id=7", "/2026/", "/3.11/12", "/12345/11/", "/2026/13/", "/2026-111", "/v2026-0", "/?id=202611", "/0999/11", "/2026+11", "/?month=11", "/?year=2026", "/2026/november"} {
		if s := family(u); s != "" {
			t.Errorf("%s is of the families %s, want none", u, s)
		}
	}
	for _, alike := range [][]string{
		{"/2026/11/", "/2025/1/", "/1999/12/"}, {"/2026/11/21/x", "/2020/02/30/x"}, {"/cal/2026-11-21", "/cal/2000-01-01"},
		{"/2026/nov/21", "/2000/Jan/1"}, {"/x_2026_11.html", "/x_2025_9.html"}, {"/?date=20261121", "/?date=20251121"},
		{"/c?month=2026-11", "/c?month=2027-01"}, {"/c?day=3&year=2026&x=1&month=4", "/c?day=30&year=2027&x=1&month=11"},
		{"/c?from=2026-11-01&to=2026-12-01", "/c?from=2027-01-01&to=2027-02-01"},
		{"/c?year=2026&at=2026-11&m=1", "/c?year=2027&at=2027-11&m=2"},
	} {
		one := family(alike[0])
		if !strings.Contains(one, fmt.Sprint(int(ManyDates), ":")) {
			t.Errorf("%s has no date: %s", alike[0], one)
		}
		for _, u := range alike[1:] {
			if family(u) != one {
				t.Errorf("%s is of %s, %s of %s", alike[0], one, u, family(u))
			}
		}
	}
	for _, u := range []string{"/1899/12/", "/2028/01/", "/9999/12/31"} {
		if s := family(u); !strings.HasPrefix(s, fmt.Sprint(int(ManyFarDates), ":")) || s != family("/5000/05/31") && s != family("/5000/05/") {
			t.Errorf("%s is of %s, want that of far dates", u, s)
		}
	}
	if family("/x?a=1&b=2&c") != family("/x?c=3&d&e") || family("/x?a=1&b=2&c") == family("/y?a=1&b=2&c") || family("/x?a&b&c") == "" || family("/x?a&b") != "" {
		t.Error("the queries of one path are not one family, or those of two are")
	}
}

// Nothing that a URL holds makes the search for traps fail, and what counts through by its date stays in
// one family.
func FuzzTraps(f *testing.F) {
	for _, s := range []string{"http://a.org/2026/11/21?x=1&y", "http://a.org/a/a/a", "http://a.org?year=2026&month=1&day=31", "x"} {
		f.Add(s)
	}
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, u string) {
		judge(usual, u)
		if _, n := usual.Families(u+"/?a&b&c", now); n < 1 && isURL(u) && !strings.ContainsAny(u, "?#") {
			t.Errorf("%q has three parameters and is of no family", u)
		}
		if !strings.HasPrefix(u, "http://") || strings.ContainsAny(u, "#0123456789") || !strings.Contains(u[7:], "/") {
			return
		}
		one, n := usual.Families(u+"/2026/11", now)
		two, m := usual.Families(u+"/2025/3", now)
		if n == 0 || n != m || one != two {
			t.Errorf("%q: %v and %v with another month", u, one[:n], two[:m])
		}
	})
}

func isURL(u string) bool {
	_, ok := Host(u)
	return ok
}

func TestNothingIsAllocatedForAPlainURL(t *testing.T) {
	g := NewGate(nil)
	g.Traps = usual
	g.Ignore, _ = ParseExtensions([]string{"png", "css"})
	now := time.Now()
	for _, u := range plainURLs {
		if n := testing.AllocsPerRun(100, func() {
			g.Admit(u)
			g.Judge(u)
			g.Traps.Families(u, now)
		}); n != 0 {
			t.Errorf("%s costs %v allocations", u, n)
		}
	}
}

var plainURLs = []string{
	"http://127.0.0.1:8099/python3/library/collections.abc.html",
	"http://127.0.0.1:8099/openjdk-17/api/java.base/java/util/concurrent/atomic/AtomicReference.html",
	"http://127.0.0.1:8099/postgresql/sql-createtable.html",
}

func BenchmarkTraps(b *testing.B) {
	g := NewGate(nil)
	g.Traps = usual
	g.Ignore, _ = ParseExtensions([]string{"png", "css"})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		u := plainURLs[i%len(plainURLs)]
		if why, _ := g.Admit(u); why != Pass || g.Judge(u) != Pass {
			b.Fatal("a plain URL is refused")
		}
	}
}
