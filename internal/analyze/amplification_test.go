package analyze

import (
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/testutil"
)

// TestAmplification takes texts of one block apart, in scripts with words and without.
func TestAmplification(t *testing.T) {
	repeated := testutil.Repeated
	for _, c := range []testutil.Construct{
		repeated("words", "", "word%d ", ""),
		repeated("one word", "", "a ", ""),
		repeated("a long word", "", "a", ""),
		repeated("words of the same beginning", strings.Repeat("a", 1000), "a%d ", ""),
		repeated("accents", "", "é%d ", ""),
		repeated("accents upon accents", "a", "\u0301", ""),
		repeated("characters without words", "", "東京", ""),
		repeated("syllables", "", "ภาษา", ""),
		repeated("ligatures", "", "ﷺ", ""),
		repeated("signs", "", "-'", ""),
		repeated("blanks", "", " ", ""),
		repeated("bytes that are no UTF-8", "", "\xff", ""),
	} {
		testutil.Amplify(t, c, func(body []byte) bool {
			new(Analyzer).Analyze(&webrace.Text{Bytes: body, Blocks: []webrace.Block{{End: int32(len(body))}}})
			return false
		})
	}
}
