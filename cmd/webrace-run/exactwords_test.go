package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"html/template"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"
)

// wordsOfLanguage is how many words of each language of a site are asked for.
const wordsOfLanguage = 15

// TestExactWords takes rare words of real sites in many languages, wants owners who ask for just these to be told of
// exactly the pages that show them, and a search to find these pages. Which they are is read by x/net/html, from pages
// that net/http asked for.
func TestExactWords(t *testing.T) {
	t.Parallel()
	site := startManySites(t)
	pages := site.pages(t)
	words := rareWords(pages)
	if len(words) < 200 {
		t.Fatalf("%d rare words in the languages of 2 sites", len(words))
	}
	data := t.TempDir()
	run := site.command(t, site.askFor(t, words), data)
	run.Args = slices.Insert(run.Args, 2, "search")
	mustSucceed(t, run)

	var want []string
	for i, word := range words {
		for _, path := range word.pages {
			want = append(want, fmt.Sprint(i, " ", site.base, path, " 1"))
		}
	}
	slices.Sort(want)
	got := alerts(t, data)
	for _, missing := range without(want, got) {
		t.Error("not told:", named(words, missing))
	}
	for _, wrong := range without(got, want) {
		t.Error("told, and not shown:", named(words, wrong))
	}
	for i, word := range words {
		if i%10 > 0 { // a few, because each opens the stores
			continue
		}
		found := searched(t, data, word.letters)
		for _, path := range word.pages {
			if !slices.Contains(found, site.base+path) {
				t.Errorf("a search for %s does not find %s", word.letters, path)
			}
		}
	}
	t.Logf("%d words on %d pages: %d alerts", len(words), len(pages), len(got))
}

// named returns the word for the id of its URD, which is its number.
func named(words []rareWord, alert string) string {
	id, rest, _ := strings.Cut(alert, " ")
	if i, err := strconv.Atoi(id); err == nil && i < len(words) {
		return words[i].letters + " on " + rest
	}
	return alert
}

// collections are the sites, and the Debian packages that bring them.
var collections = []struct {
	name, root, debian string
}{
	{"debian-reference", "/usr/share/debian-reference", "debian-reference"},
	{"developers-reference", "/usr/share/developers-reference", "developers-reference-ja"},
}

// startManySites serves all collections as one site, whose first page links to all pages of these.
func startManySites(t *testing.T) realSite {
	t.Helper()
	if testing.Short() {
		t.Skip("a crawl of two sites: not in short mode")
	}
	root := t.TempDir()
	var links []string
	for _, c := range collections {
		if _, err := os.Stat(c.root); err != nil {
			t.Skipf("%s is not there: apt-get install %s", c.root, c.debian)
		}
		if err := os.Symlink(c.root, filepath.Join(root, c.name)); err != nil {
			t.Fatal(err)
		}
		for _, pattern := range []string{"*.html", "*/*.html"} {
			files, _ := filepath.Glob(filepath.Join(root, c.name, pattern))
			links = append(links, files...)
		}
	}
	var page bytes.Buffer
	for i := range links {
		links[i] = strings.TrimPrefix(links[i], root)
	}
	if err := template.Must(template.New("").Parse(`{{range .}}<p><a href="{{.}}">page</a>{{end}}`)).Execute(&page, links); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "index.html"), page.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{root, filepath.Dir(root)} { // for nginx's worker, which is another user
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return serve(t, root)
}

// shownPage is a page without accents, in lower case: its source in runs of letters, and its text with accents.
type shownPage struct {
	runs []string
	text string
}

// pages returns the pages of the site by path.
func (s realSite) pages(t *testing.T) map[string]shownPage {
	t.Helper()
	all := map[string]shownPage{}
	_, media := s.walk(t)
	for path, mediaType := range media {
		if !strings.HasPrefix(mediaType, "text/html") {
			continue
		}
		response, err := http.Get(s.base + path)
		if err != nil {
			t.Fatal(err)
		}
		source, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if response.StatusCode == http.StatusOK {
			all[path] = shownPage{runsOf(string(source) + " " + path), strings.ToLower(textOf(t, source))}
		}
	}
	return all
}

// runsOf returns the runs of letters in a text, each once.
func runsOf(text string) (runs []string) {
	runs = strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
	slices.Sort(runs)
	runs = slices.Compact(runs)
	for i := range runs {
		runs[i] = withoutAccents(runs[i])
	}
	return runs
}

// withoutAccents writes letters without accents, in lower case.
func withoutAccents(s string) string {
	accents := runes.Remove(runes.In(unicode.Mn))
	s, _, _ = transform.String(transform.Chain(norm.NFKD, accents, norm.NFC), s) // which have no errors
	return strings.ToLower(s)
}

