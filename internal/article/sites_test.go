package article

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/article/articletest"
	"github.com/webrace/webrace/internal/htmltree"
)

// site is the documentation of a program, as a Debian package brings it. What a page holds is known from its make: the
// element of the text, and what of that is for finding one's way.
type site struct {
	name, packaged, pages string
	text                  func(*html.Node) bool // is the element that holds the text of a page
	beside                func(*html.Node) bool // is one that leads elsewhere
	least                 int                   // pages that have one
	// source returns the file that a page was made of, and code the blocks of code that are in it; nil without one.
	source func(page string) string
	code   func(source string) []string
}

func TestSites(t *testing.T) {
	t.Parallel()
	for _, s := range sites {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			files, err := filepath.Glob(s.pages)
			if err != nil {
				t.Fatal(err)
			}
			if len(files) == 0 {
				t.Skipf("%s is not there: apt-get install %s", s.pages, s.packaged)
			}
			found := siteCounts{}
			for _, file := range files {
				s.check(t, file, &found)
			}
			t.Logf("%d pages with a main part, %d headings, %d blocks of code, %d of %d in their sources; %d words of navigation left out",
				found.pages, found.headings, found.code, found.sourced, found.inSource, found.leftOut)
			if found.pages < s.least {
				t.Errorf("%d pages have a main part, want %d", found.pages, s.least)
			}
		})
	}
}

type siteCounts struct{ pages, headings, code, sourced, inSource, leftOut int }

// check holds the main part of a page against what its make tells: no heading or block of code of the text is missing,
// and nothing of what leads elsewhere is there.
func (s site) check(t *testing.T, file string, found *siteCounts) {
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	root, err := htmltree.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	a := Find(root, "https://docs.example/"+filepath.Base(file))
	text := first(root, s.text)
	if text == nil || a.Main == nil {
		return
	}
	found.pages++
	shown := elementsOf(a)
	each(root, s.beside, func(n *html.Node) {
		words := strings.Fields(plain(n))
		if found.leftOut += len(words); len(words) > 0 && shown[n] {
			t.Errorf("%s: navigation in the main part: <%s %v> %.60q", file, n.Data, n.Attr, plain(n))
		}
	})
	each(text, isHeading, func(n *html.Node) {
		found.headings++
		if !shown[n] {
			t.Errorf("%s: the heading %q is lost", file, plain(n))
		}
	})
	each(text, isCode, func(n *html.Node) {
		found.code++
		if !shown[n] {
			t.Errorf("%s: the code %.60q is lost", file, plain(n))
		}
	})
	if s.source == nil {
		return
	}
	source, err := os.ReadFile(s.source(file))
	if err != nil {
		return // of pages that are made of no file
	}
	main := squeeze(mainText(a, root))
	for _, block := range s.code(string(source)) {
		found.inSource++
		if strings.Contains(main, squeeze(block)) {
			found.sourced++
		} else if strings.Contains(squeeze(plain(root)), squeeze(block)) {
			t.Errorf("%s: the code %.60q of %s is lost", file, block, s.source(file))
		}
	}
}

// elementsOf are the elements of the main part.
func elementsOf(a *Article) map[*html.Node]bool {
	shown := make(map[*html.Node]bool)
	var add func(*html.Node)
	add = func(n *html.Node) {
		if a.Without(n) {
			return
		}
		shown[n] = true
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			add(c)
		}
	}
	for _, n := range a.Main {
		add(n)
	}
	return shown
}

func each(n *html.Node, is func(*html.Node) bool, do func(*html.Node)) {
	if n.Type == html.ElementNode && is(n) {
		do(n)
		return
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		each(c, is, do)
	}
}

func first(n *html.Node, is func(*html.Node) bool) (found *html.Node) {
	each(n, is, func(n *html.Node) {
		if found == nil {
			found = n
		}
	})
	return found
}

func isHeading(n *html.Node) bool {
	return traits[n.Data]&heading != 0 && strings.TrimSpace(plain(n)) != ""
}

func isCode(n *html.Node) bool { return n.Data == "pre" }

// plain returns the text of an element.
func plain(n *html.Node) string {
	return articletest.Text([]*html.Node{n}, nil)
}

// squeeze returns a text without white space.
func squeeze(text string) string { return strings.Join(strings.Fields(text), "") }

