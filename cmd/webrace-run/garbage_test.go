package main

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
)

func TestTheBudgetIsAShareOfWhatThereIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  pipeline.Size
	}{
		"no control groups": {nil, noLimit},
		"version 2": {map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "536870912\n",
		}, 512 << 20},
		"version 2 in a container": {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1048576\n"}, 1 << 20},
		"version 1": {map[string]string{
			"proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/x/y\n1:name=systemd:/z\n", "sys/fs/cgroup/memory/x/y/memory.limit_in_bytes": "268435456\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n", "sys/fs/cgroup/z/memory.max": "1\n",
		}, 256 << 20},
		"nonsense": {map[string]string{"proc/self/cgroup": "a\n0::\n:::\n", "sys/fs/cgroup/memory.max": "-3"}, noLimit},
	} {
		root := t.TempDir()
		for file, text := range c.files {
			if err := os.MkdirAll(filepath.Join(root, filepath.Dir(file)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := cgroupLimit(root); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if got := budgetOf(&config.Config{Memory: 300 << 20}); got.total != 300<<20 {
		t.Errorf("configured: %v", got)
	}
	if got := budgetOf(&config.Config{}); got.total < config.LeastMemory || got.total > mostByDefault {
		t.Errorf("by default: %v", got)
	}
}

func TestAProcessIsKeptSmallButNeverToWhatItNeeds(t *testing.T) {
	t.Parallel()
	b := budget{total: 1 << 30}
	for _, percent := range []int64{0, 10, 50, 100} { // of what is in use holds pointers
		last := int64(0)
		for all := int64(0); all < 1<<31; all += 1 << 20 {
			scanned := all * percent / 100
			limit, most := b.limitFor(inUse{all, scanned}, smallest), int64(b.total)
			least := max(all*139/100, all+2*garbageScanned*scanned)
			if limit < smallest || limit < last || limit > most || limit < min(least, most) || limit > max(smallest, all*7/5+limits, least+limits) {
				t.Fatalf("with %d MB in use, of which %d MB are scanned, the limit is %d MB", all>>20, scanned>>20, limit>>20)
			}
			last = limit
		}
	}
}

func TestWhatIsInUseIsKnownAfterEachCollection(t *testing.T) {
	t.Parallel()
	const large, pointers = 64 << 20, 16 << 20
	seen := make(chan inUse)
	over := make(chan struct{})
	defer close(over)
	afterEachCollection(func(in inUse) {
		select {
		case seen <- in:
		case <-over:
		}
	})
	held, pointing := make([]byte, large), make([]*byte, pointers/8)
	for noticed := 0; noticed < 3; {
		runtime.GC() // which may come before the test looks for it
		select {
		case in := <-seen:
			if noticed++; noticed < 3 { // of a collection that may have begun before all of it was there
				continue
			}
			if in.all < large+pointers || in.scanned < pointers || in.scanned > large {
				t.Errorf("%d bytes are in use, and %d scanned, of which %d and %d are held here", in.all, in.scanned, large+pointers, pointers)
			}
		case <-time.After(10 * time.Millisecond):
		}
	}
	runtime.KeepAlive(held)
	runtime.KeepAlive(pointing)
}

// TestGarbageIsAShareOfWhatIsInUseOrSome holds that little memory is not collected all the time, that much of it
// gathers no more garbage than its share, and that memory which holds pointers is seldom looked through.
func TestGarbageIsAShareOfWhatIsInUseOrSome(t *testing.T) {
	t.Parallel()
	const step = garbagePercent
	for _, more := range []int64{0, 80 << 20} {
		room, least := smallest+more, leastGarbage+more
		for all := int64(1 << 20); all < 1<<30; all += 1 << 20 {
			share := all * garbagePercent / 100
			garbage := all * int64(garbageFor(inUse{all: all}, room)) / 100
			if garbage < min(share, least) || garbage > max(share, least) {
				t.Errorf("with %d MB in use, %d MB of garbage gather", all>>20, garbage>>20)
			}
			pointers := all / 2
			garbage = all * int64(garbageFor(inUse{all, pointers}, room)) / 100
			if want := max(least, garbageScanned*pointers); garbage < min(want, garbageScanned*pointers) || garbage > want+all*step/100 {
				t.Errorf("with %d MB in use, and half of it scanned, %d MB of garbage gather", all>>20, garbage>>20)
			}
		}
		if garbageFor(inUse{}, room) > int(100*least>>20) {
			t.Error("with nothing in use, there is no limit")
		}
	}
}

// TestIndexingHasRoomForGarbage holds that room is bounded by the budget, and that a crawl alone is kept small.
func TestIndexingHasRoomForGarbage(t *testing.T) {
	t.Parallel()
	loaded, err := config.Parse("shipped", webrace.Pipelines, config.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b := budget{total: 512 << 20}
	for _, c := range []struct {
		names []string
		want  int64
	}{{[]string{"crawl"}, smallest}, {[]string{"crawl", "search"}, 192 << 20}, {[]string{"none"}, smallest}} {
		if got := b.room(indexes(loaded, c.names)); got != c.want {
			t.Errorf("%v: %d MB, want %d", c.names, got>>20, c.want>>20)
		}
	}
	if got := (budget{total: 64 << 20}).room(true); got != smallest {
		t.Errorf("of a small budget, %d MB", got>>20)
	}
}
