// Package pace lets those who commit in groups wait a moment for a group that is worth it: a sync of the disk,
// and all that leads to it, costs as much for one write as for fifty.
package pace

import "time"

// Between is the least time between the beginnings of two commits, unless a group is full sooner. It is shorter than
// most servers take to answer, and long enough that what a commit costs besides its writes, about half a millisecond of
// processor time, is little beside the pages of a busy crawl.
const Between = 5 * time.Millisecond

// Rest waits after a group that was begun then. It does not wait after a group of one: whoever writes one thing
// after the other would wait each time for nobody.
func Rest(began time.Time, size int) {
	if rest := Between - time.Since(began); rest > 0 && size > 1 {
		time.Sleep(rest)
	}
}
