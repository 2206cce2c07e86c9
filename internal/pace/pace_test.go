package pace_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/webrace/webrace/internal/pace"
)

func TestGroupsBeginNoFasterThanSaid(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		took time.Duration
		size int
		want time.Duration // to the next group
	}{
		"a quick group":         {pace.Between / 4, 2, pace.Between},
		"one that took as long": {pace.Between, 200, pace.Between},
		"a slow disk":           {10 * pace.Between, 200, 10 * pace.Between},
		"one write":             {pace.Between / 4, 1, pace.Between / 4},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				time.Sleep(c.took)
				pace.Rest(began, c.size)
				if got := time.Since(began); got != c.want {
					t.Errorf("the next group begins after %v, want %v", got, c.want)
				}
			})
		})
	}
}
