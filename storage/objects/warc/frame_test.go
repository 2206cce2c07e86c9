package warc

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// frame compresses n bytes, of which some cannot be compressed and some are all the same.
func frame(t testing.TB, n int, o ...zstd.EOption) []byte {
	t.Helper()
	content := make([]byte, n)
	for i := range content[:n/2] {
		content[i] = byte(rand.IntN(256))
	}
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, append(o, zstd.WithEncoderConcurrency(1))...)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(content)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestAFrameEndsWhereItEnds(t *testing.T) {
	for _, n := range []int{1, 255, 256, 65_000, 70_000, 1_000_000} {
		for name, options := range map[string][]zstd.EOption{
			"plain":    nil,
			"no check": {zstd.WithEncoderCRC(false)},
			"single":   {zstd.WithSingleSegment(true)},
			"best":     {zstd.WithEncoderLevel(zstd.SpeedBestCompression)},
		} {
			want := frame(t, n, options...)
			in := bytes.NewReader(append(bytes.Clone(want), "what follows"...))
			var r FrameReader
			r.Reset(in)
			got, err := io.ReadAll(&r)
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%d bytes, %s: read %d of %d, %v", n, name, len(got), len(want), err)
			}
			if in.Len() != len("what follows") {
				t.Fatalf("%d bytes, %s: %d bytes are left behind the frame", n, name, in.Len())
			}
			for cut := range min(len(want), 30) {
				r.Reset(bytes.NewReader(want[:cut]))
				if _, err := io.ReadAll(&r); !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatalf("%d bytes, %s, cut at %d: %v", n, name, cut, err)
				}
			}
		}
	}
}

// What is read is what was there, and what a decoder takes for one frame ends where it does for the FrameReader.
func FuzzFrameReader(f *testing.F) {
	for _, n := range []int{10, 300, 5000} {
		f.Add(frame(f, n))
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<20))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var r FrameReader
		r.Reset(bytes.NewReader(data))
		got, err := io.ReadAll(&r)
		if !bytes.HasPrefix(data, got) {
			t.Fatalf("read %x of %x", got, data)
		}
		if err != nil {
			return
		}
		whole, err := decoder.DecodeAll(got, nil)
		if err != nil {
			return
		}
		if twice, err := decoder.DecodeAll(append(bytes.Clone(got), got...), nil); err != nil || len(twice) != 2*len(whole) {
			t.Fatalf("two frames of %d bytes are %d, %v", len(whole), len(twice), err)
		}
	})
}
