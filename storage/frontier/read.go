package frontier

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/webrace/webrace/storage/internal/pebbledb"

	"github.com/webrace/webrace"
)

// readRecord returns what is known of a URL, or nil.
func (s *Store) readRecord(k keys, id urlID) (*record, error) {
	value, err := s.db.Value(k.url(kindSeen, id))
	if err != nil || value == nil {
		return nil, err
	}
	rec, err := decodeRecord(value)
	if err != nil {
		return nil, fmt.Errorf("record of URL %x: %w", id, err)
	}
	return rec, nil
}

// readRecords calls found for each of the URLs, which are sorted; with nil for one that has no record. The
// value is valid during the call.
func (s *Store) readRecords(k keys, ids []urlID, found func(id urlID, value []byte) error) error {
	key := k.start(kindSeen)
	kind := len(key)
	return s.readEach(k, kindSeen, len(ids), func(i int) []byte {
		key = append(key[:kind], ids[i][:]...)
		return key
	}, func(i int, value []byte) error { return found(ids[i], value) })
}

// readHosts calls found for each of the hosts, which are sorted.
func (s *Store) readHosts(k keys, ids []hostID, found func(id hostID, h *hostRecord)) error {
	key := k.start(kindHost)
	kind := len(key)
	return s.readEach(k, kindHost, len(ids), func(i int) []byte {
		key = binary.BigEndian.AppendUint64(key[:kind], uint64(ids[i]))
		return key
	}, func(i int, value []byte) error {
		h, err := hostFrom(ids[i], value)
		if err == nil {
			found(ids[i], h)
		}
		return err
	})
}

// readEach calls found with the values of n keys of a kind, which are sorted, and nil for one that is not there: one
// after the other is found sooner than each by itself.
func (s *Store) readEach(k keys, kind byte, n int, key func(i int) []byte, found func(i int, value []byte) error) (err error) {
	if n == 0 {
		return nil
	}
	if err := s.db.Enter(); err != nil {
		return err
	}
	defer s.db.Leave()
	it, err := s.db.NewIter(pebbledb.IterOptions{LowerBound: k.start(kind), UpperBound: k.end(kind)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for i := range n {
		var value []byte
		if want := key(i); it.SeekPrefixGE(want) && bytes.Equal(it.Key(), want) {
			if value, err = it.ValueAndErr(); err != nil {
				return err
			}
		}
		if err := it.Error(); err != nil {
			return err
		}
		if err := found(i, value); err != nil {
			return err
		}
	}
	return nil
}

// readHost returns how a host is treated.
func (s *Store) readHost(k keys, id hostID) (*hostRecord, error) {
	value, err := s.db.Value(k.host(id))
	if err != nil {
		return nil, err
	}
	return hostFrom(id, value)
}

// hostFrom decodes how a host is treated: one request at a time and at once, if nothing is known.
func hostFrom(id hostID, value []byte) (*hostRecord, error) {
	if value == nil {
		return &hostRecord{parallel: 1}, nil
	}
	h, err := decodeHost(value)
	if err != nil {
		return nil, fmt.Errorf("record of host %x: %w", id, err)
	}
	return h, nil
}

// readVisit returns the last visit of a URL without its reach, or nil.
func (s *Store) readVisit(k keys, id urlID) (*webrace.Visit, error) {
	value, err := s.db.Value(k.url(kindVisit, id))
	if err != nil || value == nil {
		return nil, err
	}
	v, err := decodeVisit(value)
	if err != nil {
		return nil, fmt.Errorf("visit of URL %x: %w", id, err)
	}
	return v, nil
}
