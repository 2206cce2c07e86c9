package window

import (
	"container/heap"
	"slices"
	"sync"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/expression"
	"github.com/webrace/webrace/pipeline/pending"
)

// window is one that is open.
type window struct {
	key    string
	value  any // that has this key
	from   time.Time
	closes time.Time // when it is closed, full or not
	items  int
	places int // of the queue, which are given back with it
	held   []pipeline.Held
	accs   []accumulator
	place  int // in the heap
}

// line is the open windows of a key, the oldest first.
type line struct {
	open []*window
	seen int // items since the last window began, where windows are of items
}

// windows are all that are open, and the records of those that have been closed.
type windows struct {
	options    Options
	aggregates []aggregate
	env        *pipeline.Env

	mu    sync.Mutex
	lines map[string]*line
	due   byTime
	ready []pending.Item

	latest time.Time // of the items, where these say their time
}

func newWindows(o Options, all []aggregate, env *pipeline.Env) *windows {
	return &windows{options: o, aggregates: all, env: env, lines: make(map[string]*line)}
}

// arrival is what the windows need of an item.
type arrival struct {
	item      *pipeline.Item
	key       string
	value     any // that has this key
	arguments []any
	at        time.Time // the time that it gives, if windows are of that
	places    int       // of the queue, which it takes
}

// add puts an item into all windows that it belongs to, and reports whether something is due earlier now. If all of
// them are over it comes too late.
func (ws *windows) add(a arrival, now time.Time) (sooner, late bool) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.closeUntil(now)
	before := len(ws.ready)
	var first time.Time
	if len(ws.due) > 0 {
		first = ws.due[0].closes
	}
	its := ws.of(a, now)
	if len(its) == 0 {
		return false, true
	}
	for _, w := range its {
		w.items++
		for i := range w.accs {
			w.accs[i].add(ws.aggregates[i].function, a.arguments[i])
		}
		if ws.options.Hold {
			w.held = append(w.held, pipeline.Keep(a.item))
		}
	}
	its[len(its)-1].places += a.places // which is closed last
	if oldest := its[0]; ws.options.Count > 0 && oldest.items >= ws.options.Count {
		ws.close(oldest, "count", now)
	}
	if a.at.After(ws.latest) && !a.at.After(now) { // one from the future closes nothing: its clock is wrong
		ws.latest = a.at
		ws.closeUntil(now)
	}
	ws.makeRoom(now)
	return len(ws.ready) > before || len(ws.due) > 0 && (first.IsZero() || ws.due[0].closes.Before(first)), false
}

// of returns the windows of an item, those that are closed first at the beginning; none if it comes too late.
func (ws *windows) of(a arrival, now time.Time) []*window {
	l := ws.lines[a.key]
	if l == nil {
		l = new(line)
	}
	if ws.options.Count == 0 {
		return ws.beginByTime(l, a, now)
	}
	ws.beginByCount(l, a, now)
	return l.open
}

// clock returns until when windows are over: by the time that items give, that of the latest, less what others may be
// late.
func (ws *windows) clock(now time.Time) time.Time {
	if ws.options.Time == "" {
		return now
	}
	return ws.latest.Add(-time.Duration(ws.options.Lateness))
}

// beginByCount opens a window if the last began long enough ago. All items between are in one at least.
func (ws *windows) beginByCount(l *line, a arrival, now time.Time) {
	if len(l.open) == 0 || l.seen >= ws.options.Step {
		ws.begin(l, len(l.open), a, now, now.Add(time.Duration(ws.options.Period)))
		l.seen = 0
	}
	l.seen++
}

// beginByTime opens the windows of a moment that are neither open yet nor over, and returns all that are open.
func (ws *windows) beginByTime(l *line, a arrival, now time.Time) (its []*window) {
	size, slide := time.Duration(ws.options.Size), time.Duration(ws.options.Slide)
	at, over := now, ws.clock(now)
	if ws.options.Time != "" {
		at = a.at
	}
	last := at.UTC().Truncate(slide)
	from := last
	for from.Add(size - slide).After(at) {
		from = from.Add(-slide)
	}
	for ; !from.After(last); from = from.Add(slide) {
		if !from.Add(size).After(over) {
			continue
		}
		i, open := slices.BinarySearchFunc(l.open, from, func(w *window, from time.Time) int { return w.from.Compare(from) })
		if !open {
			ws.begin(l, i, a, from, from.Add(size))
		}
		its = append(its, l.open[i])
	}
	return its
}

