package objects

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestGoingBackIsFollowingBackwards holds that both find the same versions, in opposite order, with holes where some
// were removed, however many are asked for at once.
func TestGoingBackIsFollowingBackwards(t *testing.T) {
	t.Parallel()
	s := opened(t, Options{})
	if came, err := s.Previous(t.Context(), math.MaxUint64, 1); err != nil || len(came) > 0 {
		t.Errorf("of an empty store: %v, %v", came, err)
	}
	for i := range 40 {
		put(t, s, page(fmt.Sprint(home, i%13), fmt.Sprint("body ", i)))
		touch(t, s, fmt.Sprint(home, i%13), noon) // makes no version
	}
	collect(t, s, CollectOptions{Verdict: only(Remove, func(v Version) bool {
		return v.Seq < 4 || v.Seq == 9 || v.Seq > 20 && v.Seq < 31 || v.Seq > 38
	})})
	var all []Version
	for after := uint64(0); after < s.Last(); after = all[len(all)-1].Seq {
		came, err := s.Next(t.Context(), after, 7)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, came...)
	}
	slices.Reverse(all)
	if len(all) != 24 {
		t.Fatalf("%d versions are left", len(all))
	}
	for _, most := range []int{1, 2, 7, 24, 100} {
		var back []Version
		for before := uint64(math.MaxUint64); ; before = back[len(back)-1].Seq {
			came, err := s.Previous(t.Context(), before, most)
			if err != nil {
				t.Fatal(err)
			}
			if len(came) == 0 {
				break
			}
			if len(came) > most {
				t.Fatalf("%d came, and %d were asked for", len(came), most)
			}
			back = append(back, came...)
		}
		if !slices.Equal(back, all) {
			t.Errorf("%d at once: %v\nwant %v", most, back, all)
		}
	}
	for before, want := range map[uint64]int{0: 0, 1: 0, 4: 0, 5: 1, 39: 24} {
		if came, err := s.Previous(t.Context(), before, 100); err != nil || len(came) != want {
			t.Errorf("before %d are %d, %v, want %d", before, len(came), err, want)
		}
	}
}

func TestGoingBackEnds(t *testing.T) {
	t.Parallel()
	s := open(t, vfs.NewMem(), Options{})
	put(t, s, page(home, "x"))
	if _, err := s.Previous(t.Context(), 2, 0); err == nil {
		t.Error("none can be asked for")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := s.Previous(ended, 2, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("when the context has ended: %v", err)
	}
	s.Close()
	if _, err := s.Previous(t.Context(), 2, 1); !errors.Is(err, ErrClosed) {
		t.Errorf("when the store is closed: %v", err)
	}
}
