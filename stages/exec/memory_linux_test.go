package exec

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

func init() {
	eat = func(mib int) { // outside of what the race detector doubles
		if _, err := syscall.Mmap(-1, 0, mib<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_POPULATE); err != nil {
			panic(err)
		}
	}
}

// limited lets processes of the test's own binary have memory that they do not need, but not much.
func limited(o *Options) { o.MaxMemory = 300 << 20 }

// TestAProcessThatNeedsTooMuchMemoryIsEnded has an item take memory in a child of the program, for which that waits
// then: nothing but the limit ends it. The others come through.
func TestAProcessThatNeedsTooMuchMemoryIsEnded(t *testing.T) {
	t.Parallel()
	s := opened(t, options("work", limited, func(o *Options) { o.Timeout = pipeline.Duration(10 * time.Minute) }))
	err := s.Process(t.Context(), &pipeline.Item{Value: "grow 400 child"}, nowhere{})
	if err == nil || !strings.Contains(err.Error(), "it needed more memory than 300MiB (max_memory), with all that it had started, and was killed") {
		t.Error(err)
	}
	if out := passed(t, s, "a", "b", "c"); len(out) != 3 {
		t.Errorf("of 3 items behind it %q came through", out)
	}
	if n := s.env.Counters()["over_memory"]; n != 2 {
		t.Errorf("%d processes were ended: the item has two", n)
	}
}

// TestWhatHasPiledUpInAProcessCostsNoItem has items take memory that a process has for one of them, and not for two:
// the second is in work when the process is ended.
func TestWhatHasPiledUpInAProcessCostsNoItem(t *testing.T) {
	t.Parallel()
	s := opened(t, options("work", limited, func(o *Options) { o.InFlight = 1 }))
	for s.env.Counters()["over_memory"] < 2 {
		if out := passed(t, s, "grow 180"); len(out) != 1 {
			t.Fatal("an item failed for what others had left behind")
		}
	}
}

func TestALimitOfMemoryThatNoProgramKeeps(t *testing.T) {
	t.Parallel()
	if err := options("work", func(o *Options) { o.MaxMemory = 100 }).Validate(); err == nil || !strings.Contains(err.Error(), "max_memory") {
		t.Error(err)
	}
}
