package selection

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/xpath"
)

var howMany = flag.Int("selectors", 3000, "how many selectors are compared with what a browser finds")

// asked is a page, the selectors that are looked for in it, and what a browser finds: elements by their numbers, or
// null where it knows no such selector.
type asked struct {
	Page      string
	XML       bool
	Selectors []string
	Within    []int // the element below which each is looked for; -1 for the page
	Names     []string
	Found     [][]int
}

// pageScript answers. Elements that only white space is in are :empty in Level 4, and not yet in browsers; they are
// found by a mark that no page has.
const pageScript = `<!doctype html><meta charset=utf-8><pre></pre><script>
const asked = %s;
for (const a of asked) {
	const page = new DOMParser().parseFromString(a.Page, a.XML ? 'text/xml' : 'text/html');
	const all = [...page.querySelectorAll('*')], number = new Map(all.map((e, i) => [e, i]));
	for (const e of all) {
		const holds = [...e.childNodes].some(n => n.nodeType == 1 || n.nodeType == 3 && n.data.trim() != '');
		if (!holds) e.setAttribute('hollow', '');
	}
	a.Names = all.map(e => e.localName);
	a.Found = a.Selectors.map((s, i) => {
		try {
			const below = a.Within[i] < 0 ? page : all[a.Within[i]];
			return [...below.querySelectorAll(s.replace(/:empty/gi, '[hollow]'))].map(e => number.get(e));
		} catch {
			return null;
		}
	});
	a.Page = ''; a.Selectors = null;
}
document.querySelector('pre').textContent = JSON.stringify(asked);
</script>`

// askBrowser has a browser find the selectors.
func askBrowser(t *testing.T, questions []asked) (answers []asked) {
	t.Helper()
	encoded, err := json.Marshal(questions) // it escapes what would end a script
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, fmt.Appendf(nil, pageScript, encoded), 0o644); err != nil {
		t.Fatal(err)
	}
	browser := exec.CommandContext(t.Context(), "chromium", "--headless", "--no-sandbox", "--disable-gpu",
		"--user-data-dir="+t.TempDir(), "--dump-dom", "file://"+file)
	out, err := browser.Output()
	if err != nil {
		t.Fatalf("run chromium: %v", err)
	}
	_, text, _ := strings.Cut(string(out), "<pre>")
	text, _, _ = strings.Cut(text, "</pre>")
	if err := json.Unmarshal([]byte(html.UnescapeString(text)), &answers); err != nil {
		t.Fatalf("read what chromium says: %v: %.300s", err, out)
	}
	return answers
}

// pageMaker writes pages and selectors of few names, so that most selectors find something. Its pages are well-formed:
// what is not is read otherwise than in browsers, on purpose. So is [lang] of XML, which finds xml:lang here.
type pageMaker struct{ *rand.Rand }

func (g pageMaker) one(of ...string) string { return of[g.IntN(len(of))] }

func (g pageMaker) page(xml bool) string {
	var b strings.Builder
	if !xml {
		b.WriteString(g.one("<!doctype html>", "<!DOCTYPE HTML>", "", `<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">`,
			`<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN">`))
	}
	b.WriteString("<html" + g.attributes(xml) + ` xmlns="http://www.w3.org/1999/xhtml"` + "><head>")
	if !xml {
		b.WriteString(g.one("", "", `<meta http-equiv="Content-Language" content="de-AT">`))
	}
	b.WriteString("<title>x</title></head><body" + g.attributes(xml) + ">")
	for range 1 + g.IntN(4) {
		g.element(&b, xml, 1)
	}
	return b.String() + "</body></html>"
}

