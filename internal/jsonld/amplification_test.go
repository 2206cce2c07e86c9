package jsonld

import (
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// TestAmplification reads each construct of JSON-LD, whose contexts mean more than is written.
func TestAmplification(t *testing.T) {
	repeated := testutil.Repeated
	for _, c := range []testutil.Construct{
		repeated("values", `{"v:p": [`, "%d,", "1]}"),
		repeated("properties", "{", `"v:%d": 1,`, `"v:q": 1}`),
		repeated("terms", `{"@context": {`, `"t%d": "v:t%d",`, `"a": "v:a"}, "a": 1}`),
		repeated("terms that depend on one", `{"@context": {"a": "v:a", `, `"t%d": "a:t%d",`, `"b": "v:b"}, "b": 1}`),
		repeated("lists of a term", `{"@context": {"p": {"@id": "v:p", "@container": "@list"}}, "p": [`, "%d,", "1]}"),
		repeated("languages of a term", `{"@context": {"p": {"@id": "v:p", "@container": "@language"}}, "p": {`, `"l%d": "a",`, `"en": "a"}}`),
		repeated("indexes of a term", `{"@context": {"p": {"@id": "v:p", "@container": "@index"}}, "p": {`, `"i%d": "a",`, `"i": "a"}}`),
		repeated("a context in each node", `{"v:p": [`, `{"@context": {"p%d": "v:p"}, "p%d": 1},`, `{"v:q": 1}]}`),
		repeated("schema.org in each node", `{"v:p": [`, `{"@context": "https://schema.org", "name": "a"},`, `{"v:q": 1}]}`),
		repeated("objects in objects", "", `{"v:p":`, ""),
		repeated("lists in lists", `{"v:p":`, `[`, ""),
		repeated("reverse properties", `{"@id": "v:s", "@reverse": {"v:p": [`, `{"@id": "v:%d"},`, `{"@id": "v:a"}]}}`),
		repeated("included nodes", `{"@included": [`, `{"v:p": 1},`, `{"v:p": 1}]}`),
		repeated("nodes of a property", `{"v:p": [`, `{"v:p": 1},`, `{"v:p": 1}]}`),
		repeated("nodes of which nothing is said", `{"v:p": [`, `{},`, `{}]}`),
		repeated("nodes of a type", `{"v:p": [`, `{"@type": "v:T"},`, `{}]}`),
		repeated("nodes with a direction", `{"@context": {"@direction": "ltr"}, "v:p": [`, `"",`, `""]}`),
		repeated("graphs of a term", `{"@context": {"p": {"@id": "v:p", "@container": "@graph"}}, "p": [`, `{"v:q": 1},`, `{"v:q": 1}]}`),
		repeated("graphs of which nothing is said", `{"@context": {"p": {"@id": "v:p", "@container": "@graph"}}, "p": [`, `{},`, `{}]}`),
		repeated("graphs in an index", `{"@context": {"p": {"@id": "v:p", "@container": ["@graph", "@index"]}}, "p": {`, `"%d": {},`, `"i": {}}}`),
		repeated("lists in a list", `{"@context": {"p": {"@id": "v:p", "@container": "@list"}}, "p": [`, `[],`, `[]]}`),
		repeated("lists of a value", `{"@context": {"p": {"@id": "v:p", "@container": "@list"}}, "p": [`, `[1],`, `[]]}`),
		repeated("JSON", `{"v:p": {"@type": "@json", "@value": [`, `[1],`, `1]}}`),
		repeated("keys that stand for nothing", `{"v:p": {`, `"%d": [1],`, `"a": 1}}`),
		repeated("objects of one key", `{"p": [`, `{"a": {}},`, `1]}`),
	} {
		testutil.Amplify(t, c, func(body []byte) (over bool) {
			for _, err := range ToRDF(t.Context(), body, Options{}) {
				over = over || err != nil
			}
			return over
		})
	}
}
