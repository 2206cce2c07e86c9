package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// TestAmplification reads archives that others have written, whole and broken.
func TestAmplification(t *testing.T) {
	repeated := testutil.Repeated
	response := func(name, head string) testutil.Construct {
		return testutil.Construct{Name: name, Grow: func(size int) []byte {
			block := repeated("", "HTTP/1.1 200 OK\r\na: b\r\n", head, "\r\n").Grow(min(size, maxHTTPHead))
			one := fmt.Sprintf("WARC/1.0\r\nWARC-Type: response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", len(block), block)
			return bytes.Repeat([]byte(one), max(1, size/len(one)))
		}}
	}
	zipped := func(name, unit string) testutil.Construct {
		return testutil.Construct{Name: name, Grow: func(size int) []byte { return bytes.Repeat([]byte(zip(unit)), size/len(zip(unit))) }}
	}
	for _, c := range []testutil.Construct{
		repeated("records", "", record("%d", "a"), ""),
		repeated("records without anything", "", "WARC/1.0\r\nWARC-Type: a\r\nContent-Length: 0\r\n\r\n\r\n\r\n", ""),
		repeated("fields", "WARC/1.0\r\n", "a%d: b\r\n", "\r\n"),
		repeated("lines of a field", "WARC/1.0\r\na: b\r\n", " c\r\n", "\r\n"),
		repeated("headers without an end", "", "WARC/1.0\r\n", ""),
		repeated("what is no record", "", "WARC/2", ""),
		repeated("lines", "", "\n", ""),
		response("fields of HTTP", "a%d: b\r\n"),
		response("one field of HTTP", "a: b\r\n"),
		response("lines of fields of HTTP", "a: b\r\n c\r\n"),
		response("lines of a field of HTTP", " c\r\n"),
		zipped("members", record("1", "a")),
		zipped("members without anything", ""),
		zipped("members that are cut", record("1", "a")[:40]),
	} {
		testutil.Amplify(t, c, func(body []byte) (over bool) {
			r, err := NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			for {
				rec, err := r.Next()
				if errors.Is(err, io.EOF) {
					return over
				}
				if over = over || err != nil; err != nil {
					continue
				}
				_, _ = rec.Response(1 << 20)
			}
		})
	}
}
