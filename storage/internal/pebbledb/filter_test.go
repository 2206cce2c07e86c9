package pebbledb

import (
	"encoding/binary"
	"testing"

	"github.com/cockroachdb/pebble/v2"
)

// What a filter has is found through it, what it has not is mostly not looked for, and what it leaves out always is.
func TestAFilterHasWhatItIsToHave(t *testing.T) {
	t.Parallel()
	key := func(kind byte, n int) []byte { return binary.BigEndian.AppendUint64([]byte{kind}, uint64(n)) }
	const keys = 1000
	for name, f := range map[string]*Filter{
		"all keys": {}, "some": {Name: "some", Has: func(key []byte) bool { return key[0] == 'a' }},
	} {
		p := policyOf(f)
		if f.Has != nil && p.Name() != f.Name {
			t.Errorf("%s: its name is %q", name, p.Name())
		}
		w := p.NewWriter(pebble.TableFilter)
		for n := range keys {
			w.AddKey(key('a', n))
			w.AddKey(key('b', n))
		}
		filter := w.Finish(nil)
		for _, kind := range []byte{'a', 'b'} {
			found := 0
			for n := range keys {
				if !p.MayContain(pebble.TableFilter, filter, key(kind, n)) {
					t.Fatalf("%s: it hides a key of kind %c", name, kind)
				}
				if p.MayContain(pebble.TableFilter, filter, key(kind, keys+n)) {
					found++
				}
			}
			if without := f.Has != nil && kind == 'b'; without != (found == keys) || !without && found > keys/20 {
				t.Errorf("%s: it may have %d of %d keys of kind %c that it has not", name, found, keys, kind)
			}
		}
	}
}
