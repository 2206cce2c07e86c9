package httpin

import (
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// TestAmplification reads bodies that anybody may send.
func TestAmplification(t *testing.T) {
	repeated, times := testutil.Repeated, strings.Repeat
	urls := Options{Format: "urls"}
	for _, c := range []struct {
		options Options
		testutil.Construct
	}{
		{Options{}, repeated("records", "", `{"a":%d}`, "")},
		{Options{}, repeated("records of an array", "[", `{"a":1},`, `{"a":1}]`)},
		{Options{}, repeated("empty records", "", "{}", "")},
		{Options{}, repeated("fields", "{", `"a%d":1,`, `"a":1}`)},
		{Options{}, repeated("numbers of a field", `{"a":[`, "1,", "1]}")},
		{Options{}, repeated("objects of a field", `{"a":[`, `{"":1},`, "1]}")},
		{Options{}, repeated("objects in objects", `{"a":[`, times(`{"":`, 90)+"1"+times("}", 90)+",", "1]}")},
		{Options{}, repeated("arrays in arrays", "", "[", "")},
		{Options{}, repeated("arrays", "", "[]", "")},
		{Options{}, repeated("escapes", `{"a":"`, `\u00e9`, `"}`)},
		{urls, repeated("URLs", "", "http://h/%d\n", "")},
		{urls, repeated("lines", "", "#\n", "")},
	} {
		testutil.Amplify(t, c.Construct, func(body []byte) bool {
			_, err := c.options.values(body)
			return err != nil
		})
	}
}