func (g pageMaker) element(b *strings.Builder, xml bool, depth int) {
	name := g.one("div", "div", "section", "span", "em", "a", "area", "i", "input", "svg")
	if depth == 1 && name == "a" {
		name = "div" // no link stands within another
	}
	b.WriteString("<" + name + g.attributes(xml))
	if name == "input" || name == "area" {
		b.WriteString("/>")
		return
	}
	b.WriteString(">")
	switch {
	case name == "svg":
		b.WriteString("<g" + g.attributes(xml) + "></g><path" + g.attributes(xml) + "></path>")
	case name == "a":
		b.WriteString(g.one("", " ", "link", "<b>x</b>"))
	default:
		for range g.IntN(5) {
			if depth < 5 && g.IntN(3) > 0 {
				g.element(b, xml, depth+1)
			} else {
				b.WriteString(g.one(" ", "\n\t", "<!-- -->", "text", "\u00a0", "<b class=\"x\"></b>"))
			}
		}
	}
	b.WriteString("</" + name + ">")
}

var (
	classWords = []string{"x", "y", "X", "é", "É", "x y", " y\tX", "z-1", ""}
	typeWords  = []string{"text", "TEXT", "Text", "é", "É", "a b", "\u212a", "k"}
	languages  = []string{"de", "DE", "de-AT", "de-at-1996", "en", "", "fr-CH", "x-de"}
)

func (g pageMaker) attributes(xml bool) string {
	var b strings.Builder
	maybe := func(name string, values []string) {
		if g.IntN(4) == 0 {
			fmt.Fprintf(&b, ` %s="%s"`, name, values[g.IntN(len(values))])
		}
	}
	maybe("class", classWords)
	maybe("id", []string{"a", "b", "A", "c", "é"})
	maybe("type", typeWords)
	maybe("title", typeWords)
	maybe("data-X", typeWords)
	maybe("href", []string{"", "x"})
	if g.IntN(2) == 0 {
		maybe(map[bool]string{false: "lang", true: "xml:lang"}[xml], languages)
	}
	return b.String()
}

func (g pageMaker) selectors(depth int) string {
	list := g.complex(depth)
	for g.IntN(4) == 0 {
		list += g.one(",", " , ") + g.complex(depth)
	}
	return list
}

func (g pageMaker) complex(depth int) string {
	s := g.compound(depth)
	for g.IntN(5) < 2 {
		s += g.one(" ", " ", ">", " > ", "+", " ~ ", "\n~") + g.compound(depth)
	}
	return s
}

func (g pageMaker) compound(depth int) string {
	s := ""
	if g.IntN(2) == 0 {
		s = g.one("*", "div", "span", "DIV", "em", "b", "a", "area", "svg", "path", "section", "input", "body", "html", "i", "k")
	}
	for s == "" || g.IntN(3) == 0 {
		s += g.simple(depth)
	}
	return s
}

func (g pageMaker) simple(depth int) string {
	switch g.IntN(10) {
	case 0, 1:
		return g.one(".x", ".y", ".X", ".é", ".É", `.z-\31 `, `.\78 `, ".z-1")
	case 2:
		return g.one("#a", "#A", "#b", "#é", `#\61 `, "#c")
	case 3, 4:
		return g.attribute()
	case 5:
		return g.one(":first-child", ":last-child", ":only-child", ":first-of-type", ":last-of-type", ":only-of-type", ":root",
			":empty", ":EMPTY", ":any-link", ":link", ":scope", ":Scope")
	case 6:
		return ":lang(" + g.one("de", "DE", "en", "de-at", "fr", " x ", "d") + ")"
	}
	return g.function(depth)
}

func (g pageMaker) attribute() string {
	name := g.one("class", "id", "type", "TYPE", "title", "data-x", "data-X", "href")
	if g.IntN(4) == 0 {
		return "[" + name + g.one("", " ") + "]"
	}
	value := g.one("x", "X", "text", "TEXT", "é", "É", "a", "A", "de", "DE", "k", "K", "t", "y", `\61`, `"a b"`, `'y\9 X'`, `""`, "'K'", "'de'")
	return "[" + name + g.one("=", "~=", "|=", "^=", "$=", "*=", " = ") + value + g.one("", "", " i", " I ") + "]"
}

