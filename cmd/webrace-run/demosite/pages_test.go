package demosite

import (
	"encoding/xml"
	"image/png"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/jimsmart/grobotstxt"
	"golang.org/x/net/html"
)

func TestPagesAreFound(t *testing.T) {
	t.Parallel()
	site := New()
	pages := site.Pages()
	if len(pages) < 30 || len(pages) > 60 || !slices.IsSorted(pages) {
		t.Errorf("%d pages: %q", len(pages), pages)
	}
	for path, want := range map[string]bool{
		"/": true, "/port/tide-table.html": true, "/port/berths.html": true, "/port/timetable.html": true,
		"/port/timetable.html?season=winter": true, "/port/timetable.html?print=1": true, "/private/": true,
		"/nature/seabirds.html": true, "/timetable": false, "/port/hovercraft.html": false, "/port/notices.txt": false,
		"/council/minutes-2019.html": false, "/history/lighthouse.html": false, "/images/harbour.png": false,
	} {
		if slices.Contains(pages, path) != want {
			t.Errorf("%s among the pages: %v, want %v", path, !want, want)
		}
	}
	for path, want := range map[string]int{"/": 0, "/news/": 1, "/news/archive.html": 2, "/news/archive.html?year=2023": 3, "/port/timetable.html": 1} {
		if got := site.distances()[path]; got != want {
			t.Errorf("%s is %d links away, want %d", path, got, want)
		}
	}
	site.Edit("/nature/cliff-walk.html", func(old string) string {
		return strings.Replace(old, "</main>", `<a href="/history/lighthouse.html">the lighthouse</a></main>`, 1)
	})
	if !slices.Contains(site.Pages(), "/history/lighthouse.html") {
		t.Error("a page is not found after another was edited to link to it")
	}
	if len(site.Requests()) != 0 {
		t.Errorf("looking for pages counts as requests: %v", site.Requests())
	}
}

// TestOnlyTheBrokenLinksAreBroken also holds that every page can be fetched.
func TestOnlyTheBrokenLinksAreBroken(t *testing.T) {
	t.Parallel()
	site := New()
	broken := map[string]int{}
	for _, path := range append(site.Pages(), "/history/lighthouse.html") {
		r := ask(site, path)
		if r.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
		base, err := url.Parse("http://harbour.test" + path)
		if err != nil {
			t.Fatal(err)
		}
		for _, ref := range references(bodyOf(t, r), base, "a href", "area href", "iframe src", "img src", "link href") {
			rest, inside := strings.CutPrefix(ref, "http://harbour.test")
			if !inside {
				if !strings.HasPrefix(ref, "mailto:") {
					t.Errorf("%s links to %s", path, ref)
				}
				continue
			}
			target, fragment, _ := strings.Cut(rest, "#")
			answer := ask(site, target)
			if answer.StatusCode >= 400 {
				broken[target] = answer.StatusCode
			}
			if fragment != "" && !strings.Contains(bodyOf(t, answer), ` id="`+fragment+`"`) {
				t.Errorf("%s links to %s, which is not there", path, rest)
			}
		}
	}
	want := map[string]int{"/council/minutes-2019.html": 404, "/port/hovercraft.html": 410}
	if !maps.Equal(broken, want) {
		t.Errorf("broken: %v, want %v", broken, want)
	}
}

func TestPagesAreWellMade(t *testing.T) {
	t.Parallel()
	void := []string{"meta", "link", "base", "img", "area", "br"}
	titles := map[string]string{}
	site := New()
	for path, res := range site.resources {
		if !res.isPage() {
			continue
		}
		var open []string
		count := map[string]int{}
		title := ""
		z := html.NewTokenizer(strings.NewReader(res.content))
		for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
			switch token := z.Token(); kind {
			case html.StartTagToken:
				count[token.Data]++
				if !slices.Contains(void, token.Data) {
					open = append(open, token.Data)
				}
			case html.EndTagToken:
				if len(open) == 0 || open[len(open)-1] != token.Data {
					t.Fatalf("%s: </%s> within %q", path, token.Data, open)
				}
				open = open[:len(open)-1]
			case html.TextToken:
				if len(open) > 0 && open[len(open)-1] == "title" {
					title = token.Data
				}
			}
		}
		if len(open) > 0 {
			t.Errorf("%s: left open %q", path, open)
		}
		for _, once := range []string{"html", "head", "title", "body", "header", "nav", "main", "h1", "footer"} {
			if count[once] != 1 {
				t.Errorf("%s: %d of %s", path, count[once], once)
			}
		}
		if other := titles[title]; other != "" || title == "" {
			t.Errorf("%s and %s: the same title %q", path, other, title)
		}
		titles[title] = path
	}
}

func TestRobotsSitemapFeedsAndPictureCanBeRead(t *testing.T) {
	t.Parallel()
	site := New()
	rules := bodyOf(t, ask(site, "/robots.txt"))
	for _, path := range site.Pages() {
		if allowed := grobotstxt.AgentAllowed(rules, "webrace", "http://harbour.test"+path); allowed == strings.HasPrefix(path, "/private/") {
			t.Errorf("robots.txt allows %s: %v", path, allowed)
		}
	}
	if sitemaps := grobotstxt.Sitemaps(rules); strings.Contains(rules, "delay") || !slices.Equal(sitemaps, []string{"http://harbour.test/sitemap.xml"}) {
		t.Errorf("robots.txt asks for a delay, or names %q:\n%s", sitemaps, rules)
	}
	var sitemap struct {
		Locations []string `xml:"url>loc"`
	}
	if err := xml.NewDecoder(ask(site, "/sitemap.xml").Body).Decode(&sitemap); err != nil {
		t.Fatal(err)
	}
	var only []string
	pages := site.Pages()
	for _, location := range sitemap.Locations {
		path := strings.TrimPrefix(location, "http://harbour.test")
		if ask(site, path).StatusCode != 200 {
			t.Errorf("the sitemap lists %s", location)
		}
		if !slices.Contains(pages, path) {
			only = append(only, path)
		}
	}
	if !slices.Equal(only, []string{"/history/lighthouse.html"}) {
		t.Errorf("only in the sitemap: %q", only)
	}
	for _, path := range []string{"/feed.xml", "/atom.xml"} {
		var feed struct {
			Items   []string `xml:"channel>item>title"`
			Entries []string `xml:"entry>title"`
		}
		if err := xml.NewDecoder(ask(site, path).Body).Decode(&feed); err != nil || len(feed.Items)+len(feed.Entries) < 2 {
			t.Errorf("%s: %v, %v", path, feed, err)
		}
	}
	if picture, err := png.Decode(ask(site, "/images/harbour.png").Body); err != nil || picture.Bounds().Dx() != 2*picture.Bounds().Dy() {
		t.Errorf("picture: %v", err)
	}
}
