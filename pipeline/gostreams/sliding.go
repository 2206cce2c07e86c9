package gostreams

import (
	"fmt"
	"slices"
	"time"

	"github.com/reugn/go-streams"
	"github.com/reugn/go-streams/flow"

	"github.com/webrace/webrace/pipeline"
)

// Sliding makes a list of the items of each window of time, of which one begins each slide, so that an item is in
// several. The size must be a multiple of the slide.
//
// It is made of panes (Li et al., "No pane, no gain", 2005), which are tumbling windows of go-streams: a window is that
// of the last size / slide panes. [flow.NewSlidingWindow] cannot be used: when its input ends in the first window, or
// with items that are newer than the last one, it forgets them.
func Sliding(size, slide time.Duration) pipeline.Keeper {
	if slide <= 0 || size < slide || size%slide != 0 {
		panic(fmt.Sprintf("gostreams: sliding windows of %v that begin each %v: the size must be a multiple of the slide", size, slide))
	}
	return Items(func() streams.Flow {
		s := &sliding{channels: newChannels(), panes: flow.NewTumblingWindow[*pipeline.Item](slide), count: int(size / slide)}
		go s.stream()
		return s
	})
}

// sliding is an operator that makes windows of panes. Items may leave it in several, so it gives out spans.
type sliding struct {
	channels
	panes streams.Flow
	count int // of panes in a window

	waiting []any              // for room in front of panes
	recent  [][]*pipeline.Item // the panes that will be in a window to come
}

// span is a window's items, of which the first so many are in none to come.
type span struct {
	items   []*pipeline.Item
	leaving int
}

// stream stands between the pipeline and the operator of panes, which waits for its output to be taken while it
// takes no input.
func (s *sliding) stream() {
	defer close(s.out)
	in := s.in
	for {
		var to chan<- any
		var first any
		from := in
		if len(s.waiting) > 0 {
			to, first, from = s.panes.In(), s.waiting[0], nil
		}
		select {
		case to <- first:
			s.waiting = s.waiting[1:]
		case it, more := <-from:
			if more {
				s.waiting = append(s.waiting, it)
			} else {
				close(s.panes.In())
				in = nil
			}
		case pane, more := <-s.panes.Out():
			if !more {
				return
			}
			s.slide(pane.([]*pipeline.Item), in != nil)
		}
	}
}

// mark is what keeps a pane from being empty: of an empty one the operator emits nothing.
var mark *pipeline.Item

// slide gives out the window that ends with a pane.
func (s *sliding) slide(pane []*pipeline.Item, marking bool) {
	s.recent = append(s.recent, slices.DeleteFunc(pane, func(it *pipeline.Item) bool { return it == mark }))
	window := span{items: slices.Concat(s.recent...)}
	if len(s.recent) == s.count {
		window.leaving = len(s.recent[0])
		s.recent = s.recent[1:]
	}
	if len(window.items) > 0 {
		s.out <- window
	}
	if len(window.items) == window.leaving {
		s.recent = nil
	} else if marking {
		s.waiting = append(s.waiting, mark)
	}
}
