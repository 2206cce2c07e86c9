package series

import (
	"strings"
	"testing"
)

func TestAPageStandsInThePlaceOfTheOneThatWasLinkedThere(t *testing.T) {
	const site = "https://jobs.example"
	for _, c := range []struct {
		name, url        string
		before, now, not string
		want             string
	}{
		{"a cursor", "/jobs?after=5", "/about /jobs?after=4", "/about /jobs?after=5", "", "/jobs?after=4"},
		{"beside a count", "/r?count=25&after=t5", "/r?count=25&after=t4", "/r?count=25&after=t5", "", "/r?count=25&after=t4"},
		{"on another path", "/search?updated-max=2&max-results=7", "/search?updated-max=1&max-results=7", "/search?updated-max=2&max-results=7", "", "/search?updated-max=1&max-results=7"},
		{"the page before, which is known", "/jobs?cursor=n2", "/jobs?cursor=p0 /jobs?cursor=n1", "/jobs?cursor=p0 /jobs?cursor=n2", "/jobs?cursor=p0", "/jobs?cursor=n1"},
		{"still linked", "/jobs?after=5", "/jobs?after=4", "/jobs?after=5 /jobs?after=4", "", ""},
		{"linked before", "/jobs?after=4", "/jobs?after=4", "/jobs?after=4", "", ""},
		{"several went", "/jobs?after=5", "/jobs?after=4 /jobs?after=3", "/jobs?after=5", "", ""},
		{"several came", "/jobs?after=5", "/jobs?after=4", "/jobs?after=5 /jobs?after=6", "", ""},
		{"an id", "/item?id=5", "/item?id=4", "/item?id=5", "", ""},
		{"another name", "/jobs?after=5", "/jobs?before=4", "/jobs?after=5", "", ""},
		{"two values", "/jobs?after=5&sort=new", "/jobs?after=4&sort=old", "/jobs?after=5&sort=new", "", ""},
		{"a number", "/jobs?offset=20", "/jobs?offset=10", "/jobs?offset=20", "", ""},
		{"no query", "/jobs/5", "/jobs/4", "/jobs/5", "", ""},
	} {
		all := func(paths string) (urls []string) {
			for path := range strings.FieldsSeq(paths) {
				urls = append(urls, site+path)
			}
			return urls
		}
		want := c.want
		if want != "" {
			want = site + want
		}
		if got := InsteadOf(site+c.url, all(c.before), all(c.now), all(c.not)...); got != want {
			t.Errorf("%s: %q stands in the place of %q, want %q", c.name, c.url, got, want)
		}
	}
}

func FuzzApart(f *testing.F) {
	f.Add("/a?b=1", "/a?b=2")
	f.Add("/a?b=1&c=2", "/a?c=2&b=1")
	f.Fuzz(func(t *testing.T, a, b string) {
		if Apart(a, b) != Apart(b, a) {
			t.Errorf("Apart(%q, %q) is not what Apart of them the other way round is", a, b)
		}
		if Apart(a, a) {
			t.Errorf("%q is apart from itself", a)
		}
	})
}
