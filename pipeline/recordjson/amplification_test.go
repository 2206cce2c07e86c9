package recordjson

import (
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// TestAmplification reads each construct of JSON.
func TestAmplification(t *testing.T) {
	repeated, times := testutil.Repeated, strings.Repeat
	for _, c := range []testutil.Construct{
		repeated("numbers", "[", "1,", "1]"),
		repeated("decimals", "[", "0.1,", "1]"),
		repeated("digits", "", "1", ""),
		repeated("texts", "[", `"",`, "1]"),
		repeated("escapes", `"`, `\u00e9`, `"`),
		repeated("halves of pairs", `"`, `\ud800`, `"`),
		repeated("bytes that are no UTF-8", `"`, "\xff", `"`),
		repeated("empty lists", "[", "[],", "1]"),
		repeated("empty objects", "[", "{},", "1]"),
		repeated("objects of one field", "[", `{"":1},`, "1]"),
		repeated("objects in objects", "[", times(`{"":`, 90)+"1"+times("}", 90)+",", "1]"),
		repeated("lists in lists", "", "[", ""),
		repeated("lists of one", "[", times("[", 90)+times("]", 90)+",", "1]"),
		repeated("fields", "{", `"%d":1,`, `"a":1}`),
		repeated("a field again", "{", `"a":1,`, `"a":1}`),
		repeated("white space", "[", " ", "1]"),
	} {
		testutil.Amplify(t, c, func(body []byte) bool {
			_, err := new(Decoder).Decode(string(body))
			return err != nil
		})
	}
}
