package exec

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestFramesComeBackAsTheyWereWritten(t *testing.T) {
	large := strings.Repeat("x", 3*trusted+1)
	var stream []byte
	for _, f := range [][2]string{{"{}", ""}, {"", ""}, {"{}", large}, {large, "b"}} {
		stream = appendFrame(stream, []byte(f[0]), []byte(f[1]))
	}
	r := bufio.NewReader(iotest.HalfReader(bytes.NewReader(stream)))
	for _, f := range [][2]string{{"{}", ""}, {"", ""}, {"{}", large}, {large, "b"}} {
		header, body, err := readFrame(r, 1<<30)
		if err != nil || string(header) != f[0] || string(body) != f[1] {
			t.Fatalf("%d bytes and %d bytes, %v", len(header), len(body), err)
		}
	}
	if _, _, err := readFrame(r, 1<<30); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

// FuzzReadFrame: what is read is what was written, within the limit, and nothing is taken for a frame that
// is cut off.
func FuzzReadFrame(f *testing.F) {
	f.Add([]byte("Hello, world, this is text"), int64(100))
	f.Add(appendFrame(nil, []byte("{}"), []byte("body")), int64(100))
	f.Add(appendFrame(nil, []byte("{}"), []byte("body")), int64(5))
	f.Fuzz(func(t *testing.T, stream []byte, limit int64) {
		r := bufio.NewReader(bytes.NewReader(stream))
		at := 0
		for {
			header, body, err := readFrame(r, limit)
			if err != nil {
				if err == io.EOF && at != len(stream) {
					t.Fatalf("an end after %d of %d bytes", at, len(stream))
				}
				if errors.Is(err, io.ErrUnexpectedEOF) && at == len(stream) {
					t.Fatalf("nothing breaks off: %v", err)
				}
				return
			}
			if frameStart+int64(len(header)+len(body)) > limit {
				t.Fatalf("%d bytes are over the limit of %d", len(header)+len(body), limit)
			}
			again := appendFrame(nil, header, body)
			if !bytes.HasPrefix(stream[at:], again) {
				t.Fatalf("read %q of %q", again, stream[at:])
			}
			at += len(again)
		}
	})
}
