package main

import (
	"fmt"
	"math"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
)

// budget is how much memory a process uses, and where the number comes from. The process may take two fifths more for
// a moment: for its program, and for garbage that is not collected yet.
type budget struct {
	total pipeline.Size
	from  string
}

const (
	// mostByDefault is used of a larger machine: more makes a crawl no faster that has not millions of pages.
	mostByDefault = pipeline.Size(512 << 20)
	// garbagePercent is how much garbage may gather, as a share of what is in use, before it is collected. A run makes
	// so little that collecting it more often than Go does by itself cannot be told from its CPU time.
	garbagePercent = 50
	// leastGarbage may always gather: where little is in use, as in a pipeline of records, a share of it would be
	// collected hundreds of times a second.
	leastGarbage = 24 << 20
	// garbageScanned is how much garbage may gather, as a multiple of what of the memory in use holds pointers: that is
	// what a collection looks through. URDs are such, and the stores' caches and buffers are not.
	garbageScanned = 2
	// smallest is what Go's memory is kept to while little is in use, by collecting more often and giving back at
	// once what is free. The more is in use, the more it may be, up to the budget: a process that is held to what it
	// needs does nothing but collect.
	smallest = 116 << 20
	limits   = 8 << 20 // a limit is a multiple of it, so that few collections change it
)

// budgetOf returns what a configuration sets, or else a share of what there is: a quarter of a machine, which has other
// things to do, and two thirds of what a container is limited to.
func budgetOf(c *config.Config) budget {
	if c.Memory > 0 {
		return budget{c.Memory, "as configured"}
	}
	b := budget{mostByDefault, "the default"}
	if machine := totalMemory("/proc/meminfo"); machine/4 < b.total {
		b = budget{machine / 4, fmt.Sprintf("a quarter of the machine's %s", rounded(machine))}
	}
	if limit := cgroupLimit("/"); limit*2/3 < b.total {
		b = budget{limit * 2 / 3, fmt.Sprintf("two thirds of the control group's %s", rounded(limit))}
	}
	b.total = max(b.total, config.LeastMemory)
	return b
}

func (b budget) String() string { return fmt.Sprintf("%s, %s", rounded(b.total), b.from) }

// rounded leaves out what does not matter.
func rounded(s pipeline.Size) pipeline.Size {
	const mib = 1 << 20
	return max(s/mib*mib, min(s, mib))
}

// flow is the share of what is in flight: bodies and texts. Working on them takes several times as much for a moment.
func (b budget) flow() int64 { return int64(b.total / 8) }

// caches is the share of the stores' caches.
func (b budget) caches() int64 { return int64(b.total / 8) }

// apply lets Go's garbage collector keep to the budget, and to room while less is in use, unless the environment tells
// it to do otherwise.
func (b budget) apply(room int64) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	percent, limit := 0, int64(0)
	set := func(in inUse) {
		if next := garbageFor(in, room); next != percent {
			percent = next
			debug.SetGCPercent(percent)
		}
		if next := b.limitFor(in, room); next != limit {
			limit = next
			debug.SetMemoryLimit(limit)
		}
	}
	set(inUse{})
	afterEachCollection(set)
}

// room returns how much Go's memory may be while little is in use: smallest, or where pages are indexed three eighths
// of the budget. Indexing makes so much garbage that collecting it at smallest takes a seventh of its time.
func (b budget) room(indexing bool) int64 {
	if !indexing {
		return smallest
	}
	return max(smallest, int64(b.total/8*3))
}

// inUse is how much of Go's memory a garbage collection has left, and how much of that it had to look through.
type inUse struct{ all, scanned int64 }

// garbageFor returns how much garbage may gather, as a share of what is in use, in steps, so that few collections
// change it.
func garbageFor(in inUse, room int64) int {
	const step = garbagePercent
	least, pointers := leastGarbage+room-smallest, garbageScanned*in.scanned
	percent := func(garbage int64) int { return int(garbage * 100 / max(in.all, 1<<20)) }
	return max(garbagePercent, percent(least)/step*step, (percent(pointers)+step-1)/step*step)
}

// limitFor returns what Go's memory is kept to: two fifths more than is in use, or twice the garbage that may gather
// because of pointers, since close to a limit Go collects, and gives back, all the time; no less than room, and no more
// than the budget.
func (b budget) limitFor(in inUse, room int64) int64 {
	garbage := max(in.all/5*2, 2*garbageScanned*in.scanned)
	enough := (in.all + garbage + limits - 1) / limits * limits
	return min(max(enough, room), int64(b.total))
}

// keepToBudget lets a command that runs no pipeline keep to the memory that these would have.
func keepToBudget(globals *cli.Globals) {
	loaded, err := globals.Load(config.LoadOptions{Run: []string{}})
	if err != nil { // which the command tells, if it needs it
		loaded = &config.Config{}
	}
	budgetOf(loaded).apply(smallest)
}

// afterEachCollection calls f after every garbage collection; one call at a time.
func afterEachCollection(f func(inUse)) {
	type sentinel [64]byte // large enough to lie in no block with others
	runtime.AddCleanup(new(sentinel), func(f func(inUse)) {
		sizes := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/heap:bytes"}}
		metrics.Read(sizes)
		f(inUse{all: int64(sizes[0].Value.Uint64()), scanned: int64(sizes[1].Value.Uint64())})
		afterEachCollection(f)
	}, f)
}

// noLimit is what is returned where the system reports nothing.
const noLimit = pipeline.Size(math.MaxInt64 / 4)

// totalMemory reads from /proc/meminfo how much memory the machine has.
func totalMemory(file string) pipeline.Size {
	text, err := os.ReadFile(file)
	if err != nil {
		return noLimit // not Linux
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "MemTotal:" {
			if kib, err := strconv.ParseInt(fields[1], 10, 44); err == nil {
				return pipeline.Size(kib) << 10
			}
		}
	}
	return noLimit
}

// cgroupLimit returns the least limit of the control groups, of version 1 or 2, that the process is in.
func cgroupLimit(root string) pipeline.Size {
	groups, err := os.ReadFile(path.Join(root, "proc/self/cgroup"))
	if err != nil {
		return noLimit
	}
	least := noLimit
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, path
		if len(parts) < 3 {
			continue
		}
		base, file := "sys/fs/cgroup", "memory.max"
		if strings.Contains(","+parts[1]+",", ",memory,") {
			base, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		} else if parts[1] != "" {
			continue
		}
		for dir := path.Clean("/" + parts[2]); ; dir = path.Dir(dir) { // in a container, its own group is the root
			least = min(least, limitIn(path.Join(root, base, dir, file)))
			if dir == "/" {
				break
			}
		}
	}
	return least
}

func limitIn(file string) pipeline.Size {
	text, err := os.ReadFile(file)
	if err != nil {
		return noLimit
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n <= 0 { // "max"
		return noLimit
	}
	return min(pipeline.Size(n), noLimit)
}
