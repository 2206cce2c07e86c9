package frontier

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/webrace/webrace"
)

// Order determines which URL of a host comes next, among those of one urgency. Hosts take turns in any order.
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

// nextOrder returns where a URL is queued next. One that was queued already keeps the score it had, unless there is a
// better one.
func (c *changes) nextOrder(rec *record, it *item) uint64 {
	c.q.count.order++
	number := c.q.count.order
	switch c.q.opt.Order {
	case DepthFirst:
		return discovered - number
	case BestFirst:
		rank := uint64(math.MaxUint8 - it.score)
		switch {
		case rec.place.kind != nowhere && it.score == 0:
			rank = rec.place.order >> rankShift
		case rec.place.kind != nowhere:
			rank = min(rank, rec.place.order>>rankShift)
		case it.score == 0:
			rank = uint64(math.MaxUint8 - guess(rec, it.url))
		}
		return rank<<rankShift | number
	}
	return number
}

// scoreOf returns how promising a link is; 0 if that is not known, or decides nothing.
func (q *Queue) scoreOf(l *webrace.Links, i int) uint8 {
	if q.opt.Order != BestFirst {
		return 0
	}
	return l.ScoreOf(i)
}

// raise moves a URL that waits in its host queue to where a better score wants it. One that waits for its time after a
// failure keeps the score it has.
func (c *changes) raise(rec *record, cand *candidate) error {
	if cand.score == 0 || rec.place.kind != inHostQueue || uint64(math.MaxUint8-cand.score) >= rec.place.order>>rankShift {
		return nil
	}
	key, it, err := c.queued(rec, cand.host)
	if err != nil || key == nil {
		return err
	}
	if err := c.dequeue(rec, cand.host); err != nil {
		return err
	}
	it.score = cand.score
	return c.enqueue(rec, it, cand.host, rec.place.level)
}

// guess is the score of a URL of which no stage said how promising it is: near the start, high up in the
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

// stretch is a part of a host queue, from the first order up to and including the last.
type stretch struct{ first, last uint64 }

var everywhere = stretch{0, math.MaxUint64}

// mostStretches is how many parts of a host queue are told apart; what lies between them is read again else.
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

// ready notes that a host queue got items that may be taken.
func (c *changes) ready(id hostQueueID, where stretch) {
	if s, ok := c.queues[id]; ok {
		where = stretch{min(s.first, where.first), max(s.last, where.last)}
	}
	c.queues[id] = where
}