func (g pageMaker) function(depth int) string {
	formula := g.one("1", "2", "odd", "EVEN", "2n+1", "-n+3", "n", "3n - 1", "-2n+5", "0n+2", "+2n", "n+2", " 2 ", "-1", "2N")
	if depth <= 0 || g.IntN(3) == 0 {
		return g.one(":nth-child(", ":nth-last-child(", ":nth-of-type(", ":nth-last-of-type(") + formula + ")"
	}
	switch g.IntN(5) {
	case 0:
		return ":not(" + g.selectors(depth-1) + ")"
	case 1:
		return g.one(":is(", ":where(", ":IS( ") + g.selectors(depth-1) + ")"
	case 2:
		list := g.one("", ">", "+ ", "~", "> ") + g.complex(0) // no :has() in :has()
		for g.IntN(3) == 0 {
			list += ", " + g.one("", "> ", "+", "~ ") + g.complex(0)
		}
		return ":has(" + list + ")"
	}
	return g.one(":nth-child(", ":nth-last-child(") + strings.TrimRight(formula, " ") + g.one(" of ", "\tof ") + g.selectors(depth-1) + g.one("", " ") + ")"
}

// TestSelectorsFindWhatABrowserFinds compares random selectors in random pages. With -selectors, at length.
func TestSelectorsFindWhatABrowserFinds(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser is started: not in short mode")
	}
	t.Parallel()
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("a browser is missing: install the Debian package chromium")
	}
	const aPage, atOnce = 40, 20_000
	compared, unlike, empty, refused := 0, 0, 0, 0
	for batch := uint64(1); compared < *howMany; batch++ {
		g := pageMaker{rand.New(rand.NewPCG(14, batch))}
		var questions []asked
		for range min(atOnce, *howMany-compared+aPage-1) / aPage {
			q := asked{XML: g.IntN(4) == 0}
			q.Page = g.page(q.XML)
			for range aPage {
				q.Selectors = append(q.Selectors, g.selectors(2))
				within := -1
				if g.IntN(3) == 0 {
					within = g.IntN(5)
				}
				q.Within = append(q.Within, within)
			}
			questions = append(questions, q)
		}
		for i, answer := range askBrowser(t, questions) {
			q := questions[i]
			for k, s := range q.Selectors {
				compared++
				got := findAll(t, q, answer.Names, k)
				switch want := answer.Found[k]; {
				case want == nil:
					refused++
					t.Logf("the browser knows no %s", s)
				case !slices.Equal(got, want):
					if unlike++; unlike < 20 {
						t.Errorf("%s below %d of\n%s\n got %v\nwant %v", s, q.Within[k], q.Page, got, want)
					}
				case len(want) == 0:
					empty++
				}
			}
		}
	}
	t.Logf("%d selectors: %d differ, %d find nothing, %d are refused by the browser", compared, unlike, empty, refused)
	if empty > compared*4/5 || refused > 0 {
		t.Errorf("too few selectors find something")
	}
}

// findAll returns the numbers of the elements that a selector finds.
func findAll(t *testing.T, q asked, names []string, k int) []int {
	t.Helper()
	d := &Document{body: []byte(q.Page), mediaType: "text/html", contentType: "text/html; charset=utf-8"}
	if q.XML {
		d.mediaType, d.contentType = "text/xml", "text/xml; charset=utf-8"
	}
	search, err := NewSearch(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	m := d.matcher(&xpath.Budget{Context: context.Background(), Left: 1})
	same := len(names) == len(m.nodes)
	for i := range names {
		same = same && strings.EqualFold(names[i], m.nodes[i].Data)
	}
	if !same {
		t.Fatalf("the elements are %v in a browser, %d here: %s", names, len(m.nodes), q.Page)
	}
	f, err := NewFinder(CSS, q.Selectors[k])
	if err != nil {
		t.Fatalf("%s: %v", q.Selectors[k], err)
	}
	within := Found{}
	if q.Within[k] >= 0 {
		within.hit = hit{m.nodes[q.Within[k]], -1}
	}
	all, err := search.Find(f, within)
	if err != nil {
		t.Fatalf("%s: %v", q.Selectors[k], err)
	}
	found := []int{}
	for _, one := range all {
		found = append(found, int(one.hit.node.DataAtom))
	}
	return found
}
