package httpin

import (
	"reflect"
	"strings"
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

// What a record cannot hold as it came is refused, with the record and where in the body.
func TestRecordsThatCannotBeAsTheyCame(t *testing.T) {
	t.Parallel()
	for body, says := range map[string]string{
		"{\"a\":1}\n{\"a\":\"\xff\"}":         "record 1, at byte 14: it is not UTF-8",
		`[{"a":1},{"b":"\ud800"}]`:            `record 1, at byte 15: half of a surrogate pair`,
		`{"a":1,"a":2}`:                       "record 0, at byte 7: the name is given twice",
		"\uFEFF{\"a\":1e999}":                 "record 0, at byte 8: ",
		`{"a":1}[{"a":2},[]]`:                 "record 2, at byte 16: an array within an array",
		`{"a":{"b":1,"b":2}}` + "\n{\"a\":1}": "record 0, at byte 12: the name is given twice",
		`{"a":1} 7`:                           "record 1, at byte 8: \"7\" is no object of JSON",
	} {
		values, err := records([]byte(body))
		if err == nil || !strings.HasPrefix(err.Error(), says) || values != nil {
			t.Errorf("%s: %v, %v", body, values, err)
		}
	}
}