// begin opens a window, as number i of its line.
func (ws *windows) begin(l *line, i int, a arrival, from, closes time.Time) {
	w := &window{key: a.key, value: a.value, from: from, closes: closes, accs: make([]accumulator, len(ws.aggregates))}
	l.open = slices.Insert(l.open, i, w)
	ws.lines[a.key] = l
	heap.Push(&ws.due, w)
}

// makeRoom closes the oldest windows while there are too many.
func (ws *windows) makeRoom(now time.Time) {
	for len(ws.due) > ws.options.MaxKeys {
		ws.close(ws.due[0], "limit", now)
	}
}

// closeOldest closes a window before its time, unless records wait to be emitted anyway.
func (ws *windows) closeOldest() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if len(ws.ready) == 0 && len(ws.due) > 0 {
		ws.close(ws.due[0], "limit", time.Now())
	}
}

// closeAll closes all windows before their time.
func (ws *windows) closeAll() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for now := time.Now(); len(ws.due) > 0; {
		ws.close(ws.due[0], "limit", now)
	}
}

// close makes the record of a window. It is the oldest of its key.
func (ws *windows) close(w *window, why string, now time.Time) {
	heap.Remove(&ws.due, w.place)
	l := ws.lines[w.key]
	for i, open := range l.open {
		if open == w {
			l.open = append(l.open[:i], l.open[i+1:]...)
			break
		}
	}
	if len(l.open) == 0 {
		delete(ws.lines, w.key)
	}
	to := now
	if why == "time" || ws.options.Time != "" {
		to = w.closes
	}
	record := pipeline.Record{"from": stamp(w.from), "to": stamp(to), "closed": why}
	if _, missing := w.value.(expression.Missing); !missing {
		record["key"] = w.value
	}
	for i, a := range ws.aggregates {
		record[a.name] = w.accs[i].result(a.function)
	}
	if why == "limit" {
		ws.env.Counter("closed_early").Add(1)
	}
	if len(w.held) > 0 && ws.options.Size > ws.options.Slide { // other windows may have the same items
		w.held[0].Item = w.held[0].Item.Branch(stamp(w.from))
	}
	ws.ready = append(ws.ready, pending.Item{Value: record, Group: w.held, Size: w.places})
}

// stamp writes a time as records have it: a text that sorts as the time does, to the millisecond.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

func (ws *windows) closeUntil(now time.Time) {
	for over := ws.clock(now); len(ws.due) > 0 && !ws.due[0].closes.After(over); {
		why := "time"
		if ws.options.Count > 0 {
			why = "period"
		}
		ws.close(ws.due[0], why, now)
	}
}

// Due returns the records of the windows that are over.
func (ws *windows) Due(now time.Time, everything bool) (ready []pending.Item, next time.Time) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.closeUntil(now)
	for everything && len(ws.due) > 0 {
		ws.close(ws.due[0], "end", now)
	}
	if len(ws.due) > 0 && ws.options.Time == "" { // by the time that items say, they close windows
		next = ws.due[0].closes
	}
	ready, ws.ready = ws.ready, nil
	return ready, next
}

// byTime is a heap of windows: those that are closed first come first, and of these the one that began first.
type byTime []*window

func (b byTime) Len() int { return len(b) }
func (b byTime) Less(i, j int) bool {
	if b[i].closes.Equal(b[j].closes) {
		return b[i].from.Before(b[j].from)
	}
	return b[i].closes.Before(b[j].closes)
}
func (b byTime) Swap(i, j int) {
	b[i], b[j] = b[j], b[i]
	b[i].place, b[j].place = i, j
}
func (b *byTime) Push(x any) {
	w := x.(*window)
	w.place = len(*b)
	*b = append(*b, w)
}
func (b *byTime) Pop() any {
	last := len(*b) - 1
	w := (*b)[last]
	*b = (*b)[:last]
	return w
}
