package objects

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// Last returns the sequence number of the last durable version that was not removed; 0 when there is none.
func (s *Store) Last() uint64 {
	s.mu.Lock()
	last := s.durable.seq
	s.mu.Unlock()
	if s.users.enter() != nil {
		return last
	}
	defer s.users.Leave()
	it, err := s.db.NewIter(pebbledb.IterOptions{LowerBound: logKey(0), UpperBound: logKey(last + 1)})
	if err != nil {
		return last
	}
	defer it.Close()
	if !it.Last() || len(it.Key()) != len(logKey(0)) {
		return 0
	}
	return binary.BigEndian.Uint64(it.Key()[2:])
}

// Next returns the versions whose sequence numbers follow after, in their order, at most max and at
// least one: it waits for one, until ctx ends or the store closes. A follower goes on from the Seq of
// the last version it got. Versions that were removed are passed over; at one that is about to go, it waits
// until that is decided.
func (s *Store) Next(ctx context.Context, after uint64, max int) ([]Version, error) {
	if max < 1 {
		return nil, fmt.Errorf("follow object cache: cannot return %d versions", max)
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.mu.Lock()
		news, last := s.news.Next(), s.durable.seq
		s.mu.Unlock()
		if last > after {
			versions, err := s.logged(ctx, after+1, last+1, max, forwards)
			if err != nil || len(versions) > 0 {
				return versions, err
			}
			after = last // nothing up to there is kept any more
		}
		if err := s.users.enter(); err != nil {
			return nil, err
		}
		s.users.Leave()
		select {
		case <-news:
		case <-ctx.Done():
		}
	}
}

// Previous returns the versions whose sequence numbers come before one, the last of them first, at most max, and none
// when there are none. It waits for none to come, and does with those that were removed, or are about to go, as Next
// does. Whoever goes back goes on from the Seq of the last version that it got. It costs what Next does, a look into
// the index for each version, because the log is read backwards.
func (s *Store) Previous(ctx context.Context, before uint64, max int) ([]Version, error) {
	if max < 1 {
		return nil, fmt.Errorf("go back in object cache: cannot return %d versions", max)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	last := s.durable.seq
	s.mu.Unlock()
	return s.logged(ctx, 0, min(before, last+1), max, backwards)
}

// direction is how an iterator goes.
type direction struct{ first, next func(*pebbledb.Iterator) bool }

var (
	forwards  = direction{(*pebbledb.Iterator).First, (*pebbledb.Iterator).Next}
	backwards = direction{(*pebbledb.Iterator).Last, (*pebbledb.Iterator).Prev}
)

// logged reads the log between two sequence numbers, from the first to before the second, in a direction.
func (s *Store) logged(ctx context.Context, from, to uint64, max int, way direction) ([]Version, error) {
	if err := s.users.enter(); err != nil {
		return nil, err
	}
	defer s.users.Leave()
	it, err := s.db.NewIter(pebbledb.IterOptions{LowerBound: logKey(from), UpperBound: logKey(to)})
	if err != nil {
		return nil, fmt.Errorf("follow object cache: %w", err)
	}
	defer it.Close()
	var versions []Version
	for more := way.first(it); more && len(versions) < max; more = way.next(it) {
		url, number, err := decodeLog(it.Value())
		if err != nil {
			return nil, fmt.Errorf("follow object cache: at %d: %w", binary.BigEndian.Uint64(it.Key()[2:]), err)
		}
		if err := s.holds.decided(ctx, versionKey{url, number}); err != nil {
			return nil, err
		}
		e, kept, err := s.find(url, number)
		if err != nil {
			return nil, fmt.Errorf("follow object cache: %w", err)
		}
		if !kept {
			continue // removed since
		}
		versions = append(versions, e.Version)
	}
	if err := it.Error(); err != nil {
		return nil, fmt.Errorf("follow object cache: %w", err)
	}
	return versions, nil
}

// Cursor returns where a follower is: the sequence number last given to SetCursor, or 0.
func (s *Store) Cursor(name string) (uint64, error) {
	if err := s.users.enter(); err != nil {
		return 0, err
	}
	defer s.users.Leave()
	seq, _, err := get(s, cursorKey(name), decodeNumber)
	if err != nil {
		return 0, fmt.Errorf("cursor %s: %w", name, err)
	}
	return seq, nil
}

// SetCursor remembers where a follower is. If sync is set it is durable when SetCursor returns, else with
// the next write that is: for followers that may do some work twice.
func (s *Store) SetCursor(name string, seq uint64, sync bool) error {
	if err := s.users.enter(); err != nil {
		return err
	}
	defer s.users.Leave()
	if s.options.ReadOnly {
		return fmt.Errorf("set cursor %s: %w", name, ErrReadOnly)
	}
	options := pebbledb.NoSync
	if sync {
		options = pebbledb.Sync
	}
	if err := s.db.Set(cursorKey(name), encodeNumber(seq), options); err != nil {
		return fmt.Errorf("set cursor %s: %w", name, err)
	}
	return nil
}
