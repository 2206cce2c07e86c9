package frontcode

import (
	"slices"
	"testing"
)

func TestWhatIsWrittenIsRead(t *testing.T) {
	t.Parallel()
	for _, list := range [][]string{{}, {""}, {"", "", "a"}, {"http://a/b", "http://a/c", "http://a/", "https://b/", "x\x00y"}} {
		written := Append([]byte("before"), list)
		got, rest, err := Cut(append(written[len("before"):], "behind"...))
		if err != nil || !slices.Equal(got, list) || got == nil || string(rest) != "behind" {
			t.Errorf("%q is read as %q, with %q behind: %v", list, got, rest, err)
		}
		for n := range len(written) - len("before") {
			if got, _, err := Cut(written[len("before"):][:n]); err == nil {
				t.Errorf("%d bytes of %q are read as %q", n, list, got)
			}
		}
	}
	if all, some := len(Append(nil, []string{"http://a/1", "http://a/2"})), len(Append(nil, []string{"http://a/1"})); all-some != 3 {
		t.Errorf("a string that shares all but a byte takes %d", all-some)
	}
}

// Whatever is read is written as something that reads alike, and what is behind it is left.
func FuzzCut(f *testing.F) {
	f.Add(Append(nil, []string{"http://a/b", "http://a/c"}))
	f.Add([]byte{2, 0, 1, 'a', 1, 0, 'x'})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, value []byte) {
		list, rest, err := Cut(value)
		if err != nil {
			return
		}
		again, left, err := Cut(Append(nil, list))
		if err != nil || !slices.Equal(list, again) || len(left) > 0 || len(rest) > len(value) {
			t.Errorf("%q reads as %q, and again as %q: %v", value, list, again, err)
		}
	})
}
