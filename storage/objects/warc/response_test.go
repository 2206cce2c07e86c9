package warc

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Whatever a record holds: it is a response within the limit, or damage that is said.
func FuzzResponse(f *testing.F) {
	for _, block := range []string{
		"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nbody", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
		"HTTP/1.0 200\nContent-Encoding: gzip\n\n\x1f\x8b\x08\x00", "HTTP/2 404 x\r\nA: b\r\n c\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Encoding: br, zstd\r\n\r\nx",
	} {
		f.Add([]byte(block))
	}
	f.Fuzz(func(t *testing.T, block []byte) {
		const limit = 1000
		r, err := NewReader(strings.NewReader(fmt.Sprintf("WARC/1.0\r\nWARC-Type: response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", len(block), block)))
		if err != nil {
			t.Fatal(err)
		}
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		got, err := rec.Response(limit)
		var damaged *DamagedError
		if err != nil && !errors.As(err, &damaged) {
			t.Fatal(err)
		}
		if err == nil && (got.Status < 100 || got.Status > 999 || len(got.Body) > limit) {
			t.Fatalf("%+v", got)
		}
	})
}
