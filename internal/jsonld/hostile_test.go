package jsonld

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/rdf"
)

// many returns n texts made from a format with their numbers, with commas.
func many(n int, format string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strings.ReplaceAll(format, "%d", strconv.Itoa(i)))
	}
	return b.String()
}

func nested(n int, before, inside, after string) string {
	return strings.Repeat(before, n) + inside + strings.Repeat(after, n)
}

const terms1000 = `{"@vocab": "v:", ` // and a thousand terms

// TestHostileDocuments reads what costs others much. The cost is counted: steps of reading and expansion, and
// definitions of terms, for each byte of a document. A limit that has to stop one is named.
func TestHostileDocuments(t *testing.T) {
	t.Parallel()
	// Less than the defaults, so that the test is short.
	limits := Limits{Limits: rdf.Limits{Triples: 35_000}, Definitions: 50_000}
	context1000 := terms1000 + many(1000, `"t%d": "v:t%d"`) + "}"
	for _, c := range []struct {
		name, body string
		limit      string // empty: it is read
		quads      int
	}{
		{"arrays in arrays", nested(1e5, "[", "", "]"), depthIs, 0},
		{"objects in objects", nested(1e5, `{"v:p":`, "1", "}"), depthIs, 0},
		{"arrays without an end", strings.Repeat("[", 1e6), depthIs, 0},
		{"as deep as can be", nested(255, `{"v:p":`, `{"v:q": 1}`, "}"), "", 256},
		{"deep lists", nested(127, `{"v:p": {"@list": [`, "1", "]}}"), depthIs, 0},
		{"values of one property", `{"v:p": [` + many(16000, "%d") + "]}", "", 16000},
		{"values with a term", `{"@context": {"p": {"@id": "v:p", "@type": "@id"}}, "p": [` + many(16000, `"v:%d"`) + "]}", "", 16000},
		{"properties of one node", "{" + many(16000, `"v:%d": 1`) + "}", "", 16000},
		{"types of one node", `{"@type": [` + many(16000, `"v:%d"`) + "]}", "", 16000},
		{"names for one property", `{"@context": {` + many(5000, `"t%d": "v:p"`) + "}, " + many(5000, `"t%d": %d`) + "}", "", 5000},
		{"a scoped context, many values", `{"@context": {"p": {"@id": "v:p", "@context": ` + context1000 + `}}, "p": [` +
			many(3000, `{"t1": %d}`) + "]}", "", 6000},
		{"a scoped context that names nothing", `{"@context": {"@vocab": "v:", "T": {"@context": [` + many(1000, "{}") + `]}},
			"p": [` + many(3000, `{"@context": {"x": "v:%d"}, "@type": "T"}`) + "]}", "definitions", 0},
		{"a context of a type, many nodes", `{"@context": {"T": {"@id": "v:T", "@context": ` + context1000 + `}}, "@graph": [` +
			many(3000, `{"@type": "T", "t1": %d}`) + "]}", "", 6000},
		{"one type many times", `{"@context": {"T": {"@id": "v:T", "@context": ` + context1000 + `}}, "@type": [` +
			many(16000, `"T"`) + "]}", "", 16000},
		{"types with contexts each", `{"@context": {"@vocab": "v:", ` + many(1000, `"T%d": {"@context": `+
			context1000[:len(context1000)/2]+`"":""}}`) + "}}", "", -1},
		{"contexts in contexts", `{"@context": ` + nested(120, `{"@vocab": "v:", "a": {"@context": `, "{}", "}}") + "}", "", 0},
		{"contexts in contexts, used", `{"@context": ` + nested(60, `{"@vocab": "v:", "b": {}, "a": {"@context": `, "{}", "}}") + `, ` +
			`"a": ` + nested(60, `{"a": `, "1", "}") + "}", "", 61},
		{"a context in each node", `{"v:p": [` + many(3000, `{"@context": {"p%d": "v:p"}, "p%d": 1}`) + "]}", "", 6000},
		{"schema.org in each node", `{"@context": "https://schema.org", "a": ` +
			nested(250, `{"@context": "https://schema.org", "a": `, "1", "}") + "}", "", 251},
		{"schema.org after a context, in each node", `{"v:p": [` +
			many(9000, `{"@context": [{"x": "v:%d"}, "https://schema.org"], "a": 1}`) + "]}", "definitions", 0},
		{"schema.org after a language, in each node", `{"v:p": [` +
			many(9000, `{"@context": [{"@language": "l-%d"}, "https://schema.org"], "a": 1}`) + "]}", "", 18000},
		{"terms that depend on terms", `{"@context": {` + many(5000, `"t%d": "t%d1:x"`) + "}}", "", 0},
		{"a chain of terms", `{"@context": {` + chain(5000) + `, "t5000": "v:"}}`, "terms of a context that depend", 0},
		{"IRIs that grow", `{"@context": {"a": "v:` + strings.Repeat("a", 8000) + `:", ` + many(16000, `"t%d": "a:%d"`) +
			`, "b": {"@id": "a:` + strings.Repeat("b", 500) + `"}}}`, "definitions", 0},
		{"long IRIs, many", `{"@context": {"a": "v:` + strings.Repeat("a", 8000) + `/"}, "@id": "v:s", "v:p": [` +
			many(16000, `{"@id": "a:%d"}`) + "]}", "bytes of IRIs that are made", 0},
		{"a long base", `{"@context": {"@base": "http://h/` + strings.Repeat("a/", 5000) + `"}, "@id": "x", "v:p": 1}`,
			"bytes of an IRI", 0},
		{"a long IRI", `{"@id": "v:` + strings.Repeat("a", 9000) + `", "v:p": 1}`, "bytes of an IRI", 0},
		{"a long language", `{"@context": {"@language": "a` + strings.Repeat("-bbbbbbbb", 1e5) + `"}, "v:p": [` + many(1000, `"%d"`) + "]}",
			"bytes of a language tag", 0},
		{"a language, many values", `{"@context": {"@language": "a` + strings.Repeat("-bbbbbbbb", 900) + `"}, "v:p": [` +
			many(16000, `"%d"`) + "]}", "bytes of IRIs, datatypes and languages", -1},
		{"a long datatype, many values", `{"@context": {"p": {"@id": "v:p", "@type": "v:` + strings.Repeat("a", 8000) + `"}}, "p": [` +
			many(16000, "%d") + "]}", "bytes of IRIs, datatypes and languages", -1},
		{"a long type, many nodes", `{"@context": {"T": "v:` + strings.Repeat("a", 8000) + `"}, "@graph": [` +
			many(16000, `{"@id": "v:%d", "@type": "T"}`) + "]}", "bytes of IRIs, datatypes and languages", -1},
		{"a long language that is none", `{"@context": {"@language": "a` + strings.Repeat("-b", 4e5) + `-!"}, "v:p": [` +
			many(30000, `"%d"`) + "]}", "bytes of a language tag", 0},
		{"a long type that is none, many nodes", `{"@context": {"T": "v:` + strings.Repeat("a", 1e6) + ` "}, "@graph": [` +
			many(10000, `{"@type": "T"}`) + "]}", "bytes of an IRI", 0},
		{"a long literal", `{"v:p": "` + strings.Repeat("a", 300<<10) + `"}`, "bytes of a literal", 0},
		{"a long number", `{"v:p": 1` + strings.Repeat("0", 300<<10) + `}`, "", 1},
		{"a large exponent", `{"v:p": 1e999999999999999999}`, "", 1},
		{"many triples", `[` + many(100, `{"@type": [`+many(400, `"v:a"`)+`]}`) + "]", "triples", 35_000},
		{"more values than triples", `{"v:p": [` + many(150_000, "{}") + `], "v:q": {"@id": "relative"}}`, "triples", 0},
		{"more values than are read", `{"v:p": {"@type": "@json", "@value": [` + many(300_000, "1") + `]}}`, "values of JSON", 0},
		{"as many as are read", `{"v:p": {"@type": "@json", "@value": [` + many(8*35_000-10, "1") + `]}}`, "bytes of a literal", 0},
		{"graphs of nothing", `{"@context": {"p": {"@id": "v:p", "@container": "@graph"}}, "p": [` + many(80_000, "{}") + `]}`, "triples", 0},
		{"nesting for its form alone", `{"@context": {"n": "@nest"}, ` + nested(250, `"n": {`, `"v:p": 1`, "}") + "}", "", 1},
		{"language maps", `{"@context": {"p": {"@id": "v:p", "@container": "@language"}}, "p": {` + many(16000, `"l%d": "x"`) + "}}",
			"", -1},
		{"index maps", `{"@context": {"p": {"@id": "v:p", "@container": "@index"}}, "p": {` + many(16000, `"l%d": "x"`) + "}}", "", 16000},
		{"a list", `{"v:p": {"@list": [` + many(16000, "%d") + "]}}", "", 32001},
		{"one node again and again", `[` + many(16000, `{"@id": "_:a", "v:p": {"@id": "_:b%d"}}`) + "]", "", 16000},
		{"errors with long names", `{"@context": {"` + strings.Repeat("x", 1<<20) + `": 1}}`, "", -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // generous: the cost is counted below
			defer cancel()
			w := &watch{ctx: ctx, about: &source{body: c.body}}
			definitions := 0
			err := catch(func() {
				p := newProcessor(w, nil, "", limits.withDefaults())
				defer func() { definitions = p.definitions }()
				root := read(w, c.body, limits.withDefaults())
				p.expand(&active{}, "", &root, false)
			})
			limit := (*rdf.LimitError)(nil)
			isLimit := errors.As(err, &limit) && strings.Contains(limit.What, "definitions")
			if most := 4*len(c.body) + 20000; !isLimit && w.steps+definitions > most {
				t.Errorf("%d bytes take %d steps and %d definitions", len(c.body), w.steps, definitions)
			}
			n := 0
			for _, err = range ToRDF(ctx, []byte(c.body), Options{Limits: limits}) {
				if err == nil {
					n++
				}
			}
			switch {
			case c.limit != "" && (!errors.As(err, &limit) || !strings.Contains(limit.What, c.limit)):
				t.Errorf("want the limit of %s, got %v", c.limit, err)
			case c.limit == "" && c.quads >= 0 && err != nil:
				t.Error(err)
			case c.quads < 0 && err != nil && len(err.Error()) > 1000:
				t.Errorf("a long error: %d bytes", len(err.Error()))
			case c.quads >= 0 && n != c.quads:
				t.Errorf("%d quads, want %d", n, c.quads)
			}
		})
	}
}

