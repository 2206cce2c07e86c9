package frontier

import (
	"fmt"

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
