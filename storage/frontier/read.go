package frontier

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/webrace/webrace"
)

// readRecord returns what is known of a URL, or nil.
func (s *Store) readRecord(k keys, id urlID) (*record, error) {
	value, err := s.get(k.url(kindSeen, id))
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
func (s *Store) readRecords(k keys, ids []urlID, found func(id urlID, value []byte) error) (err error) {
	if len(ids) == 0 {
		return nil
	}
	s.reads.RLock()
	defer s.reads.RUnlock()
	if s.shut {
		return ErrClosed
	}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: k.start(kindSeen), UpperBound: k.end(kindSeen)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	var key []byte
	for _, id := range ids {
		key = append(append(key[:0], k[0], k[1], kindSeen), id[:]...)
		var value []byte
		if it.SeekPrefixGE(key) && bytes.Equal(it.Key(), key) {
			if value, err = it.ValueAndErr(); err != nil {
				return err
			}
		}
		if err := it.Error(); err != nil {
			return err
		}
		if err := found(id, value); err != nil {
			return err
		}
	}
	return nil
}

// readHost returns how a host is treated: one request at a time and at once, if nothing else is known.
func (s *Store) readHost(k keys, id hostID) (*hostRecord, error) {
	value, err := s.get(k.host(id))
	if err != nil {
		return nil, err
	}
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
	value, err := s.get(k.url(kindVisit, id))
	if err != nil || value == nil {
		return nil, err
	}
	v, err := decodeVisit(value)
	if err != nil {
		return nil, fmt.Errorf("visit of URL %x: %w", id, err)
	}
	return v, nil
}
