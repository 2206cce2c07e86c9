package jsonld

import (
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// TestAmplification reads each construct of JSON-LD, whose contexts mean more than is written.
func TestAmplification(t *testing.T) {
	repeated := testutil.Repeated
	// taking is for objects of one value each: no limit counts them while they are read, as it does what they say.
	taking := func(most uint64, c testutil.Construct) testutil.Construct {
		c.Most = most
		return c
	}
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
		taking(72<<20, repeated("included nodes", `{"@included": [`, `{"v:p": 1},`, `{"v:p": 1}]}`)),
		taking(96<<20, repeated("graphs of a term", `{"@context": {"p": {"@id": "v:p", "@container": "@graph"}}, "p": [`, `{"v:q": 1},`, `{"v:q": 1}]}`)),
	} {
		testutil.Amplify(t, c, func(body []byte) (over bool) {
			for _, err := range ToRDF(t.Context(), body, Options{}) {
				over = over || err != nil
			}
			return over
		})
	}
}
