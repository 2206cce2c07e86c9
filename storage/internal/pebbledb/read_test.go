package pebbledb

import "testing"

func TestPrefixEndsBehindEveryKeyThatHasIt(t *testing.T) {
	for prefix, want := range map[string]string{"a": "b", "a\xff": "b", "u/\xff\xff": "u0", "\xff": "", "": ""} {
		if got := After([]byte(prefix)); string(got) != want {
			t.Errorf("after %q is %q, want %q", prefix, got, want)
		}
	}
}
