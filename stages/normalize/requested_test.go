package normalize

import (
	"slices"
	"testing"
)

// TestWhatScriptsAskedForIsLinked holds it to what links in the page are held to.
func TestWhatScriptsAskedForIsLinked(t *testing.T) {
	asked := []string{"https://example.org/api?b=1&utm_source=x", "https://example.org/a", "https://example.org/c"}
	d := page("<base href=https://example.net/x/><a href=https://example.org/a>a</a>")
	d.Requested = asked
	got := try(t, defaults, d)
	want := []string{"https://example.org/a", "https://example.org/api?b=1", "https://example.org/c"}
	if !slices.Equal(got.document.Links, want) || !slices.Equal(got.links.URLs, want) {
		t.Errorf("links %q, sent out %v, want %q", got.document.Links, got.links, want)
	}
	if got = try(t, with(func(o *Options) { o.MaxLinks = 2 }), d); len(got.document.Links) != 2 || got.Counters["over_limit"] != 1 {
		t.Errorf("of at most 2 links: %q, %v", got.document.Links, got.Counters)
	}
	d = page("<meta name=robots content=nofollow><a href=/a>a</a>")
	d.Requested = asked
	if got = try(t, defaults, d); got.links != nil || len(got.document.Links) > 0 {
		t.Errorf("of a page that asks not to be followed: %v", got.links)
	}
}
