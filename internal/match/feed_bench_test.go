package match_test

import (
	"fmt"
	"html"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/match"
)

// BenchmarkFeed reads a feed of 500 entries, of which one is new, and matches it with 1,000 owners who know the others;
// and a page with the same blocks, of which those of one entry are new.
func BenchmarkFeed(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	word := func() string { return fmt.Sprint("w", int(10_000*r.Float64()*r.Float64())) }
	words := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = word()
		}
		return strings.Join(all, " ")
	}
	var feed, page []string
	for i := range 501 {
		title, first, second := words(6), words(30), words(30)
		body := "<p>" + first + "</p><p>" + second + "</p>"
		feed = append(feed, fmt.Sprintf("<item><guid>http://h/%d</guid><title>%s</title><description>%s</description></item>", i, title, html.EscapeString(body)))
		page = append(page, "<h2>"+title+"</h2>"+body)
	}
	var index match.Index
	for i := range 1000 {
		p := match.Profile{ID: fmt.Sprint(i), Revision: 1, Remember: 5}
		for range 3 {
			p.Group.Keywords = append(p.Group.Keywords, match.Keyword{Key: word() + " " + word(), Weight: 3}, match.Keyword{Key: word(), Weight: 2})
		}
		c, _, err := match.Compile(p)
		if err != nil {
			b.Fatal(err)
		}
		index.Add(c)
	}
	for _, c := range []struct {
		name, contentType, before string
		entries                   []string
	}{
		{"feed", "application/rss+xml", `<rss version="2.0"><channel><title>News</title>`, feed},
		{"page", "text/html", "<title>News</title>", page},
	} {
		read := func(from, to int) *extract.Result {
			d, err := extract.Document([]byte(c.before+strings.Join(c.entries[from:to], "\n")), c.contentType, "http://h/", extract.Options{})
			if err != nil {
				b.Fatal(err)
			}
			return d
		}
		known := match.Baseline(nil).Compare(read(1, 501).Text).Next
		body := []byte(c.before + strings.Join(c.entries[:500], "\n"))
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			alerts, blocks := 0, 0
			for b.Loop() {
				d, err := extract.Document(body, c.contentType, "http://h/", extract.Options{})
				if err != nil {
					b.Fatal(err)
				}
				found := known.Compare(d.Text)
				o := match.Options{Everyone: true, Seen: 1, Added: found.Added(5), Summary: 300}
				blocks, alerts = len(d.Text.Blocks), 0
				for range index.View().Match(d.Text, o) {
					alerts++
				}
			}
			b.ReportMetric(float64(alerts), "alerts")
			b.ReportMetric(float64(blocks), "blocks")
		})
	}
}
