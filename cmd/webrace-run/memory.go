package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// A run makes little garbage, so that collecting it more often than Go does by itself cannot be told from its CPU
// time: a crawl of 15,600 pages needs 330 MB otherwise, and 190 to 225 so.
const (
	// garbagePercent is how much garbage may gather, as a share of what is in use, before it is collected.
	garbagePercent = 50
	// leastGarbage may always gather: where little is in use, as in a pipeline of records, a share of it would be collected
	// hundreds of times a second.
	leastGarbage = 24 << 20
	// smallest is what Go's memory is kept to while little is in use, by collecting more often and giving back at
	// once what is free. The more is in use, the more it may be: a process that is held to what it needs does
	// nothing but collect.
	smallest = 116 << 20
	limits   = 8 << 20 // a limit is a multiple of it, so that few collections change it
)

// sparing makes the process use little memory, unless its environment says how much.
func sparing() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	percent := garbagePercent
	debug.SetGCPercent(percent)
	debug.SetMemoryLimit(smallest)
	limit := int64(smallest)
	afterEachCollection(func(inUse uint64) {
		if next := garbageFor(inUse); next != percent {
			percent = next
			debug.SetGCPercent(percent)
		}
		if next := limitFor(inUse); next != limit {
			limit = next
			debug.SetMemoryLimit(limit)
		}
	})
}

// garbageFor returns how much garbage may gather, as a share of what is in use, in steps, so that few collections change
// it.
func garbageFor(inUse uint64) int {
	const step = garbagePercent
	return max(garbagePercent, int(leastGarbage*100/max(inUse, 1<<20))/step*step)
}

// limitFor returns what Go's memory is kept to: two fifths more than is in use, and no less than smallest.
func limitFor(inUse uint64) int64 {
	if enough := (int64(inUse/5*7) + limits - 1) / limits * limits; enough > smallest {
		return enough
	}
	return smallest
}

// afterEachCollection calls f after every garbage collection, with what it has left in use; one call at a time.
func afterEachCollection(f func(inUse uint64)) {
	type sentinel [64]byte // large enough to lie in no block with others
	runtime.AddCleanup(new(sentinel), func(f func(uint64)) {
		inUse := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(inUse)
		f(inUse[0].Value.Uint64())
		afterEachCollection(f)
	}, f)
}
