package series

import (
	"slices"
	"testing"
)

func TestPagesAreOfOneListByTheirAddresses(t *testing.T) {
	const host = "https://jobs.example"
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"/jobs", "/jobs?page=2", true},
		{"/jobs/", "/jobs?page=2", true},
		{"/jobs?sort=new", "/jobs?page=2&sort=new", true},
		{"/jobs?sort=new&page=3", "/jobs?page=2&sort=new", true},
		{"/jobs?sort=old", "/jobs?page=2&sort=new", false},
		{"/news", "/news/page/2", true},
		{"/news/page/3/", "/news/page/2", true},
		{"/shoes?P=2", "/shoes?p=3", true},
		{"/list?offset=20", "/list?offset=40", true},
		{"/view?id=7", "/view?id=8", false},
		{"/shop/?p=11", "/shop/?p=12", false}, // articles
		{"/p/11", "/p/12", false},
		{"/jobs?page=next", "/jobs?page=2", false},
		{"/jobs?page=2", "/offers?page=2", false},
	} {
		if Same(host+c.a, host+c.b) != c.same {
			t.Errorf("%s and %s: of one list is %v, want %v", c.a, c.b, !c.same, c.same)
		}
	}
}

func TestNeighboursAreThoseBeforeAndBehind(t *testing.T) {
	for _, c := range []struct {
		page         string
		links        []string
		before, next []string
	}{
		{"/jobs", []string{"/about", "/jobs?page=3", "/jobs?page=2"}, nil, []string{"/jobs?page=2"}},
		{"/jobs", []string{"/jobs?page=1", "/jobs?page=2"}, nil, []string{"/jobs?page=1", "/jobs?page=2"}},
		{"/jobs?page=2", []string{"/jobs?page=3", "/jobs"}, []string{"/jobs?page=1", "/jobs", "/jobs/"}, []string{"/jobs?page=3"}},
		{"/jobs?page=7", []string{"/jobs?page=1", "/jobs?page=9", "/jobs?page=8"}, []string{"/jobs?page=6"}, []string{"/jobs?page=8"}},
		{"/news/page/3/", nil, []string{"/news/page/2/"}, nil},
		{"/list?offset=40", []string{"/list?offset=60", "/list?offset=20"}, []string{"/list?offset=20"}, []string{"/list?offset=60"}},
		{"/list?offset=20", nil, []string{"/list", "/list/"}, nil},
		{"/view?id=7", []string{"/view?id=6", "/view?id=8"}, nil, nil},
	} {
		at := func(all []string) (absolute []string) {
			for _, path := range all {
				absolute = append(absolute, "https://jobs.example"+path)
			}
			return absolute
		}
		before, next := Near("https://jobs.example"+c.page, at(c.links)...)
		if !slices.Equal(before, at(c.before)) || !slices.Equal(next, at(c.next)) {
			t.Errorf("%s, with links to %q: before is %q and behind %q, want %q and %q", c.page, c.links, before, next, c.before, c.next)
		}
	}
}

// FuzzNear holds that neighbours are of the same list, and that no page is its own.
func FuzzNear(f *testing.F) {
	f.Add("https://a.example/x?page=2&b", "https://a.example/x?b&page=3")
	f.Add("https://a.example/x/page/2/", "https://a.example/x/")
	f.Fuzz(func(t *testing.T, page, link string) {
		before, next := Near(page, link)
		for _, url := range slices.Concat(before, next) {
			if url == page || !Same(url, page) {
				t.Errorf("%q is near %q", url, page)
			}
		}
	})
}