// textOf returns what stands between the tags of the body, but for scripts and styles, with a line's end wherever an
// element begins or ends that does not stand in a line.
func textOf(t *testing.T, source []byte) string {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(source))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	var write func(*html.Node)
	write = func(n *html.Node) {
		switch n.DataAtom {
		case atom.Script, atom.Style, atom.Title:
			return
		}
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
		inLine := slices.Contains(inLines, n.DataAtom) || n.Type == html.TextNode
		if !inLine {
			b.WriteString("\n")
		}
		for child := range n.ChildNodes() {
			write(child)
		}
		if !inLine {
			b.WriteString("\n")
		}
	}
	write(root)
	return b.String()
}

var inLines = []atom.Atom{atom.A, atom.B, atom.Code, atom.Em, atom.I, atom.Small, atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.Tt}

// rareWord is a word and the paths of the pages that show it.
type rareWord struct {
	letters string
	pages   []string
}

var (
	plainWord = regexp.MustCompile(`(?:^|\s)[("„«]?([\p{Latin}\p{Cyrillic}]{6,14}|[\p{Han}]{3,6}|[\p{Katakana}ー]{4,8})[.,;:)"“»。、]*(?:\s|$)`)
	ofPage    = regexp.MustCompile(`^/([^/]+)/(?:([^/]+)/|[^/]*\.([-a-z]+)\.html$)?`)
)

// rareWords returns words of each language of each site by the pages that show them. There is no doubt which these are:
// no other page has the letters of the word anywhere in its source.
func rareWords(pages map[string]shownPage) (chosen []rareWord) {
	shown := map[string]map[string]bool{}
	l := lettersOf{holders: map[string][]string{}}
	for path, page := range pages {
		for _, match := range plainWord.FindAllStringSubmatch(page.text, -1) {
			if shown[match[1]] == nil {
				shown[match[1]] = map[string]bool{}
			}
			shown[match[1]][path] = true
		}
		for _, run := range page.runs {
			l.holders[run] = append(l.holders[run], path)
		}
	}
	l.runs = strings.Join(slices.Collect(maps.Keys(l.holders)), "\n") + "\n"
	perLanguage := map[string]int{}
	for _, word := range slices.SortedFunc(maps.Keys(shown), func(a, b string) int { return strings.Compare(digest(a), digest(b)) }) {
		paths := slices.Sorted(maps.Keys(shown[word]))
		if len(paths) > 12 {
			continue
		}
		of := strings.Join(ofPage.FindStringSubmatch(paths[0])[1:], " ")
		if perLanguage[of] < wordsOfLanguage && !l.elsewhere(word, paths) {
			perLanguage[of]++
			chosen = append(chosen, rareWord{word, paths})
		}
	}
	return chosen
}

// lettersOf knows which pages have which runs of letters.
type lettersOf struct {
	holders map[string][]string // of runs: the paths of pages
	runs    string              // all of them, a line each
}

// elsewhere reports whether the letters of a word are part of a run of letters on another page than these.
func (l *lettersOf) elsewhere(word string, paths []string) bool {
	letters := withoutAccents(word)
	other := func(path string) bool { return !slices.Contains(paths, path) }
	for rest := l.runs; ; {
		at := strings.Index(rest, letters)
		if at < 0 {
			return false
		}
		end := at + strings.IndexByte(rest[at:], '\n')
		if run := rest[strings.LastIndexByte(rest[:at], '\n')+1 : end]; slices.ContainsFunc(l.holders[run], other) {
			return true
		}
		rest = rest[end:]
	}
}

// digest puts words in an order that has nothing to do with what they mean.
func digest(word string) string {
	h := fnv.New64a()
	h.Write([]byte(word))
	return fmt.Sprintf("%x", h.Sum(nil))
}

// askFor writes a URD for each word, whose id is the word's number.
func (s realSite) askFor(t *testing.T, words []rareWord) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`<urds xmlns="urn:webrace:1">`)
	for i, word := range words {
		fmt.Fprintf(&b, `<urd id="%d" owner="reader"><uri>%s/index.html</uri><type protocol="http" method="pull" processtype="filter"/>
  <keywords match="any" threshold="0"><keyword key="%s" weight="5" exact="true"/></keywords><depth level="0"/><urgency urgent="1"/></urd>
`, i, s.base, word.letters)
	}
	b.WriteString("</urds>")
	path := filepath.Join(t.TempDir(), "urds.xml")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// searched returns the URLs that a search for a word finds.
func searched(t *testing.T, data, word string) (urls []string) {
	t.Helper()
	out, err := webraceStore("search", "--data", data, "--json", "-n", "1000", word)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out) {
		var hit struct{ URL string }
		if !strings.HasPrefix(line, "{") { // how many there are, which standard error tells
			continue
		}
		if err := json.Unmarshal([]byte(line), &hit); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		urls = append(urls, hit.URL)
	}
	return urls
}

// without returns what is in the first list alone.
func without(all, others []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(others, s) })
}
