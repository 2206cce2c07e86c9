package httpin

import (
	"reflect"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
)

// FuzzBody holds that a body is an error or items, and never both, whatever the format.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{"", "{}", `[{"a":1},{}]`, "{}\n{}", "http://a.org/\n#x", "[[]]", "null", "\uFEFF{}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, format := range []string{"records", "bytes", "urls"} {
			values, err := with(func(o *Options) { o.Format = format }).values(body)
			if (err == nil) == (len(values) == 0) {
				t.Fatalf("%s: %d values and %v", format, len(values), err)
			}
			for _, v := range values {
				kind := map[string]reflect.Type{"records": reflect.TypeFor[pipeline.Record](), "bytes": reflect.TypeFor[[]byte](), "urls": reflect.TypeFor[webrace.Request]()}[format]
				if reflect.TypeOf(v) != kind {
					t.Fatalf("%s gives a %T", format, v)
				}
			}
		}
	})
}
