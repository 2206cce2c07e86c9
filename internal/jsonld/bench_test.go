package jsonld_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/jsonld"
)

// BenchmarkToRDF reads a page's product under schema.org's context, one of schema.org's size, and none.
func BenchmarkToRDF(b *testing.B) {
	var large strings.Builder
	large.WriteString(offerContext)
	for i := range 3000 {
		fmt.Fprintf(&large, `,"term%d":{"@id":"schema:term%d"}`, i, i)
	}
	large.WriteString("}}")
	contexts := jsonld.NewContexts(map[string][]byte{"https://example.org/large": []byte(large.String())})
	for _, c := range []struct{ name, context string }{
		{"SchemaOrg", `"https://schema.org/"`},
		{"LargeContext", `"https://example.org/large"`},
		{"OwnContext", `{"@vocab": "http://schema.org/", "dcterms": "http://purl.org/dc/terms/", "id": "@id"}`},
	} {
		body := []byte(strings.Replace(offer, `"https://schema.org/"`, c.context, 1))
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if got, err := quads(body, jsonld.Options{Base: "https://example.org/", Contexts: contexts}); err != nil || len(got) < 13 {
					b.Fatal(got, err)
				}
			}
		})
	}
}

const offerContext = `{"@context":{"@vocab":"http://schema.org/","schema":"http://schema.org/","dcterms":"http://purl.org/dc/terms/",` +
	`"id":"@id","type":"@type"`
