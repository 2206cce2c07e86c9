package jsonld

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/testutil"
)

// FuzzToRDF reads a document under a context of its own URL. Whatever the two are:
//   - it states the same if the keys of all objects stand in another order, and if no context is compiled to be shared,
//   - what it states is well-formed N-Quads, also where IRIs are percent-encoded and what is no JSON is passed over,
//   - what is JSON is read as strictly if more than that may be.
func FuzzToRDF(f *testing.F) {
	for _, seed := range fuzzSeeds {
		f.Add(seed[0], seed[1])
	}
	if dir := os.Getenv("WEBRACE_W3C"); dir != "" { // the documents of the suite are good seeds
		files, err := filepath.Glob(filepath.Join(dir, "json-ld-api/tests/toRdf/*-in.jsonld"))
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			body, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(fuzzSeeds[0][0], string(body))
			f.Add(string(body), fuzzSeeds[0][1])
		}
	}
	f.Fuzz(func(t *testing.T, contextBody, body string) {
		contexts := NewContexts(map[string][]byte{fuzzContext: []byte(contextBody)})
		got, err := say(t.Context(), body, contexts, true)
		wellFormed(t, got)
		o := Options{Base: "https://example.org/d/", Contexts: contexts, Limits: fuzzLimits, Lenient: true, Told: func(*Error) {}}
		leniently, errLeniently := collect(t.Context(), body, o)
		strictly, errStrictly := collect(t.Context(), body, Options{Base: o.Base, Contexts: contexts, Limits: fuzzLimits})
		if errStrictly == nil && (errLeniently != nil || testutil.Isomorphic(strictly, leniently) != "") {
			t.Fatalf("leniently it says %v (%v), not %v", leniently, errLeniently, strictly)
		}
		o.Escape = true
		escaped, _ := collect(t.Context(), body, o)
		wellFormed(t, escaped)
		for name, other := range map[string]func() ([]rdf.Quad, error){
			"without compiled contexts": func() ([]rdf.Quad, error) { return say(t.Context(), body, contexts, false) },
			"with its keys reversed": func() ([]rdf.Quad, error) {
				var root value
				if catch(func() {
					root = read(&watch{ctx: t.Context(), about: &source{body: body}}, body, Limits{Limits: rdf.Limits{Triples: -1, Depth: 64}}.withDefaults())
				}) != nil {
					return got, err
				}
				return say(t.Context(), string(appendReversed(nil, &root)), contexts, true)
			},
		} {
			again, errAgain := other()
			if (err == nil) != (errAgain == nil) {
				t.Fatalf("%s the error is %v, not %v", name, errAgain, err)
			}
			if err != nil {
				continue
			}
			if difference := testutil.Isomorphic(got, again); difference != "" {
				t.Fatalf("%s: %s", name, difference)
			}
		}
	})
}

const fuzzContext = "https://example.org/context"

// fuzzLimits are small, so that nothing takes long.
var fuzzLimits = Limits{Limits: rdf.Limits{Triples: 200, Depth: 64}, Definitions: 5000}

// say returns what a document states, if it is JSON-LD within its limits.
func say(ctx context.Context, body string, contexts *Contexts, compiled bool) (quads []rdf.Quad, err error) {
	limits := fuzzLimits.withDefaults()
	w := &watch{ctx: ctx, about: &source{body: body}}
	err = catch(func() {
		root := read(w, body, limits)
		p := newProcessor(w, contexts, "https://example.org/d/", limits)
		p.compiling = !compiled
		e := newEmitter(w, Options{}, limits, func(q rdf.Quad, err error) bool {
			quads = append(quads, q)
			return true
		})
		if e.nodes(p.expand(&active{base: p.origin}, "", &root, false).nodes); e.err != nil {
			panic(failure{e.err})
		}
	})
	return quads, err
}

