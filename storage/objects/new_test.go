package objects

import (
	"context"
	"fmt"
	"testing"

	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// What is looked up as if it were new is found as by any other way, wherever in the index it lies.
func TestAKeyThatIsHeldToBeNewIsFoundWhereItIsNot(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	s := opened(t, Options{})
	key := func(i int) []byte { return tombstoneKey(fmt.Sprint("http://a.org/", i)) }
	const each = 1000
	for layer := range 4 { // in the largest tables, in a flushed one, and in memory
		for i := range each {
			if err := s.db.Set(key(2*(layer*each+i)), encodeNumber(uint64(i)), pebbledb.NoSync); err != nil {
				t.Fatal(err)
			}
			if i%7 > 0 {
				continue
			}
			if err := s.db.Delete(key(2*(layer*each+i)-10), pebbledb.NoSync); err != nil {
				t.Fatal(err)
			}
		}
		var err error
		switch layer {
		case 0, 1:
			err = s.db.Compact(context.Background(), []byte{0}, []byte{0xff}, false)
		case 2:
			err = s.db.Flush()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	there := 0
	for i := range 8*each + 2 {
		want, wanted, err := get(s, key(i), decodeNumber)
		if err != nil {
			t.Fatal(err)
		}
		got, found, err := getNew(s, key(i), decodeNumber)
		if err != nil || got != want || found != wanted {
			t.Fatalf("%s: %d, %v, %v; want %d, %v", key(i), got, found, err, want, wanted)
		}
		if found {
			there++
		}
	}
	if there == 0 || there == 8*each {
		t.Errorf("%d keys are there", there)
	}
}
