package contentcoding

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"slices"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

func encode(t testing.TB, coding string, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "br":
		w = brotli.NewWriterLevel(&b, 1)
	case "zstd":
		var err error
		if w, err = zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWhichStatusesBringADocument(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]bool{200: true, 203: true, 299: true, 100: false, 204: false, 205: false, 206: false, 304: false, 404: false, 500: false} {
		if HasDocument(status) != want {
			t.Errorf("%d %s: %v", status, http.StatusText(status), !want)
		}
	}
}

// TestDecodersAreFitForUseAfterAnything: a decoder that met a broken body decodes the next.
func TestDecodersAreFitForUseAfterAnything(t *testing.T) {
	t.Parallel()
	page := bytes.Repeat([]byte("page "), 1000)
	for encoding := range decoders {
		l := decoders[encoding].New().(*layer)
		good := encode(t, encoding, page)
		for _, bad := range [][]byte{nil, good[:1], good[:len(good)/2], []byte("nonsense"), append([]byte{0xff}, good...)} {
			l.begin(bytes.NewReader(bad))
			_, _ = io.Copy(io.Discard, l)
			l.begin(bytes.NewReader(good))
			if got, err := io.ReadAll(l); err != nil || !bytes.Equal(got, page) {
				t.Errorf("%s after %.10q: %d bytes, %v", encoding, bad, len(got), err)
			}
		}
	}
}

func TestContentEncodings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fields []string
		want   []string
		fails  bool
	}{
		{nil, nil, false},
		{[]string{"", " , "}, nil, false},
		{[]string{"GZIP"}, []string{"gzip"}, false},
		{[]string{"x-gzip"}, []string{"gzip"}, false},
		{[]string{"identity"}, nil, false},
		{[]string{"gzip , br", "zstd"}, []string{"gzip", "br", "zstd"}, false},
		{[]string{"gzip;q=1"}, nil, true},
		{[]string{"utf-8, gzip", "none"}, []string{"gzip"}, true},
		{[]string{"utf-8"}, nil, true},
		{[]string{"gzip,gzip,gzip,gzip"}, nil, true},
	} {
		got, err := Names(c.fields)
		if !slices.Equal(got, c.want) || (err != nil) != c.fails {
			t.Errorf("%q: %q, %v", c.fields, got, err)
		}
	}
}

func FuzzContentEncodings(f *testing.F) {
	for _, s := range []string{"gzip", "x-gzip, br", ",,", "identity;", "GZip\tbr"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, _ := Names([]string{s})
		if len(got) > MaxLayers {
			t.Errorf("%q: %d layers", s, len(got))
		}
		again, err := Names(got) // one a field is the same as a list
		if err != nil || !slices.Equal(got, again) {
			t.Errorf("%q: %q, again %q, %v", s, got, again, err)
		}
	})
}
