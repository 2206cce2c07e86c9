package frontier

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Order says which URL of a host comes next, among those of one urgency. Hosts take turns in any order.
type Order string

const (
	BreadthFirst Order = "bfs"        // the order of discovery
	DepthFirst   Order = "dfs"        // the newest discovery first
	BestFirst    Order = "best-first" // the highest score first, then the order of discovery
)

// Orders are all there are; the first is the default.
var Orders = []Order{BreadthFirst, DepthFirst, BestFirst}

func (o Order) check() error {
	if !slices.Contains(Orders, o) {
		return fmt.Errorf("order %q is none of %v", o, Orders)
	}
	return nil
}

// The order of an item is its rank in eight bits, lowest first, and then the number of its discovery. So
// items that were queued in one order keep their place when the pipeline goes on in another: nothing is
// sorted anew.
const (
	rankShift  = 56
	discovered = 1<<rankShift - 1
)

// nextOrder returns where a URL is queued next. One that was queued already keeps the score it had.
func (c *changes) nextOrder(rec *record, it *item) uint64 {
	c.q.count.order++
	number := c.q.count.order
	switch c.q.opt.Order {
	case DepthFirst:
		return discovered - number
	case BestFirst:
		rank := uint64(math.MaxUint8 - it.score)
		if it.score == 0 && rec.place.kind != nowhere {
			rank = rec.place.order >> rankShift
		} else if it.score == 0 {
			rank = uint64(math.MaxUint8 - guess(rec, it.url))
		}
		return rank<<rankShift | number
	}
	return number
}

// guess is the score of a URL of which nobody said how promising it is: near the start, high up in the
// tree of the site and without a query is better.
func guess(rec *record, url string) uint8 {
	distance := uint32(math.MaxUint8)
	for _, m := range rec.marks {
		if m.queued {
			distance = min(distance, m.distance)
		}
	}
	path, query, _ := strings.Cut(url, "?")
	score := 200 - 20*int(distance) - 5*strings.Count(path, "/")
	if query != "" {
		score -= 30
	}
	return uint8(max(score, 1))
}

// stretch is a part of a lane, from the first order up to and including the last.
type stretch struct{ first, last uint64 }

var everywhere = stretch{0, math.MaxUint64}

// mostStretches is how many parts of a lane are told apart; what lies between them is read again else.
const mostStretches = 8

// join adds one to a sorted list of stretches that do not overlap.
func join(list []stretch, s stretch) []stretch {
	i, _ := slices.BinarySearchFunc(list, s.first, func(t stretch, first uint64) int {
		if t.last < first {
			return -1
		}
		return 1
	})
	j := i
	for ; j < len(list) && list[j].first <= s.last; j++ {
		s.first, s.last = min(s.first, list[j].first), max(s.last, list[j].last)
	}
	list = slices.Replace(list, i, j, s)
	if n := len(list); n > mostStretches {
		list[n-2].last = list[n-1].last
		list = list[:n-1]
	}
	return list
}

// ready notes that a lane got items that may be taken.
func (c *changes) ready(id laneID, where stretch) {
	if s, ok := c.lanes[id]; ok {
		where = stretch{min(s.first, where.first), max(s.last, where.last)}
	}
	c.lanes[id] = where
}