func named(name, attribute, value string) func(*html.Node) bool {
	return func(n *html.Node) bool {
		v := htmltree.Value(n.Attr, attribute)
		return (name == "" || n.Data == name) && v != nil && (*v == value || value == "")
	}
}

func anyOf(all ...func(*html.Node) bool) func(*html.Node) bool {
	return func(n *html.Node) bool {
		for _, is := range all {
			if is(n) {
				return true
			}
		}
		return false
	}
}

var (
	sphinxBeside = anyOf(named("div", "class", "sphinxsidebar"), named("div", "class", "related"), named("div", "class", "footer"))
	sites        = []site{{
		name: "python", packaged: "python3.11-doc", pages: "/usr/share/doc/python3.11/html/[hlrt]*/*.html", least: 350,
		text: named("div", "role", "main"), beside: sphinxBeside,
		source: sphinxSource, code: literalBlocks,
	}, {
		name: "developers-reference", packaged: "developers-reference", pages: "/usr/share/developers-reference/*.html", least: 7,
		text: named("div", "role", "main"), beside: sphinxBeside,
		source: sphinxSource, code: literalBlocks,
	}, {
		name: "cmake", packaged: "cmake-doc", pages: "/usr/share/doc/cmake-data/html/[a-m]*/*.html", least: 100,
		text: named("div", "role", "main"), beside: sphinxBeside,
		source: sphinxSource, code: literalBlocks,
	}, {
		name: "postgresql", packaged: "postgresql-doc-15", pages: "/usr/share/doc/postgresql-doc-15/html/*.html", least: 900,
		text:   anyOf(named("div", "class", "sect1"), named("div", "class", "refentry"), named("div", "class", "chapter")),
		beside: anyOf(named("div", "class", "navheader"), named("div", "class", "navfooter")),
	}, {
		name: "debian-reference", packaged: "debian-reference-en", pages: "/usr/share/debian-reference/ch*.en.html", least: 10,
		text:   named("div", "class", "chapter"),
		beside: anyOf(named("div", "class", "navheader"), named("div", "class", "navfooter")),
	}, {
		name: "git", packaged: "git-doc", pages: "/usr/share/doc/git/html/*.html", least: 150,
		text: named("div", "id", "content"), beside: named("div", "id", "footer"),
		source: func(page string) string { return strings.TrimSuffix(page, ".html") + ".txt" }, code: listings,
	}}
)

// sphinxSource returns the file of reStructuredText that Sphinx keeps of a page.
func sphinxSource(page string) string {
	root := page[:strings.LastIndex(page, "/html/")+len("/html/")]
	if !strings.Contains(page, "/html/") {
		root = filepath.Dir(page) + "/"
	}
	return root + "_sources/" + strings.TrimSuffix(strings.TrimPrefix(page, root), ".html") + ".rst.txt"
}

// literalBlocks returns what follows "::" in reStructuredText, up to the first line that is indented less.
func literalBlocks(source string) (blocks []string) {
	lines := strings.Split(source, "\n")
	for i, line := range lines {
		if !strings.HasSuffix(line, "::") || strings.HasPrefix(strings.TrimSpace(line), "..") {
			continue
		}
		indent := len(line) - len(strings.TrimLeft(line, " "))
		var block []string
		for _, l := range lines[i+1:] {
			if strings.TrimSpace(l) != "" && len(l)-len(strings.TrimLeft(l, " ")) <= indent {
				break
			}
			block = append(block, l)
		}
		blocks = append(blocks, strings.TrimSpace(strings.Join(block, "\n")))
	}
	return blocks
}

// listings returns what stands between lines of dashes in AsciiDoc, which are not the underlines of titles.
func listings(source string) (blocks []string) {
	before, open := "", ""
	var block []string
	for line := range strings.SplitSeq(source, "\n") {
		isLine := len(line) >= 4 && strings.Trim(line, "-") == ""
		switch {
		case open != "" && line == open:
			blocks = append(blocks, strings.Join(block, "\n"))
			open = ""
		case open != "":
			block = append(block, line)
		case isLine && (before == "" || before == "+" || before[0] == '[' || before[0] == '.'):
			open, block = line, nil
		}
		before = line
	}
	return blocks
}