// chain returns terms each of which depends on the next.
func chain(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `%s"t%d": "t%d:x"`, strings.Repeat(",", min(i, 1)), i, i+1)
	}
	return b.String()
}

func TestLimitsAreOptions(t *testing.T) {
	t.Parallel()
	const body = `{"@context": {"a": "v:a", "b": "v:b"}, "a": [["long text"]], "b": {"@id": "v:long/iri"}}`
	for _, c := range []struct {
		limits Limits
		what   string
	}{
		{Limits{}, ""},
		{Limits{Limits: rdf.Limits{Triples: 1}}, "triples"},
		{Limits{Limits: rdf.Limits{Triples: 2}}, ""},
		{Limits{Limits: rdf.Limits{Literal: 8}}, "bytes of a literal"},
		{Limits{Limits: rdf.Limits{Literal: 9}}, ""},
		{Limits{Limits: rdf.Limits{IRI: 9}}, "bytes of an IRI"},
		{Limits{Limits: rdf.Limits{IRI: 10}}, ""},
		{Limits{Limits: rdf.Limits{Depth: 2}}, depthIs},
		{Limits{Limits: rdf.Limits{Depth: 3}}, ""},
		{Limits{Definitions: 2}, "definitions of terms"},
		{Limits{Definitions: 3}, ""},
		{Limits{Limits: rdf.Limits{Triples: -1, Literal: -1, IRI: -1, Depth: -1}, Definitions: -1}, ""},
	} {
		var err error
		for _, err = range ToRDF(t.Context(), []byte(body), Options{Limits: c.limits}) {
		}
		limit := (*rdf.LimitError)(nil)
		if c.what == "" && err != nil || c.what != "" && (!errors.As(err, &limit) || !strings.HasPrefix(limit.What, c.what)) {
			t.Errorf("%+v: %v, want %q", c.limits, err, c.what)
		}
	}
}
