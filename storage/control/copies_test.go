package control

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestWhoWaitsForAllCopiesGoesOnWhenTheLastOneHasTheRevision(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := new(Store)
		if err := s.Copied(t.Context(), 7); err != nil {
			t.Fatal("there is no copy to wait for, and:", err)
		}
		a, b, c := s.Keep(3), s.Keep(7), s.Keep(1)
		copied := false
		go func() { copied = s.Copied(t.Context(), 7) == nil }()
		for _, step := range []struct {
			then func()
			want bool
		}{{func() {}, false}, {func() { a.At(6) }, false}, {func() { a.At(8) }, false}, {c.Close, true}} {
			step.then()
			if synctest.Wait(); copied != step.want {
				t.Fatalf("copied: %t, want %t", copied, step.want)
			}
		}
		b.Close()
		b.Close()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Copied(ctx, 9); !errors.Is(err, context.Canceled) {
			t.Errorf("with a late copy, and cancelled: %v", err)
		}
	})
}
