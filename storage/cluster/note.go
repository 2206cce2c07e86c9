package cluster

import (
	"context"
	"slices"

	"github.com/webrace/webrace/storage/frontier"
)

// note is what is to be noted of partitions, in one transaction.
type note struct {
	passes []notedPass
	begun  []*attached // that are not quiet
	taken  []taken     // from inboxes
	back   []*bundle   // that could not be read, of others that could
	waits  bool        // some pass of what was taken waits
}

type notedPass struct {
	of *attached
	frontier.Pass
	pending  bool
	requests uint64 // that the partition ever made for the crawl; only of one that does not wait there
}

type taken struct {
	p  int
	id int64
}

func (n *note) pass(of *attached, p frontier.Pass, pending bool) {
	n.passes = append(n.passes, notedPass{of: of, Pass: p, pending: pending})
}

// done notes a pass that waits for nothing in a partition, with what it cost there. A queue that cannot tell that is
// asked another time: until then the pass is not over.
func (n *note) done(of *attached, to frontier.Receiver, p frontier.Pass) {
	requests, err := to.Requests(p.Crawl)
	if err != nil {
		of.fail(err)
		n.pass(of, p, true)
		return
	}
	n.passes = append(n.passes, notedPass{of: of, Pass: p, requests: requests})
}

// busy notes that a queue has something to do, unless that is noted already.
func (n *note) busy(a *attached) {
	if a.ends && a.state != busy {
		n.begun = append(n.begun, a)
	}
}

// write makes what is noted durable: only as the process that took part last.
func (c *Cluster) write(n *note) error {
	if len(n.passes)+len(n.begun)+len(n.taken) == 0 { // back comes of what was taken
		return nil
	}
	s := n.statement(c.boot)
	err := c.do(c.ended, func(ctx context.Context) error {
		_, err := c.db.ExecContext(ctx, s.text(), s.args...)
		return err
	})
	if err != nil {
		return err
	}
	for _, p := range n.passes {
		if delete(p.of.pending, p.Crawl); p.pending {
			p.of.pending[p.Crawl] = waiting{p.Number, true}
		}
	}
	for _, a := range n.begun {
		a.state = busy
	}
	if n.ends() {
		c.lookSoon()
		c.tellOthers()
	}
	return nil
}

// ends reports whether something may be over by what is noted.
func (n *note) ends() bool {
	return !n.waits && len(n.taken) > 0 || slices.ContainsFunc(n.passes, func(p notedPass) bool { return !p.pending })
}

// statement is what notes it.
func (n *note) statement(boot string) (s statement) {
	if len(n.begun) > 0 {
		pipelines, partitions := placesOf(n.begun)
		s.add(`UPDATE webrace.quiet AS q SET quiet = FALSE FROM unnest(?::text[], ?::bigint[]) AS r (pipeline, p)
			WHERE q.pipeline = r.pipeline AND q.p = r.p AND q.boot = ?`, pipelines, partitions, boot)
	}
	if len(n.back) > 0 {
		s.add(insertRows, rowsOf(n.back)...)
	}
	if len(n.taken) > 0 {
		var from []int
		var ids []int64
		for _, t := range n.taken {
			from, ids = append(from, t.p), append(ids, t.id)
		}
		s.add(`DELETE FROM webrace.inbox AS i USING unnest(?::bigint[], ?::bigint[]) AS r (p, id) WHERE i.p = r.p AND i.id = r.id`, from, ids)
	}
	n.addPasses(&s)
	return s
}

func (n *note) addPasses(s *statement) {
	var of, crawls []string
	var numbers, requests []int64
	var at []int
	var pending []bool
	costs := false
	for _, p := range n.passes {
		of, crawls, numbers = append(of, p.of.pipeline), append(crawls, p.Crawl), append(numbers, int64(p.Number))
		at, pending = append(at, p.of.p), append(pending, p.pending)
		requests = append(requests, int64(p.requests))
		costs = costs || p.requests > 0
	}
	if costs {
		s.add(`INSERT INTO webrace.cost SELECT pipeline, crawl, p, requests
			FROM unnest(?::text[], ?::text[], ?::bigint[], ?::bigint[]) AS r (pipeline, crawl, p, requests) WHERE requests > 0
			ON CONFLICT (pipeline, crawl, p) DO UPDATE SET requests = excluded.requests`, of, crawls, at, requests)
	}
	if len(of) > 0 {
		s.add(`INSERT INTO webrace.abroad AS a SELECT pipeline, crawl, pass, p, pending
			FROM unnest(?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::boolean[]) AS r (pipeline, crawl, pass, p, pending)
			ON CONFLICT (pipeline, crawl, p) DO UPDATE SET pass = greatest(a.pass, excluded.pass), pending = excluded.pending`,
			of, crawls, numbers, at, pending)
	}
}

// wait notes a pass that waits for URLs in a partition, unless that is noted.
func (n *note) wait(a *attached, p frontier.Pass) {
	n.waits = true
	if is, noted := a.pending[p.Crawl]; !noted || !is.ours || is.number < p.Number {
		n.pass(a, p, true)
	}
}
