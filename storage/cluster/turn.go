package cluster

import (
	"context"
	"time"

	"github.com/webrace/webrace/storage/frontier"
)

// askEvery is how often the queues are asked what has become of them; and how often the database is at first, and
// envelopes leave: see [pace.Pace].
const askEvery = 100 * time.Millisecond

func (c *Cluster) turnSoon() { raise(c.turns) }

// lookSoon has the database asked soon what has changed in it.
func (c *Cluster) lookSoon() {
	c.soon.Store(true)
	c.turnSoon()
}

// work does what there is to do for the queues of this node, until that is closed. One goroutine does all of it, one
// thing after the other: what is noted of a partition is true because nothing is received there meanwhile.
func (c *Cluster) work() {
	tick := time.NewTicker(c.options.askEvery)
	defer tick.Stop()
	for {
		if err := c.turn(); err != nil && c.ended.Err() == nil {
			c.options.Logger.Error("what comes from other partitions waits", "error", err)
			select {
			case <-time.After(lookEvery):
			case <-c.ended.Done():
			}
		}
		select {
		case <-c.turns:
		case <-tick.C:
		case <-c.ended.Done():
			return
		}
	}
}

// receivers returns the queues that receive.
func (c *Cluster) receivers() (all []*attached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.links {
		if !a.isResting() {
			all = append(all, a)
		}
	}
	return all
}

// turn receives what has come, and notes what has changed. The database is asked when something may have changed in it,
// or at last after lookEvery.
func (c *Cluster) turn() error {
	all := c.receivers()
	if len(all) == 0 {
		return nil
	}
	asks := c.asks(time.Now())
	steps := []func([]*attached) error{c.begin, c.receiveNear}
	if asks {
		steps = []func([]*attached) error{c.begin, c.receiveAll, c.receiveNear, c.notePending, c.endPasses}
	} else if now := time.Now(); now.Sub(c.noted) >= c.options.askEvery && c.asked.Wait(now) <= 0 {
		steps = append(steps, c.notePending)
	}
	for _, step := range steps {
		if err := step(all); err != nil {
			return err
		}
	}
	return c.endRuns(all, asks)
}

// asks reports whether the database is to be asked now.
func (c *Cluster) asks(now time.Time) bool {
	if c.soon.Load() {
		if c.asked.Wait(now) > 0 {
			return false
		}
		c.soon.Store(false)
		c.asked.Next(now)
		return true
	}
	if c.asked.Since(now) < c.options.lookEvery {
		return false
	}
	c.asked.Rest(now)
	return true
}

// begin finds out what is noted of queues that were attached since the last turn.
func (c *Cluster) begin(all []*attached) error {
	var fresh []*attached
	var n note
	for _, a := range all {
		if a.pending == nil {
			fresh = append(fresh, a)
			n.busy(a)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	if err := c.readPending(fresh); err != nil {
		return err
	}
	return c.write(&n)
}

func (c *Cluster) readPending(all []*attached) error {
	at := make(map[place]*attached)
	for _, a := range all {
		at[a.place] = a
	}
	var read map[*attached]map[string]waiting
	pipelines, partitions := placesOf(all)
	err := c.do(c.ended, func(ctx context.Context) error {
		read = make(map[*attached]map[string]waiting)
		rows, err := c.db.QueryContext(ctx, `SELECT pipeline, p, crawl, pass FROM webrace.abroad JOIN unnest($1::text[], $2::bigint[]) AS l (pipeline, p) USING (pipeline, p)
			WHERE pending`, pipelines, partitions)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var is place
			var p frontier.Pass
			if err := rows.Scan(&is.pipeline, &is.p, &p.Crawl, &p.Number); err != nil {
				return err
			}
			a := at[is]
			if read[a] == nil {
				read[a] = make(map[string]waiting)
			}
			read[a][p.Crawl] = waiting{number: p.Number}
		}
		return rows.Err()
	})
	if err != nil {
		return err
	}
	for _, a := range all {
		if a.pending = read[a]; a.pending == nil {
			a.pending = make(map[string]waiting)
		}
	}
	return nil
}

func placesOf(all []*attached) (pipelines []string, partitions []int) {
	for _, a := range all {
		pipelines, partitions = append(pipelines, a.pipeline), append(partitions, a.p)
	}
	return pipelines, partitions
}

// waiting returns the passes that are noted as waiting for URLs.
func (a *attached) waiting() []frontier.Pass {
	noted := make([]frontier.Pass, 0, len(a.pending))
	for crawl, w := range a.pending {
		noted = append(noted, frontier.Pass{Crawl: crawl, Number: w.number})
	}
	return noted
}

// notePending notes the passes that wait for nothing here any more.
func (c *Cluster) notePending(all []*attached) error {
	c.noted = time.Now()
	var n note
	for _, a := range all {
		noted := a.waiting()
		if len(noted) == 0 || a.receiving.Load() > 0 { // what is not durable yet is not seen as waiting
			continue
		}
		a.call(func(to frontier.Receiver) {
			for i, pending := range to.Pending(noted) {
				if !pending {
					n.done(a, to, noted[i])
				}
			}
		})
	}
	return c.write(&n)
}
