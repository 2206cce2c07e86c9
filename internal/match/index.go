package match

import (
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/hashtable"
)

// Index holds profiles by ID, and finds those that a page may concern by the words in it. Changes are
// visible when they return; matching never waits for them, nor they for it. The zero value is empty and
// ready to use, by any number of goroutines.
//
// The profiles are in segments, which are immutable and merged by geometric partitioning (Lester, Moffat and Zobel,
// Fast On-Line Index Construction by Geometric Partitioning, CIKM 2005): the oldest is the largest, and each further
// one holds a fraction of those before it. A change builds the last one anew, which is small, or marks a profile of
// another as gone. Segments that have grown too many, or have lost a quarter of their profiles, are merged by a
// goroutine of the index, which ends when there is nothing to merge.
type Index struct {
	writing sync.Mutex
	serial  uint64
	merging bool
	merged  sync.Cond // on writing: merging has become false
	state   atomic.Pointer[View]
}

// View is an index as it was at one moment. It does not change.
type View struct {
	names    hashtable.Map[named] // by ID
	segments []liveSegment        // the oldest first
	open     bool                 // the last segment is still added to
	number   uint64               // a random one of this state's alone
}

// named is a profile of the index.
type named struct {
	*Compiled
	serial uint64
}

// liveSegment is a segment and which of its profiles are gone.
type liveSegment struct {
	*segment
	gone numbers
}

func (l *liveSegment) len() int { return len(l.profiles) - l.gone.count }

const (
	openLimit = 16 // how many profiles the last segment has at most while it is added to
	fanOut    = 3  // each segment has as many times the profiles of all those after it
	mostGone  = 4  // a segment is built anew when one in so many of its profiles is gone
)

// View returns the index as it is now.
func (x *Index) View() *View {
	if v := x.state.Load(); v != nil {
		return v
	}
	return new(View)
}

// Add adds the profiles, each instead of the one with its ID if there is one. All of them become visible
// at once. Of those with the same ID the last one counts.
func (x *Index) Add(profiles ...*Compiled) {
	if len(profiles) == 0 {
		return
	}
	x.change(func(v *View) {
		for _, c := range profiles {
			v.remove(c.id)
		}
		v.add(lastOfEach(profiles), x.serial)
		x.serial += uint64(len(profiles))
	})
}

func lastOfEach(profiles []*Compiled) []*Compiled {
	if len(profiles) == 1 {
		return profiles
	}
	last := make(map[string]int, len(profiles))
	for i, c := range profiles {
		last[c.id] = i
	}
	kept := make([]*Compiled, 0, len(last))
	for i, c := range profiles {
		if last[c.id] == i {
			kept = append(kept, c)
		}
	}
	return kept
}

// Remove removes the profiles with these IDs, as far as there are any, all at once.
func (x *Index) Remove(ids ...string) {
	x.change(func(v *View) {
		for _, id := range ids {
			v.remove(id)
		}
	})
}

// Settle waits until nothing is left to merge.
func (x *Index) Settle() {
	x.writing.Lock()
	defer x.writing.Unlock()
	for x.merging {
		x.merged.Wait()
	}
}

// Match is View.Match of the index as it is now.
func (x *Index) Match(text *webrace.Text, o Options) iter.Seq[Alert] { return x.View().Match(text, o) }

// Len returns the number of profiles.
func (x *Index) Len() int { return x.View().Len() }

// Profile returns the profile with the ID, or nil.
func (x *Index) Profile(id string) *Compiled { return x.View().Profile(id) }

// change makes the next view of the index by editing a copy of it.
func (x *Index) change(edit func(next *View)) {
	x.writing.Lock()
	defer x.writing.Unlock()
	v := x.View()
	next := &View{names: v.names.Editable(), segments: slices.Clone(v.segments), open: v.open, number: rand.Uint64()}
	edit(next)
	x.state.Store(next)
	if _, _, ok := next.toMerge(); ok && !x.merging {
		x.merging, x.merged.L = true, &x.writing
		go x.merge()
	}
}

// merge merges segments as long as there are some to merge.
func (x *Index) merge() {
	x.writing.Lock()
	defer x.writing.Unlock()
	for {
		from, to, ok := x.View().toMerge()
		if !ok {
			x.merging = false
			x.merged.Broadcast()
			return
		}
		old := x.View().segments[from:to:to]
		x.writing.Unlock()
		together := newSegment(alive(old))
		x.writing.Lock()
		x.replace(from, old, together)
	}
}

// alive returns the profiles of the segments that are not gone, and their serial numbers.
func alive(segments []liveSegment) (profiles []*Compiled, serials []uint64) {
	for _, l := range segments {
		for i, c := range l.profiles {
			if !l.gone.has(i) {
				profiles, serials = append(profiles, c), append(serials, l.serials[i])
			}
		}
	}
	return profiles, serials
}

// replace puts a segment in the place of the segments that it was made of, without what has gone since. The
// segments before them are the same as when it was begun, since no other goroutine merges.
func (x *Index) replace(from int, old []liveSegment, together *segment) {
	v := *x.View()
	var gone numbers
	for i, l := range old {
		v.segments[from+i].gone.since(l.gone, func(number int) {
			at, _ := together.find(l.serials[number])
			gone = gone.with(at)
		})
	}
	var in []liveSegment
	if gone.count < len(together.profiles) {
		in = []liveSegment{{together, gone}}
	}
	v.segments, v.number = slices.Concat(v.segments[:from], in, v.segments[from+len(old):]), rand.Uint64()
	x.state.Store(&v)
}

// toMerge returns which segments are to be merged next, if any. The open one is left out.
func (v *View) toMerge() (from, to int, ok bool) {
	to = len(v.segments)
	if v.open {
		to--
	}
	newer := 0
	from = to
	for i := to - 1; i >= 0 && (newer == 0 || v.segments[i].len() < fanOut*newer); i-- {
		from = i
		newer += v.segments[i].len()
	}
	if to-from > 1 {
		return from, to, true
	}
	for i := range to {
		if l := &v.segments[i]; mostGone*l.gone.count > len(l.profiles) {
			return i, i + 1, true
		}
	}
	return 0, 0, false
}

// add adds profiles with new IDs, of which the first has the serial number after this one.
func (v *View) add(profiles []*Compiled, serial uint64) {
	var all []*Compiled
	var serials []uint64
	if last := len(v.segments) - 1; v.open {
		all, serials = alive(v.segments[last:])
		v.segments = v.segments[:last]
	}
	all = append(all, profiles...)
	for _, c := range profiles {
		serial++
		serials = append(serials, serial)
		v.names.Set(c.id, named{c, serial})
	}
	v.segments = append(v.segments, liveSegment{segment: newSegment(all, serials)})
	v.open = len(all) < openLimit
}

func (v *View) remove(id string) {
	n, known := v.names.Get(id)
	if !known {
		return
	}
	v.names.Delete(id)
	for i := range v.segments {
		if at, ok := v.segments[i].find(n.serial); ok {
			v.segments[i].gone = v.segments[i].gone.with(at)
			return
		}
	}
}

// Len returns the number of profiles.
func (v *View) Len() int { return v.names.Len() }

// Profile returns the profile with the ID, or nil.
func (v *View) Profile(id string) *Compiled {
	n, _ := v.names.Get(id)
	return n.Compiled
}
