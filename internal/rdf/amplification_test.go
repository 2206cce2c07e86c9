package rdf_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/testutil"
)

// TestAmplification reads what a file of quads may have without end: names that the parser has to keep.
func TestAmplification(t *testing.T) {
	repeated := testutil.Repeated
	const begin = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">`
	for _, c := range []struct {
		syntax rdf.Syntax
		testutil.Construct
	}{
		{rdf.NTriples, repeated("labels", "", "_:a%d <v:b> <v:c> .\n", "")},
		{rdf.NTriples, repeated("broken lines", "", "<v:a\n", "")},
		{rdf.NTriples, repeated("comments", "", "#\n", "")},
		{rdf.Turtle, repeated("prefixes", "", "@prefix a%d: <v:> .\n", "")},
		{rdf.Turtle, repeated("bases", "<v:a> <v:b> 1 .", "@base <http://h/%d/> . ", "")},
		{rdf.Turtle, repeated("labels of Turtle", "", "_:a%d a _:b%d .\n", "")},
		{rdf.Turtle, repeated("objects", "_:a a ", "_:b%d,", "_:c .")},
		{rdf.Turtle, repeated("nodes", "", "[] a [] .", "")},
		{rdf.Turtle, repeated("lists", "_:a a (", "() ", ") .")},
		{rdf.Turtle, repeated("digits", "_:a a ", "1", " .")},
		{rdf.TriG, repeated("graphs", "", "_:g%d { _:a a _:b } ", "")},
		{rdf.TriG, repeated("graphs in graphs", "", "_:g { ", "")},
		{rdf.RDFXML, repeated("ids", begin, `<a xmlns="v:" rdf:ID="i%d"/>`, "</rdf:RDF>")},
		{rdf.RDFXML, repeated("members", begin+"<rdf:Bag>", `<rdf:li rdf:resource="v:a"/>`, "</rdf:Bag></rdf:RDF>")},
		{rdf.RDFXML, repeated("labels of RDF/XML", begin, `<rdf:Bag rdf:nodeID="i%d"/>`, "</rdf:RDF>")},
		{rdf.RDFXML, repeated("entities of entities", `<!DOCTYPE a [<!ENTITY b "c">`, `<!ENTITY a%d "&b;&b;">`, `]>`+begin+"</rdf:RDF>")},
		{rdf.RDFXML, repeated("namespaces", strings.TrimSuffix(begin, ">"), ` xmlns:a%d="v:"`, "/>")},
		{rdf.RDFXML, repeated("elements in elements", begin, "<rdf:Bag><rdf:li>", "")},
	} {
		testutil.Amplify(t, c.Construct, func(body []byte) (over bool) {
			for _, err := range rdf.Parse(t.Context(), bytes.NewReader(body), c.syntax, rdf.Options{Base: "http://h/", Limits: rdf.Limits{Triples: -1, Literal: -1}}) {
				over = err != nil
			}
			return over
		})
	}
}