func collect(ctx context.Context, body string, o Options) (quads []rdf.Quad, err error) {
	for q, err := range ToRDF(ctx, []byte(body), o) {
		if err != nil {
			return quads, err
		}
		quads = append(quads, q)
	}
	return quads, nil
}

func wellFormed(t *testing.T, quads []rdf.Quad) {
	var b strings.Builder
	w := rdf.NewWriter(&b, rdf.NQuads, nil)
	for _, q := range quads {
		if err := w.Write(q); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	n := 0
	unlimited := rdf.Limits{Triples: -1, Literal: -1, IRI: -1}
	for q, err := range rdf.Parse(t.Context(), strings.NewReader(b.String()), rdf.NQuads, rdf.Options{Limits: unlimited}) {
		if err != nil {
			t.Fatalf("it says what is no RDF: %v\n%s", err, b.String())
		}
		if rdf.KindOf(q.Object) == rdf.Literal && q.Object != quads[n].Object {
			t.Fatalf("%s is read back as %s", quads[n].Object, q.Object)
		}
		n++
	}
	if n != len(quads) {
		t.Fatalf("%d quads are read back as %d", len(quads), n)
	}
}

// appendReversed writes a value with the keys of its objects in reverse order.
func appendReversed(b []byte, v *value) []byte {
	switch v.kind {
	case number:
		return append(b, v.text...)
	case array:
		b = append(b, '[')
		for i := range v.all() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendReversed(b, &v.items[i])
		}
		return append(b, ']')
	case object:
		b = append(b, '{')
		keys, items := v.members()
		for i, key := range slices.Backward(keys) {
			if i < len(keys)-1 {
				b = append(b, ',')
			}
			b = appendReversed(append(appendString(b, key), ':'), &items[i])
		}
		return append(b, '}')
	default:
		return appendCanonical(b, v)
	}
}

// fuzzSeeds are contexts and documents.
var fuzzSeeds = [][2]string{
	{`{"@context": {"@vocab": "v:", "a": {"@type": "@id", "@container": ["@graph", "@id", "@set"]}}}`,
		`{"@context": "https://example.org/context", "a": {"x": {"b": 1}, "@none": [{"b": [1.5, true, null]}]}}`},
	{`{"@context": {"@language": "de", "p": "v:p#", "T": {"@id": "p:T", "@context": {"q": {"@reverse": "p:q"}}}}}`,
		`[{"@context": ["https://example.org/context", {"@propagate": false, "id": "@id"}], "@type": "T", "id": "#x",
			"q": [{"p:r": {"@list": ["x", ["y"]]}}, {"@id": "_:b"}]}]`},
	{`{"@context": {"@version": 1.1, "@protected": true, "n": "@nest", "l": {"@id": "v:l", "@container": "@language"},
		"i": {"@id": "v:i", "@container": "@index", "@index": "v:k"}, "j": {"@id": "v:j", "@type": "@json"}}}`,
		`{"@context": [{"@language": "el", "@direction": "rtl"}, "https://example.org/context"],
			"n": {"l": {"en": "x", "@none": ["y"]}}, "i": {"1": {"v:p": {"@value": "1", "@type": "v:t"}}},
			"j": {"b": [1, {}], "a": null}, "@included": {"@id": "v:1", "@index": "1"}, "@reverse": {"v:r": {"@id": "v:2"}}}`},
	{`{"@context": ["https://schema.org", {"t": {"@id": "v:t", "@container": "@type"}, "d": {"@context": null, "@id": "v:d"}}]}`,
		`{"@context": {"@import": "context", "@base": "../x/"}, "@graph": [{"@id": "y", "t": {"z": {"d": {"v:e": 1e21}}}}]}`},
	{`{"@context": {"@vocab": "", "c": {"@id": "v:c", "@prefix": true, "@container": "@list"}, "d": "c:d"}}`,
		`{"@context": "https://example.org/context", "c": [[{"d": "\ud83d\ude00"}], []], "e": {"@set": [{"@value": "\u0001"}]}}`},
}
