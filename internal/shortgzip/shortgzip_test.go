package shortgzip

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// inflated reads one member with the standard library, and nothing may follow it.
func inflated(t *testing.T, member []byte) []byte {
	t.Helper()
	in := bytes.NewReader(member)
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	z.Multistream(false)
	content, err := io.ReadAll(z)
	if err != nil || in.Len() > 0 {
		t.Fatalf("%v, and %d bytes are left", err, in.Len())
	}
	return content
}

func check(t *testing.T, content []byte) {
	t.Helper()
	member := Append([]byte("before"), content)
	if got := inflated(t, member[len("before"):]); !bytes.Equal(got, content) {
		t.Errorf("%d bytes: %.100q is read as %.100q", len(content), content, got)
	}
	if most := len(content)*9/8 + 32; len(member) > most {
		t.Errorf("%d bytes become %d", len(content), len(member))
	}
}

func TestWhatIsWrittenIsInflated(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	noise := make([]byte, Longest)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	for n := range 600 { // every length of a match, and every literal
		check(t, bytes.Repeat([]byte{byte(n)}, n))
		check(t, append(append(bytes.Clone(noise[:n]), "x"...), noise[:n]...))
	}
	for d := 1; d <= Longest-8; d += 1 + d/40 { // every code of a distance
		content := append(append([]byte("abcdefgh"), bytes.Repeat([]byte{0}, d-1)...), "abcdefgh"...)
		check(t, content[:min(len(content), Longest)])
	}
	check(t, noise)
	check(t, bytes.Repeat([]byte("ab"), Longest/2))
}

// It is for what gzip makes hardly smaller.
func TestShortTextIsCompressed(t *testing.T) {
	t.Parallel()
	var meta strings.Builder
	for i := range 80 {
		fmt.Fprintf(&meta, `<link href="http://docs.example.org/library/module-%d.html"/>`, i*i%997)
	}
	for _, text := range []string{meta.String(), meta.String()[:500]} {
		var out bytes.Buffer
		z, err := gzip.NewWriterLevel(&out, 1)
		if err != nil {
			t.Fatal(err)
		}
		z.Write([]byte(text))
		z.Close()
		if short := len(Append(nil, []byte(text))); short > out.Len()*5/4 {
			t.Errorf("%d bytes become %d, and %d in gzip", len(text), short, out.Len())
		}
	}
}

func FuzzAppend(f *testing.F) {
	f.Add([]byte("<link href='http://a.example/'/><link href='http://a.example/b'/>"))
	f.Add(bytes.Repeat([]byte("0123456789abcdef\xff"), 50))
	f.Fuzz(func(t *testing.T, content []byte) { check(t, content[:min(len(content), Longest)]) })
}
