package nntp

import (
	"context"
	"errors"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/agent"
)

// A group is listed by ranges of numbers, from below, and the articles of each range are read before the next is
// listed: so a visit needs the memory of one range, however many articles there are. Numbers of which few exist are
// listed by wider ranges.
const (
	narrowest = 1_000   // numbers in a range
	widest    = 100_000 // so, too; more articles are never listed at once
	batch     = 32      // articles that are asked for at once

	// mostRanges is how many ranges one visit lists; the next one goes on from there. So a visit ends, whatever numbers a
	// server names.
	mostRanges = 4_000
)

// visit is one visit of a newsgroup.
type visit struct {
	*agent.Visit
	stage *stage
	item  *pipeline.Item
	out   pipeline.Emitter
	on    *client
	state state
}

// read passes on what is new in a group, and returns what is known of the group then.
func (v *visit) read(ctx context.Context, in group) (known []byte, err error) {
	if v.state, err = readState(v.Known); err != nil {
		return nil, err
	}
	if v.state, err = v.begin(ctx, in); err != nil {
		return nil, err
	}
	width := int64(narrowest)
	for range mostRanges {
		if v.state.Next > in.High {
			break
		}
		last := min(in.High, v.state.Next+width-1)
		numbers, err := v.on.List(v.state.Next, last)
		if err != nil {
			return nil, err
		}
		if err := v.articles(ctx, numbers); err != nil {
			return nil, err
		}
		v.state.Next, width = last+1, wider(width, len(numbers))
	}
	return v.state.write(), nil
}

// wider is the width of the next range after one of which so many numbers exist.
func wider(width int64, exist int) int64 {
	if int64(exist) < width/4 {
		return min(4*width, widest)
	}
	return narrowest
}

// begin returns from which number on articles are new. A group whose numbers end below those that were read, or that
// has another article under the last of these, was numbered anew, and is as one that was never visited.
func (v *visit) begin(ctx context.Context, in group) (state, error) {
	s := v.state
	if s.Next > 0 {
		renumbered, err := v.renumbered(in)
		if err != nil {
			return s, err
		}
		if !renumbered {
			s.Next = max(s.Next, min(in.Low, in.High+1))
			return s, nil
		}
		v.stage.env.Counter("renumbered").Add(1)
	}
	next, err := v.newest(in, int64(v.stage.options.Backlog))
	return state{Next: next}, err
}

func (v *visit) renumbered(in group) (bool, error) {
	switch s := v.state; {
	case in.Low == 0 && in.High == 0: // an empty group may have no marks (RFC 3977, section 6.1.1.2)
		return false, nil
	case in.High < s.Next-1:
		return true, nil
	case in.High < s.Next || s.ID == "" || s.Last < in.Low:
		return false, nil
	default:
		id, err := v.on.Stat(s.Last)
		return id != "" && id != s.ID, err
	}
}

// newest returns the number from which on a group has so many articles, or all that it has if that is 0.
func (v *visit) newest(in group, most int64) (int64, error) {
	low := max(in.Low, 1)
	if in.High < low {
		return in.High + 1, nil
	}
	last, width := in.High, min(max(most, 1), narrowest)
	for range mostRanges {
		if most == 0 || last < low {
			return low, nil
		}
		first := max(low, last-width+1)
		numbers, err := v.on.List(first, last)
		if err != nil {
			return 0, err
		}
		if n := int64(len(numbers)); n >= most {
			return numbers[n-most], nil
		}
		most -= int64(len(numbers))
		last, width = first-1, wider(width, len(numbers))
	}
	return last + 1, nil
}

// articles passes on the articles of these numbers. A server whose article is longer than wanted is left, rather than
// listened to until it ends, and asked for the others anew.
func (v *visit) articles(ctx context.Context, numbers []int64) error {
	for len(numbers) > 0 {
		these := numbers[:min(len(numbers), batch)]
		asked, err := v.on.Articles(these, int64(v.stage.options.MaxSize), func(a article) error { return v.pass(ctx, a) })
		if err != nil {
			return err
		}
		v.stage.env.Counter("expired").Add(int64(asked.gone))
		numbers = numbers[asked.answered:]
		if !asked.cut {
			continue
		}
		if err := v.on.Reopen(ctx); err != nil {
			return err
		}
		if _, err := v.on.Group(ctx, v.Path); err != nil {
			return err
		}
	}
	return nil
}

// pass passes an article on, unless its writer does not want it to be kept.
func (v *visit) pass(ctx context.Context, a article) error {
	v.state.Last, v.state.ID = a.number, a.id
	d, archive := document(a)
	if !archive {
		v.stage.env.Counter("no_archive").Add(1)
		return nil
	}
	size := len(a.body)
	if err := v.stage.env.Reserve(ctx, v.item, size); err != nil {
		return err
	}
	err := v.Document(ctx, v.out, d)
	return errors.Join(err, v.stage.env.Reserve(ctx, v.item, -size)) // few are on their way, however many come
}
