package scope

import (
	"fmt"
	"strings"
	"testing"
)

func TestBlockedDomains(t *testing.T) {
	t.Parallel()
	b, err := ReadBlockedDomains(strings.NewReader("\ufeff# ads\n\nads.example\n.tracker.example # with a reason\n*.wild.example\n" +
		"127.0.0.1 localhost localhost.localdomain\n0.0.0.0 0.0.0.0\n0.0.0.0\thosts.example  other.example # two\n::1 ip6-localhost\n" +
		"BÜCHER.example\nads.example\n10.0.0.1\nno domain\nhttp://x.example/\nx.example:81\n[::1]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if b.Len() != 7+1 || b.Skipped != 3 || b.First != `line 13, "no domain"` {
		t.Errorf("%d names, %d lines skipped, the first %s", b.Len(), b.Skipped, b.First)
	}
	for host, want := range map[string]string{
		"ads.example": "ads.example", "x.y.ads.example:8080": "ads.example", "ads.example.": "ads.example", "bads.example": "", "example": "",
		"tracker.example": "tracker.example", "a.wild.example": "wild.example", "hosts.example": "hosts.example", "a.other.example": "other.example",
		"xn--bcher-kva.example": "xn--bcher-kva.example", "10.0.0.1": "10.0.0.1", "1.10.0.0.1": "10.0.0.1", "localhost": "", "[::1]:80": "[::1]",
	} {
		if got, blocked := b.Domain("https://" + host + "/ads.example"); got != want || blocked != (want != "") {
			t.Errorf("%s is blocked by %q: %v, want %q", host, got, blocked, want)
		}
	}
	if b.URL("http://ads.example/") {
		t.Error("a domain is taken for a URL")
	}
}

func TestBlockedURLs(t *testing.T) {
	t.Parallel()
	b, err := ReadBlockedURLs(strings.NewReader("http://a.org\nhttps://A.org/x?y#z # why\nmailto:me@a.org\n"))
	if err != nil || b.Len() != 2 || b.Skipped != 1 {
		t.Fatalf("%d URLs, %d skipped, %v", b.Len(), b.Skipped, err)
	}
	for u, want := range map[string]bool{"http://a.org/": true, "https://a.org/": true, "http://a.org/x?y": true, "http://a.org/x": false, "http://b.org/": false} {
		if b.URL(u) != want {
			t.Errorf("%s is blocked: %v, want %v", u, !want, want)
		}
	}
	var none *Blocklist
	if _, blocked := none.Domain("http://a.org/"); blocked || none.URL("http://a.org/") || none.Len() != 0 {
		t.Error("no list blocks something")
	}
}

// A list decides on every name as a map of its names and of the suffixes does.
func FuzzBlocklist(f *testing.F) {
	f.Add("a.example\nb.example\n", "x.a.example")
	f.Add("0.0.0.0 x y\n#\n--\n.\n..a\n", "y")
	f.Fuzz(func(t *testing.T, list, host string) {
		b, err := ReadBlockedDomains(strings.NewReader(list))
		if err != nil || strings.ContainsAny(host, "/?#@:[]") || strings.HasSuffix(host, ".") {
			return
		}
		names := make(map[string]bool)
		for _, s := range b.slots {
			if s.end > 0 {
				names[string(b.text[s.start:s.end])] = true
			}
		}
		want := ""
		for name := host; name != "" && want == ""; _, name, _ = strings.Cut(name, ".") {
			if names[name] {
				want = name
			}
		}
		if got, _ := b.Domain("http://" + host + "/"); got != want || len(names) != b.Len() {
			t.Errorf("%q is blocked by %q, a map says %q", host, got, want)
		}
	})
}

func BenchmarkBlockedDomains(b *testing.B) {
	var text strings.Builder
	for i := range 1_000_000 {
		fmt.Fprintf(&text, "0.0.0.0 host%d.ads%d.example\n", i, i%1000)
	}
	list, err := ReadBlockedDomains(strings.NewReader(text.String()))
	if err != nil || list.Len() != 1_000_000 {
		b.Fatal(list.Len(), err)
	}
	b.ReportMetric(float64(len(list.text)+8*len(list.slots))/1e6, "bytes/name")
	b.ReportAllocs()
	for b.Loop() {
		if _, blocked := list.Domain("http://www.docs.plain.example/index.html"); blocked {
			b.Fatal("blocked")
		}
	}
}
