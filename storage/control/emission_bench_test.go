package control_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// pagesACI makes the annotation of one page for the nth of many owners, as the keyword filter does.
func pagesACI(n int) *xmlschema.ACI {
	return &xmlschema.ACI{
		ID: fmt.Sprintf("%064x", uint64(n+1)*0x9e3779b97f4a7c15), URD: fmt.Sprintf("u%07d", n), Owner: fmt.Sprintf("owner%07d", n),
		URI: "https://www.example.org/news/2026/11/regatta.html", Title: "The regatta begins on the river", Extension: "html", Format: xmlschema.FormatHTML,
		Urgency: 1 + n%3, Relevance: n % 101, UpdateTime: time.Unix(1e9, 0).UTC(), FileSize: 71_234,
		Summary: "The «regatta» begins at nine on the river. «Boats» of four & eight follow one another from the bridge to the mill, and the crowd is",
		Docbase: xmlschema.Docbase{Digest: "sha256:54c98528aa54c98528aa54c98528aa54c98528aa54c98528aa54c98528aa9a13", Version: 3},
		Explain: &xmlschema.Explain{Relevance: n % 101, Threshold: 20, Keywords: []xmlschema.KeywordShare{
			{Key: "regatta", Weight: 5, Title: 1, Heading: 1, Body: 1, Saturation: 0.9, Share: 0.9},
			{Key: "boat", Weight: 3, Body: 1, Saturation: 0.563, Share: 0.338},
			{Key: "annual report", Weight: 2},
		}},
	}
}

// BenchmarkPutACIs stores the annotations of a page that concerns many owners, in groups.
func BenchmarkPutACIs(b *testing.B) {
	for _, budget := range []int{0, 100} {
		for _, group := range []int{256, 4096} {
			b.Run(fmt.Sprintf("budget=%d/group=%d", budget, group), func(b *testing.B) {
				s, err := control.Open(filepath.Join(b.TempDir(), "control.db"), control.Options{})
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				if err := s.SetBudget(b.Context(), "", &control.Budget{Alerts: budget}); err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				n := 0
				for b.Loop() {
					acis := make([]*xmlschema.ACI, group)
					for i := range acis {
						acis[i] = pagesACI(n)
						n++
					}
					if _, err := s.PutACIs(b.Context(), acis); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "annotations/s")
			})
		}
	}
}
