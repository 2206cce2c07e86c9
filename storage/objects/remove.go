package objects

import (
	"context"
	"fmt"
	"time"

	"github.com/webrace/webrace/storage/internal/pebbledb"

	"github.com/webrace/webrace"
)

// doomed is a version to be removed, as it was when that was decided.
type doomed struct {
	versionKey
	validated time.Time
}

// removed is what became of a batch of doomed versions.
type removed struct {
	versions []Version
	bodies   int
	bytes    int64 // of records that nothing refers to any more
}

// remove removes those of a batch that are still going and were not validated since. What queued writes
// build on is taken back: the next collection comes to it. With telling, their URLs are noted in the same batch.
func (s *Store) remove(batch []doomed, telling bool) (removed, error) {
	var all removed
	err := s.exclusively(func(c *commit) error {
		r := removal{commit: c}
		for _, d := range batch {
			if err := r.remove(d); err != nil {
				return fmt.Errorf("remove version %d of %s: %w", d.number, d.url, err)
			}
		}
		for i := range r.versions {
			if telling {
				c.set(removedKey(r.versions[i].URL), nil)
			}
		}
		all = r.removed
		return nil
	})
	if telling {
		s.removals.Add(1)
	}
	return all, err
}

// TellRemoved tells the URLs of versions that a collection removed, those of one whose teller did not return
// included: some hundred at a time, until tell has taken them without an error.
func (s *Store) TellRemoved(ctx context.Context, tell func(urls []string) error) error {
	until := s.removals.Load() + 1 // the first call tells what an earlier process removed
	if s.told.Load() == until {
		return nil
	}
	for {
		urls, err := s.untold()
		if err != nil {
			return err
		}
		if len(urls) == 0 {
			s.told.Store(until)
			return nil
		}
		if s.options.ReadOnly {
			return fmt.Errorf("tell what was removed: %w", ErrReadOnly)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := tell(urls); err != nil {
			return err
		}
		batch := s.db.NewBatch()
		for _, url := range urls {
			batch.Delete(removedKey(url))
		}
		if err := batch.Commit(pebbledb.NoSync); err != nil { // to tell it again does no harm
			return fmt.Errorf("write index: %w", err)
		}
	}
}

// untold returns some URLs of which versions were removed, and it was not told.
func (s *Store) untold() (urls []string, err error) {
	prefix := removedKey("")
	for key := range under(s.db, prefix, &err) {
		if len(urls) == doomedAtOnce {
			break
		}
		urls = append(urls, string(key[len(prefix):]))
	}
	return urls, err
}

// exclusively has the committer do a job of its own, in one batch of the index, while no Put or Touch is
// between its decision and its place in the queue. So what a job sees in the index, together with what
// is queued, is all that was decided upon.
func (s *Store) exclusively(job func(*commit) error) error {
	return s.do(&write{job: job, exclusive: true})
}

// do queues a job and waits until what it did is durable.
func (s *Store) do(w *write) error {
	done := make(chan error, 1)
	w.done = func(err error) { done <- err }
	if _, err := s.enqueue(w); err != nil {
		return err
	}
	return <-done
}

// removal takes versions out of the index.
type removal struct {
	*commit
	removed
}

func (r *removal) remove(d doomed) error {
	if !r.store.holds.isGoing(d.versionKey) {
		return nil
	}
	e, key, err := r.find(d.url, d.number)
	if err != nil || e == nil || !e.ValidatedAt.Equal(d.validated) || r.store.awaited(e) {
		return err
	}
	return r.drop(e, key)
}

// awaited reports whether a queued write builds on a version or on its body.
func (s *Store) awaited(e *entry) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, version := s.versions[e.View()]
	_, body := s.payloads[e.Digest]
	return version || body
}

