package values

import (
	"slices"
	"testing"
	"time"
)

// FuzzReader reads any bytes as a value, which must not go beyond them; and what it has read without a failure, written
// again, is read the same.
func FuzzReader(f *testing.F) {
	type value struct {
		n     uint64
		i     int64
		small uint64
		flag  bool
		text  string
		at    time.Time
		list  []string
		words []uint64
		fixed []byte
	}
	read := func(b []byte) (v value, ok bool) {
		r := Reader{Rest: b}
		v = value{r.Uint(), r.Int(), r.Small(9), r.Flag(), r.Text(), r.Time(), r.List(), r.Words(), r.Fixed(2)}
		return v, r.End()
	}
	write := func(v value) []byte {
		var w Writer
		w.Uint(v.n)
		w.Int(v.i)
		w.Uint(v.small)
		w.Flag(v.flag)
		w.Text(v.text)
		w.Time(v.at)
		w.List(v.list)
		w.Words(v.words)
		w.Fixed(v.fixed)
		return w
	}
	at := time.Date(2026, 1, 31, 8, 0, 0, 5, time.UTC)
	f.Add(write(value{1 << 63, -1, 9, true, "text", at, []string{"http://a/b", "http://a/c"}, []uint64{1, 1 << 63}, []byte("ab")}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		v, ok := read(b)
		if !ok {
			return
		}
		again, ok := read(write(v))
		if !ok || again.n != v.n || again.i != v.i || again.small != v.small || again.flag != v.flag || again.text != v.text ||
			!again.at.Equal(v.at) || !slices.Equal(again.list, v.list) || !slices.Equal(again.words, v.words) || !slices.Equal(again.fixed, v.fixed) {
			t.Fatalf("%+v was written, %+v was read", v, again)
		}
	})
}

func TestReaderFails(t *testing.T) {
	for name, fails := range map[string]func(r *Reader){
		"a number that does not end":   func(r *Reader) { r.Uint() },
		"a text longer than the value": func(r *Reader) { r.Fixed(1); r.Text() },
		"more words than there are":    func(r *Reader) { r.Fixed(1); r.Words() },
		"bytes that are left over":     func(r *Reader) { r.Fixed(1) },
	} {
		r := &Reader{Rest: []byte{0xff, 0xff}}
		if fails(r); r.End() {
			t.Errorf("%s: it is taken for the end of a value", name)
		}
	}
}
