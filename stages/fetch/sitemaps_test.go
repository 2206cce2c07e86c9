package fetch

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/robots"
	"github.com/webrace/webrace/pipeline"
)

// announced runs requests one after the other, and returns the sitemaps that each gave.
func announced(t *testing.T, s *stage, requests ...webrace.Request) (all []webrace.Links) {
	t.Helper()
	for _, r := range requests {
		end := pipeline.ProcessOne(t.Context(), s, r, func(port string, value any) error {
			if port == portSitemaps {
				all = append(all, *value.(*webrace.Links))
			}
			return nil
		})
		if end.Err != nil {
			t.Fatal(end.Err)
		}
	}
	return all
}

func reached(url string, crawls ...string) webrace.Request {
	r := webrace.Request{URL: url}
	for _, c := range crawls {
		r.Reach = append(r.Reach, webrace.Reach{Crawl: c, Distance: len(c)})
	}
	return r
}

func TestSitemapsOfARobotsTxtAreAnnouncedToEachCrawlOnce(t *testing.T) {
	t.Parallel()
	url := site(t, text("Sitemap: /s.xml\nUser-agent: *\nDisallow: /no\nSitemap: http://other.example/t.xml\nsitemap: /s.xml\nSitemap: http://[\n"))
	s := newTestStage(t, obedient())
	got := announced(t, s, reached(url+"/no", "a"), reached(url+"/1", "a", "bb"), reached(url+"/2", "a", "bb"), reached(url+"/3", "bb", "ccc"))
	var want []webrace.Links
	for _, r := range []webrace.Reach{{Crawl: "a", Distance: 1}, {Crawl: "bb", Distance: 2}, {Crawl: "ccc", Distance: 3}} {
		want = append(want, webrace.Links{
			From: url + "/robots.txt", Reach: []webrace.Reach{r}, Via: webrace.ViaRobots, URLs: []string{url + "/s.xml", "http://other.example/t.xml"},
		})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := s.env.Counters(); n["sitemaps"] != 6 || n["sitemaps_invalid"] != 1 {
		t.Errorf("counters %v", n)
	}
}

func TestSitemapsAreNotAnnouncedUnlessWanted(t *testing.T) {
	t.Parallel()
	url := site(t, text("Sitemap: /s.xml\n"))
	for name, change := range map[string]func(*Options){
		"sitemaps": func(o *Options) { o.Sitemaps = false },
		"robots":   func(o *Options) { o.Robots = false },
	} {
		o := obedient()
		change(&o)
		if got := announced(t, newTestStage(t, o), reached(url+"/", "a")); len(got) != 0 {
			t.Errorf("without %s: %+v", name, got)
		}
	}
	silent := site(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	if got := announced(t, newTestStage(t, obedient()), reached(silent+"/", "a")); len(got) != 0 {
		t.Errorf("without a robots.txt: %+v", got)
	}
}

func TestARobotsTxtNamesNoMoreThanSoManySitemaps(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range maxSitemaps + 7 {
		fmt.Fprintf(&b, "Sitemap: /%d.xml\n", i)
	}
	rules := robots.Parse([]byte(b.String())).Agent("x")
	urls, invalid, over := sitemapsOf(rules, "http://example.org/robots.txt")
	if len(urls) != maxSitemaps || invalid != 0 || over != 7 || !slices.Contains(urls, "http://example.org/999.xml") {
		t.Errorf("%d, %d invalid, %d too many", len(urls), invalid, over)
	}
}
