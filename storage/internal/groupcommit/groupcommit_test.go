package groupcommit_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/webrace/webrace/storage/internal/groupcommit"
)

func TestGroupsBeginNoFasterThanSaid(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		took time.Duration
		size int
		want time.Duration // to the next group
	}{
		"a quick group":         {groupcommit.Between / 4, 2, groupcommit.Between},
		"one that took as long": {groupcommit.Between, 200, groupcommit.Between},
		"a slow disk":           {10 * groupcommit.Between, 200, 10 * groupcommit.Between},
		"one write":             {groupcommit.Between / 4, 1, groupcommit.Between / 4},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				time.Sleep(c.took)
				groupcommit.Rest(began, c.size)
				if got := time.Since(began); got != c.want {
					t.Errorf("the next group begins after %v, want %v", got, c.want)
				}
			})
		})
	}
}
