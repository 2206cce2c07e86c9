package httpwire

import (
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// TestAmplification cleans heads of a megabyte, though fetch takes none so large.
func TestAmplification(t *testing.T) {
	repeated := testutil.Repeated
	const begin = "HTTP/1.1 200 OK\r\n"
	for _, c := range []testutil.Construct{
		repeated("fields", begin, "a%d: b\r\n", "\r\n"),
		repeated("lines that are no fields", begin, "a\r\n", "\r\n"),
		repeated("lines of a field", begin+"a: b\r\n", " c\r\n", "\r\n"),
		repeated("control characters", begin, "a: \x01\r\n", "\r\n"),
		repeated("blanks before colons", begin, "a : b\r\n", "\r\n"),
		repeated("lengths", begin, "Content-Length: 1\r\n", "\r\n"),
		repeated("lengths in a list", begin+"Content-Length: 1", ",1", "\r\n\r\n"),
		repeated("codings", begin+"Transfer-Encoding: chunked", ",chunked", "\r\n\r\n"),
		repeated("carriage returns", begin+"a: ", "\r", "\r\n\r\n"),
	} {
		testutil.Amplify(t, c, func(body []byte) bool {
			if n, _ := scan(body); n > 0 {
				return false
			}
			_, _, err := clean(body)
			return err != nil
		})
	}
}