// find returns an entry and its key, as they are by now; nil when there is no such version.
func (c *commit) find(url string, number int) (*entry, []byte, error) {
	last, err := c.last(url)
	if err != nil || last == nil {
		return nil, nil, err
	}
	if last.Number == number {
		return last, latestKey(url), nil
	}
	key := olderKey(url, number)
	e, ok, err := getFrom(c.batch, key, func(value []byte) (entry, error) { return decodeEntry(url, value) })
	if err != nil || !ok {
		return nil, nil, err
	}
	return &e, key, nil
}

// last returns the latest entry of a URL, as it is by now; nil when there is none.
func (c *commit) last(url string) (*entry, error) {
	if e, ok := c.latest[url]; ok {
		return e, nil
	}
	e, ok, err := c.store.durableLatest(url)
	if err != nil || !ok {
		return nil, err
	}
	c.latest[url] = &e
	return &e, nil
}

// drop removes an entry and everything that belongs to it.
func (r *removal) drop(e *entry, key []byte) error {
	if err := r.unlink(e, key); err != nil {
		return err
	}
	r.bury(e.shot())
	r.bury(e.meta())
	return r.release(e)
}

// unlink takes an entry out of the index, with its links and its place in the log. If it was the latest of
// its URL, the one before it becomes that; a tombstone keeps its number from being used again.
func (r *removal) unlink(e *entry, key []byte) error {
	if last := r.latest[e.View()]; last != nil && last.Number == e.Number {
		if err := r.promote(last); err != nil {
			return err
		}
	} else {
		r.batch.Delete(key)
	}
	r.batch.Delete(linksKey(e.Seq))
	r.batch.Delete(logKey(e.Seq))
	r.counts.versions--
	r.versions = append(r.versions, e.Version)
	return nil
}

// promote puts the newest version before last in its place.
func (r *removal) promote(last *entry) error {
	highest, _, err := getFrom(r.batch, tombstoneKey(last.View()), decodeNumber)
	if err != nil {
		return err
	}
	r.set(tombstoneKey(last.View()), encodeNumber(max(highest, uint64(last.Number))))
	it, err := over(r.batch, olderPrefix(last.View()))
	if err != nil {
		return err
	}
	defer it.Close()
	if !it.Last() {
		r.latest[last.View()] = nil
		r.counts.urls--
		return it.Error()
	}
	before, err := decodeEntry(last.View(), it.Value())
	if err != nil {
		return err
	}
	r.batch.Delete(it.Key())
	r.latest[last.View()] = &before
	return nil
}

// release takes back a version's reference to its body. The record that holds the body stays alive as
// long as any version refers to it, also after its own version is gone.
func (r *removal) release(e *entry) error {
	p, err := r.body(e.Digest)
	if err != nil {
		return err
	}
	if p == nil || p.record != e.record {
		r.bury(e.record)
	}
	if p == nil {
		return nil
	}
	if p.refs > 1 {
		p.refs--
		return nil
	}
	r.batch.Delete(payloadKey(e.Digest))
	r.payloads[e.Digest] = nil
	r.counts.payloads--
	r.counts.payloadBytes -= uint64(p.size)
	r.bodies++
	r.bury(p.record)
	return nil
}

// body returns what is known of a body by now; nil when there is none.
func (c *commit) body(digest webrace.Digest) (*payload, error) {
	if p, ok := c.payloads[digest]; ok {
		return p, nil
	}
	p, ok, err := get(c.store, payloadKey(digest), decodePayload)
	if err != nil || !ok {
		return nil, err
	}
	c.payloads[digest] = &p
	return &p, nil
}

// bury counts the bytes of a record that nothing refers to any more.
func (r *removal) bury(l location) {
	r.bytes += l.length
	r.commit.bury(l)
}

func (c *commit) bury(l location) {
	if state := c.state(l.segment); state != nil {
		state.dead += l.length
		c.counts.dead += uint64(l.length)
	}
}

// state returns what is known of a segment, to be changed; nil if there is no such segment.
func (c *commit) state(number uint32) *segmentState {
	state := c.store.segments.known(number)
	if state != nil {
		c.segments[number] = true
	}
	return state
}
