package textdiff

import (
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// TestAmplification compares versions of pages whose owners make them as unlike as they please.
func TestAmplification(t *testing.T) {
	repeated := testutil.Repeated
	for _, c := range []testutil.Construct{
		repeated("other blocks", "", "a%d\n", ""),
		repeated("blocks of a few words", "", "a b c\nb c a\nc a b\n", ""),
		repeated("blocks that are alike", "", "word after word of a block %d\n", ""),
		repeated("words of a block", "", "a%d ", ""),
		repeated("one word", "", "a ", ""),
	} {
		testutil.Amplify(t, c, func(body []byte) bool {
			body = body[:len(body)/2] // of which two texts are made
			old := textOf(strings.Split(string(body), "\n")...)
			now := textOf(strings.Split(strings.ReplaceAll(string(body), "a", "x"), "\n")...)
			Summary(old, now, nil, 1000)
			return false
		})
	}
}
