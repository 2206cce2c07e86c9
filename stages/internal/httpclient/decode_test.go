package httpclient

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace/stages/internal/httpclient/clienttest"
)

// decode takes encodings off as the stage does. The error is why they are not all off.
func decode(body []byte, encodings []string, limit int) (text []byte, truncated bool, err error) {
	response := &http.Response{
		Header: http.Header{"Content-Encoding": encodings}, ContentLength: -1, Body: io.NopCloser(bytes.NewReader(body)),
	}
	a := &Response{}
	if err := a.read(response, limit, func() bool { return true }, func(int) error { return nil }); err != nil {
		return nil, false, err
	}
	defer a.Release()
	return slices.Clone(a.Body), a.Truncated != "", a.Broken
}

func TestEncodingsComeOff(t *testing.T) {
	t.Parallel()
	random := make([]byte, 100_000)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range random {
		random[i] = byte(r.IntN(256))
	}
	for _, body := range [][]byte{nil, []byte("x"), bytes.Repeat([]byte("abc"), 50_000), random} {
		for _, encodings := range []string{"gzip", "deflate", "br", "zstd", "gzip br", "zstd deflate gzip"} {
			list := strings.Fields(encodings)
			wire := body
			for _, encoding := range list {
				wire = clienttest.Encode(t, encoding, wire)
			}
			got, truncated, err := decode(wire, list, 1<<20)
			if err != nil || truncated || !bytes.Equal(got, body) {
				t.Errorf("%s of %d bytes: %d bytes, truncated %v, %v", encodings, len(body), len(got), truncated, err)
			}
		}
	}
}

func TestWhatServersSendIsUnderstood(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		encoding string
		wire     []byte
		want     string
	}{
		"bare deflate":            {"deflate", clienttest.Encode(t, "bare", []byte("page")), "page"},
		"two members":             {"gzip", append(clienttest.Encode(t, "gzip", []byte("one ")), clienttest.Encode(t, "gzip", []byte("two"))...), "one two"},
		"an empty member":         {"gzip", append(clienttest.Encode(t, "gzip", nil), clienttest.Encode(t, "gzip", []byte("two"))...), "two"},
		"padding after gzip":      {"gzip", append(clienttest.Encode(t, "gzip", []byte("page")), 0, 0, 0), "page"},
		"a comment after gzip":    {"gzip", append(clienttest.Encode(t, "gzip", []byte("page")), "<!-- served in 3 ms -->"...), "page"},
		"the largest zstd window": {"zstd", []byte("\x28\xb5\x2f\xfd\x00\x68\x01\x00\x00"), ""},
		"nothing, called gzip":    {"gzip", nil, ""},
		"nothing, called brotli":  {"br", nil, ""},
		"nothing, called zstd":    {"zstd", nil, ""},
	} {
		got, truncated, err := decode(c.wire, []string{c.encoding}, 1<<20)
		if err != nil || truncated || string(got) != c.want {
			t.Errorf("%s: %q, truncated %v, %v", name, got, truncated, err)
		}
	}
}

func TestLengthsAreBelievedUpToAPoint(t *testing.T) {
	t.Parallel()
	for _, length := range []int64{-1, 0, 1, 1000, 1 << 40, 1<<63 - 1} {
		for layers := range 3 {
			if hint := sizeHint(length, layers); hint < 0 || hint > 1<<20 || layers == 0 && length < 1<<19 && int64(hint) < length {
				t.Errorf("%d bytes in %d layers: a buffer of %d", length, layers, hint)
			}
		}
	}
}

func TestBuffersHoldWhatIsRead(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for worker := range 8 { // the pool is shared
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(worker), 3))
			for range 50 {
				body := bytes.Repeat([]byte{byte(worker)}, r.IntN(100_000))
				limit := r.IntN(100_000)
				b := newBuffer(r.IntN(50_000))
				truncated, err := b.fill(bytes.NewReader(body), limit, nil)
				if err != nil || truncated != (len(body) > limit) || !bytes.Equal(b.bytes, body[:min(len(body), limit)]) {
					t.Errorf("%d bytes, limit %d: %d, truncated %v, %v", len(body), limit, len(b.bytes), truncated, err)
				}
				b.free()
			}
		})
	}
	all.Wait()
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func TestAReaderThatGivesNothingIsGivenUp(t *testing.T) {
	t.Parallel()
	b := newBuffer(0)
	defer b.free()
	if _, err := b.fill(idle{}, 10, nil); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("error %v", err)
	}
}

// FuzzDecode holds whatever claims to be encoded to the limit, and to the standard library's opinion of
// a valid gzip stream; what is called whole is decoded, or as it came.
func FuzzDecode(f *testing.F) {
	names := []string{"gzip", "deflate", "br", "zstd"}
	for i, name := range names {
		f.Add(byte(i), clienttest.Encode(f, name, []byte("hello hello hello")))
		f.Add(byte(i), []byte("\x1f\x8b\b\xe0\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
		f.Add(byte(i|i<<2|16), clienttest.Encode(f, name, clienttest.Encode(f, name, []byte("hello"))))
	}
	f.Fuzz(func(t *testing.T, which byte, wire []byte) {
		const limit = 1000
		encodings := []string{names[which&3]}
		if which&16 != 0 {
			encodings = append(encodings, names[which>>2&3])
		}
		got, truncated, err := decode(wire, encodings, limit)
		if len(got) > limit || truncated && len(got) != limit && err == nil && len(wire) <= limit {
			t.Fatalf("%d bytes, truncated %v, %v", len(got), truncated, err)
		}
		if err != nil && !truncated && len(encodings) == 1 && !bytes.Equal(got, wire) {
			t.Fatalf("%q: %q, which is neither decoded nor as it came: %v", wire, got, err)
		}
		if len(encodings) > 1 || encodings[0] != "gzip" {
			return
		}
		want, ok := gunzip(wire)
		reserved := errors.Is(err, gzip.ErrHeader) // RFC 1952, section 2.3.1.2, wants an error at flags that the library overlooks
		if ok && !reserved && len(want) <= limit && (err != nil || !bytes.Equal(got, want)) {
			t.Fatalf("%q: %q, %v; the standard library says %q", wire, got, err, want)
		}
	})
}

func gunzip(wire []byte) ([]byte, bool) {
	r, err := gzip.NewReader(bytes.NewReader(wire))
	if err != nil {
		return nil, false
	}
	got, err := io.ReadAll(io.LimitReader(r, 1<<20))
	return got, err == nil
}
