package frontier

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/webrace/webrace/internal/scope"
)

// Rules are added to a queue, and taken away from it, while a run goes on: they are asked before those of
// the configuration, in the order in which they were added, and stay until they are removed. What they
// deny is not accepted any more, and what is queued of it is dropped when its turn comes; what a removed
// rule denied is accepted when a page leads to it again.

// AddRule adds a rule behind those that were added before, or before all of them. One that is there
// already is moved. It is durable when AddRule returns.
func (q *Queue) AddRule(ctx context.Context, r *scope.Rule, first bool) error {
	return q.changeRules(ctx, func(list []*scope.Rule) []*scope.Rule {
		list = slices.DeleteFunc(list, func(old *scope.Rule) bool {
			if old.Text() == r.Text() {
				r.Hit(old.Hits())
				return true
			}
			return false
		})
		if first {
			return slices.Insert(list, 0, r)
		}
		return append(list, r)
	})
}

// RemoveRule removes a rule that was added, and reports whether there was one of that text.
func (q *Queue) RemoveRule(ctx context.Context, text string) (removed bool, err error) {
	err = q.changeRules(ctx, func(list []*scope.Rule) []*scope.Rule {
		kept := slices.DeleteFunc(list, func(r *scope.Rule) bool { return r.Text() == text })
		removed = len(kept) < len(list)
		return kept
	})
	return removed, err
}

// Rules returns the rules of the queue in the order in which they are asked, and how many of them, the
// first ones, were added.
func (q *Queue) Rules() (all []*scope.Rule, added int) {
	added = len(q.opt.Gate.Added().List())
	return q.opt.Gate.Rules().List(), added
}

func (q *Queue) changeRules(ctx context.Context, change func([]*scope.Rule) []*scope.Rule) error {
	err := q.do(ctx, step{
		apply: func(ch *changes) error {
			q.added = scope.NewRules(change(slices.Clone(q.added.List()))...)
			ch.writeRules()
			return nil
		},
		after: func() error {
			q.opt.Gate.Add(q.added)
			return nil
		},
	})
	if err != nil {
		return fmt.Errorf("change the rules of %s: %w", q.pipeline, err)
	}
	return nil
}

// loadRules puts the rules that were added into the gate, and what all rules have decided so far. The hits
// of a configuration's rules that are not there any more are forgotten.
func (q *Queue) loadRules() error {
	known := q.opt.Gate != nil
	if !known {
		q.opt.Gate = scope.NewGate(nil)
	}
	q.added, q.decided = scope.NewRules(), map[string]int64{}
	value, err := q.store.get(q.keys.start(kindRules))
	if err != nil || value == nil {
		return err
	}
	r := newReader(value)
	var list []*scope.Rule
	for range r.count(2) {
		line, hits := r.text(), int64(r.small(math.MaxInt64))
		rule, err := scope.ParseRule(line)
		if err != nil || rule == nil {
			r.fail()
			break
		}
		rule.Hit(hits)
		list = append(list, rule)
	}
	for range r.count(2) {
		q.decided[r.text()] += int64(r.small(math.MaxInt64))
	}
	if err := r.done(); err != nil {
		return fmt.Errorf("rules: %w", err)
	}
	for _, rule := range q.opt.Gate.Rules().List() {
		rule.Hit(q.decided[rule.Text()])
		delete(q.decided, rule.Text())
	}
	if known {
		clear(q.decided)
	}
	q.added = scope.NewRules(list...)
	q.opt.Gate.Add(q.added)
	q.saved = q.hits()
	return nil
}

func (q *Queue) hits() (n int64) {
	for _, r := range q.opt.Gate.Rules().List() {
		n += r.Hits()
	}
	return n
}

// saveRules writes what the rules have decided, if that has changed.
func (c *changes) saveRules() error {
	if c.q.hits() != c.q.saved {
		c.writeRules()
	}
	return nil
}

func (c *changes) writeRules() {
	q := c.q
	q.saved = q.hits()
	added := q.added.List()
	w := newWriter(64)
	w.uint(uint64(len(added)))
	for _, r := range added {
		w.text(r.Line())
		w.uint(uint64(r.Hits()))
	}
	configured := slices.DeleteFunc(slices.Clone(q.opt.Gate.Configured().List()), func(r *scope.Rule) bool { return r.Hits() == 0 })
	w.uint(uint64(len(configured) + len(q.decided)))
	for _, r := range configured {
		w.text(r.Text())
		w.uint(uint64(r.Hits()))
	}
	for text, hits := range q.decided {
		w.text(text)
		w.uint(uint64(hits))
	}
	c.writes.set(q.keys.start(kindRules), w)
}
