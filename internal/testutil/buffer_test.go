package testutil_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

func TestEveryLineOfManyWritersIsWhole(t *testing.T) {
	t.Parallel()
	var b testutil.Buffer
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			for range 200 {
				fmt.Fprintf(&b, "a whole line\n")
				if s := b.String(); !strings.HasSuffix(s, "a whole line\n") {
					t.Errorf("ends with %q", s[max(0, len(s)-20):])
				}
			}
		})
	}
	writers.Wait()
	if got, want := b.String(), strings.Repeat("a whole line\n", 8*200); got != want {
		t.Errorf("%d bytes of %d", len(got), len(want))
	}
}
