package frontier

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// filterPath is where the filter of a pipeline lies while its queue is closed. It is no part of the
// database: a copy made without it, or a file from another time, costs a new one.
func (s *Store) filterPath(k keys) string {
	return s.db.FS.PathJoin(s.dir, "filter-"+hex.EncodeToString(k[:]))
}

// forgetFilter removes the filter of a pipeline whose records are about to change: it stands no longer than
// they stay as they are.
func (s *Store) forgetFilter(k keys) {
	s.db.FS.Remove(s.filterPath(k)) // that of another state would not be believed either
}

// openFilter reads the filter as the queue was closed with it, or else has it made anew from the database
// once there is an offer, which takes a while: until then the disk is asked. The first URLs to hand out go before it.
func (q *Queue) openFilter() {
	q.filter = &filter{most: filterBytes}
	q.stop, q.needFilter = make(chan struct{}), func() {}
	switch {
	case q.store.readOnly:
		return
	case q.count.known == 0:
		q.filter.complete()
		return
	}
	f, err := q.store.readFilter(q.keys, q.count.stamp())
	q.store.forgetFilter(q.keys)
	if err == nil {
		q.filter = f
		return
	}
	known := q.count.known
	q.needFilter = sync.OnceFunc(func() {
		q.filter.reserve(known)
		q.behind.Go(func() {
			if err := q.makeFilter(); err != nil && !errors.Is(err, ErrClosed) {
				q.fail(fmt.Errorf("make the filter of %s: %w", q.pipeline, err))
			}
		})
	})
}

// makeFilter puts in what the database has, and what is accepted meanwhile puts itself in. A URL may come
// twice, or come before it is durable; nothing is ever taken out.
func (q *Queue) makeFilter() error {
	const chunk = 4096
	ids := make([]urlID, 0, chunk)
	from, end := q.keys.start(kindSeen), q.keys.end(kindSeen)
	for more := true; more; {
		select {
		case <-q.stop:
			return ErrClosed
		default:
		}
		ids, more = ids[:0], false
		err := q.store.db.Scan(from, end, func(key, _ []byte) (bool, error) {
			if len(ids) == chunk {
				more = true
				from = append(from[:0], key...)
				return false, nil
			}
			ids = append(ids, urlID(key[len(key)-len(urlID{}):]))
			return true, nil
		})
		if err != nil {
			return err
		}
		q.filter.add(ids...)
	}
	q.filter.complete()
	return nil
}

// closeFilter ends the making of the filter, and keeps one that is complete, unless the queue ended by an
// error: then the disk may not be where its counters are. Without it all is well, only slower for a while,
// so a failure to keep it is none to close.
func (q *Queue) closeFilter(err error) {
	q.closing.Do(func() {
		close(q.stop)
		q.behind.Wait()
		value := q.filter.encode(q.count.stamp())
		if err != nil || value == nil || q.count.known == 0 {
			return
		}
		if err := q.store.writeFilter(q.keys, value); err != nil {
			q.store.log.Warn("filter is not kept", "pipeline", q.pipeline, "error", err)
		}
	})
}

func (s *Store) readFilter(k keys, at stamp) (_ *filter, err error) {
	file, err := s.db.FS.Open(s.filterPath(k), vfs.SequentialReadsOption)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > 2*filterBytes {
		return nil, errFilter
	}
	value := make([]byte, info.Size())
	if _, err := io.ReadFull(file, value); err != nil {
		return nil, err
	}
	return decodeFilter(value, at, filterBytes)
}

// writeFilter replaces the file as a whole; a torn one would be noticed by its sum.
func (s *Store) writeFilter(k keys, value []byte) (err error) {
	path := s.filterPath(k)
	file, err := s.db.FS.Create(path+".new", vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = file.Write(value)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return s.db.FS.Rename(path+".new", path)
}
