package frontier

import (
	"context"
	"fmt"
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
			if old.Text() != r.Text() {
				return false
			}
			r.Hit(old.Hits())
			q.counts[old] = hitCount{q.keys.hits(addedRule, r), r} // what was decided and is not yet counted
			return true
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
			before := q.added.List()
			q.added = scope.NewRules(change(slices.Clone(before))...)
			ch.writeRules(before)
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

// rulesSchema is that of the rules; in 1 they had their hits with them, and those of the configuration's rules.
const rulesSchema = 2

// loadRules puts the rules that were added into the gate, and what all rules have decided so far. The hits of a
// configuration's rules that are not there any more are forgotten.
func (q *Queue) loadRules() error {
	known := q.opt.Gate != nil
	if !known {
		q.opt.Gate = scope.NewGate(nil)
	}
	q.counts = map[*scope.Rule]hitCount{}
	value, err := q.store.db.Value(q.keys.start(kindRules))
	if err != nil {
		return err
	}
	list, old, err := readRules(value)
	if err != nil {
		return err
	}
	counted, err := q.readHits(old)
	if err != nil {
		return err
	}
	for _, r := range list {
		q.resumeCount(addedRule, r, counted)
	}
	for _, r := range q.opt.Gate.Rules().List() {
		q.resumeCount(configuredRule, r, counted)
	}
	for key := range counted {
		if known || key[len(q.keys)+1] == addedRule {
			q.stale = append(q.stale, []byte(key))
			delete(counted, key)
		}
	}
	q.others, q.outdated = counted, old[0] != nil
	q.added = scope.NewRules(list...)
	q.opt.Gate.Add(q.added)
	return nil
}

// readRules reads the rules that were added. What an earlier release wrote tells how many URLs each has decided, and
// each of the configuration.
func readRules(value []byte) (added []*scope.Rule, old [2]map[string]int64, err error) {
	if value == nil {
		return nil, old, nil
	}
	r := newReaderUpTo(rulesSchema, value)
	if r.schema == 1 {
		old = [2]map[string]int64{{}, {}}
	}
	for range r.Count(1) {
		rule, err := scope.ParseRule(r.Text())
		if err != nil || rule == nil {
			r.Fail()
			break
		}
		added = append(added, rule)
		if r.schema == 1 {
			old[0][rule.Text()] = r.Size()
		}
	}
	if r.schema == 1 {
		for range r.Count(2) {
			old[1][r.Text()] += r.Size()
		}
	}
	if err := r.done(); err != nil {
		return nil, old, fmt.Errorf("rules: %w", err)
	}
	return added, old, nil
}

// writeRules writes the rules that were added, and takes away what was counted for those that were before. If an
// earlier release had written them, what all have decided is written beside.
func (c *changes) writeRules(before []*scope.Rule) {
	q := c.q
	added := q.added.List()
	for _, r := range before {
		if !slices.Contains(added, r) && q.counts[r].rule == r {
			delete(q.counts, r)
			c.writes.delete(q.keys.hits(addedRule, r))
		}
	}
	w := newWriterOf(rulesSchema, 64)
	w.Uint(uint64(len(added)))
	for _, r := range added {
		w.Text(r.Line())
		q.counts[r] = hitCount{q.keys.hits(addedRule, r), r}
	}
	for r := range q.counts {
		c.hits[r] = struct{}{}
	}
	for key, n := range q.others {
		c.writes.set([]byte(key), countOf(n))
	}
	c.writes.set(q.keys.start(kindRules), w)
}
