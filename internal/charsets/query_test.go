package charsets

import (
	"bytes"
	"testing"
)

// FuzzEncodeQuery checks that a query is ASCII in the end, and that nothing else is touched. What it is in each
// encoding is tested where links are extracted.
func FuzzEncodeQuery(f *testing.F) {
	for _, c := range candidates {
		f.Add([]byte("/é?é¥あ\u2212\t\x1bа#é"), c.encoding)
	}
	f.Add([]byte("?日a¥b日\x0e"), "iso-2022-jp")
	f.Fuzz(func(t *testing.T, ref []byte, name string) {
		name = standardName(name)
		kept := bytes.Clone(ref)
		got := EncodeQuery(ref, name)
		if !bytes.Equal(ref, kept) {
			t.Fatal("the reference was changed")
		}
		start := bytes.IndexByte(ref, '?')
		before, fragment, _ := bytes.Cut(ref, []byte("#"))
		if newQueryWriter(name) == nil || start < 0 || start > len(before) {
			if !bytes.Equal(got, ref) {
				t.Fatalf("%q in %s became %q", ref, name, got)
			}
			return
		}
		query, behind, _ := bytes.Cut(got[start:], []byte("#"))
		if !bytes.Equal(got[:start], ref[:start]) || !bytes.Equal(behind, fragment) || ascii(query) < len(query) {
			t.Fatalf("%q in %s became %q", ref, name, got)
		}
		if again := EncodeQuery(got, name); !bytes.Equal(again, got) {
			t.Fatalf("%q in %s became %q, and that %q", ref, name, got, again)
		}
	})
}
