package match

import "testing"

func TestKeywordsOfTheTextAreCountedOnce(t *testing.T) {
	t.Parallel()
	var x Index
	x.Add(
		compile(t, Profile{ID: "a", Group: Group{Keywords: []Keyword{{Key: "crawler", Weight: 1}, {Key: "java", Weight: 5}}}}),
		compile(t, Profile{ID: "b", Group: Group{Keywords: []Keyword{{Key: "CRAWLER", Weight: 3}, {Key: "web crawler", Weight: 3}}}}),
	)
	x.Settle()
	if n := x.View().Keywords(textOf("a web crawler and other crawlers")); n != 2 {
		t.Errorf("%d keywords, want crawler and web crawler", n)
	}
	if n := new(Index).View().Keywords(textOf("crawler")); n != 0 {
		t.Errorf("an empty index has %d keywords of the text", n)
	}
}
