package xslt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
)

// BenchmarkTransform has a page of 60 KB, from which a stylesheet takes its products, a list of berths, and a page that
// no rule is about.
func BenchmarkTransform(b *testing.B) {
	var page, berths strings.Builder
	page.WriteString(`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Shop</title></head><body>`)
	for i := range 300 {
		fmt.Fprintf(&page, `<div class="nav item"><a class="link" href="/somewhere/%d" title="Somewhere">Somewhere <b>else</b></a><p class="text">Some words that say nothing in particular, but are many, as on any page there is.<br></div>`, i)
	}
	for range 40 {
		page.WriteString(`<li class="person">Nina<br>K.`)
	}
	berths.WriteString(`<berths xmlns="http://harbour.example/ns#">`)
	for i := range 100 {
		fmt.Fprintf(&berths, `<berth number="%d" ship="s%d"><depth>7.5</depth></berth><ship id="s%d">Ship</ship>`, i, i, i)
	}
	berths.WriteString("</berths>")
	o := berthOptions()
	o.Rules = append(o.Rules, Rule{MediaType: "text/html", Stylesheet: "testdata/people.xsl"})
	made, err := newStage(o, pipeline.NewEnv("p", "xslt", nil))
	if err != nil {
		b.Fatal(err)
	}
	s := made.(*stage)
	if err := s.Open(b.Context()); err != nil {
		b.Fatal(err)
	}
	for name, d := range map[string]*webrace.Document{
		"page": documentOf("text/html", page.String()), "berths": documentOf("application/xml", berths.String()), "no rule": documentOf("text/turtle", page.String()),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(d.Body)))
			b.ReportAllocs()
			for b.Loop() {
				in := newInput(d)
				sheet := s.sheetFor(in)
				if sheet == nil && name == "no rule" {
					continue
				}
				if out, err := s.transformed(b.Context(), in, sheet); err != nil || out.Graph != nil || out.MediaType == d.MediaType {
					b.Fatal(out, err)
				}
			}
		})
	}
}
