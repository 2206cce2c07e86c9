package xmlschema

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/internal/xpath"
)

// TestXPathLikeLibxml2 holds queries and selections of URDs and ACIs against libxml2. What it is given has no
// namespace, because XPath cannot name that without a prefix.
func TestXPathLikeLibxml2(t *testing.T) {
	for kind, names := range map[string]struct{ elements, attributes, values []string }{
		"urd": {
			[]string{"urd", "uri", "type", "keywords", "keyword", "group", "urgency", "depth", "selection", "select"},
			[]string{"id", "owner", "key", "weight", "match", "protocol", "urgent", "level", "threshold"},
			[]string{"'http'", "'any'", "'3'", "'1'", "'u1'", "''", "'http://a.example/'"},
		},
		"aci": {
			[]string{"aci", "uri", "title", "keyword", "keywords", "summary", "change", "expired"},
			[]string{"id", "owner", "key", "weight", "relevance", "urd", "expir"},
			[]string{"'true'", "'3'", "'1'", "'u1'", "''", "'http://a.example/'"},
		},
	} {
		t.Run(kind, func(t *testing.T) {
			var documents []string
			var trees []*xpath.Tree
			var tables [][]byte
			for seed := range uint64(60) {
				document := newGenerator(seed).urd().Canonical()
				if kind == "aci" {
					document = newGenerator(seed).aci().Canonical()
				}
				bare := strings.Replace(string(document), ` xmlns="`+Namespace+`"`, "", 1)
				table := mustTable(t, document)
				opened, err := openTable(table)
				if err != nil {
					t.Fatal(err)
				}
				e := &evaluation{t: opened}
				documents, trees, tables = append(documents, bare), append(trees, e.grow()), append(tables, table)
			}
			r := rand.New(rand.NewPCG(2, 14))
			g := &testutil.XPathGenerator{Rand: r, Elements: names.elements, Attributes: names.attributes, Values: names.values}
			expression := func() string {
				if r.IntN(4) > 0 {
					return g.Expression()
				}
				return "/" + kind + "[" + g.Predicates() + "]"
			}
			testutil.CompareXPath(t, g, documents, trees, nil, expression, func(t *testing.T, q testutil.XPathQuestion, want testutil.XPathAnswer) {
				t.Helper()
				if !strings.HasPrefix(q.Expression, "/"+kind+"[") || !strings.HasSuffix(q.Expression, "]") {
					return // a query begins at the root, where that may make a difference
				}
				query, err := Compile(q.Expression)
				if err != nil {
					t.Fatal(err)
				}
				got, err := query.Match(t.Context(), tables[q.Document])
				if query.Decided() || err != nil {
					return // hints answer it, or it needs more steps than a query may take
				}
				if got != want.True {
					t.Errorf("%s: a match is %v, want %v\n of %s", q.Expression, got, want.True, documents[q.Document])
				}
			})
		})
	}
}
