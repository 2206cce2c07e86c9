package queue

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// The kinds of damage that Check finds.
const (
	damagedValue = "damaged value"
	wrongTotals  = "wrong totals"
	strayRecords = "stray records" // of a queue that has no name
)

// Check verifies that every record can be read, and that what is said of their number is true; asked to, it removes
// what cannot be read and puts the numbers right. No queue may be open.
func (s *Store) Check(ctx context.Context, repair bool, report fsck.Report) error {
	s.mu.Lock()
	open := len(s.queues)
	s.mu.Unlock()
	if open > 0 {
		return fmt.Errorf("check the queues: %d are open", open)
	}
	checked, err := s.db.Check(ctx, repair, report)
	if err != nil {
		return err
	}
	c := &check{Check: checked, store: s, names: make(map[uint32]string), found: make(map[uint32]state)}
	if err := c.Run(c.readNames, c.records, c.totals); err != nil {
		return fmt.Errorf("check the queues: %w", err)
	}
	return nil
}

type check struct {
	*pebbledb.Check
	store *Store
	names map[uint32]string // by number
	found map[uint32]state
}

func (c *check) tell(kind, where, format string, args ...any) {
	c.Tell(kind, where, c.Repair, format, args...)
}

func (c *check) readNames() error {
	return c.Each("names", []byte(nameKey), []byte(namesEnd), func(key, value []byte) error {
		name := string(key[len(nameKey):])
		if len(value) != numberSize {
			c.tell(damagedValue, name, "its number is %x; its records cannot be found", value)
			return c.Remove(key)
		}
		c.names[binary.BigEndian.Uint32(value)] = name
		return nil
	})
}

// records reads all of them, and counts those that are whole.
func (c *check) records() error {
	stray := make(map[uint32]int)
	err := c.Each("records", []byte(recordKey), []byte(stateKey), func(key, value []byte) error {
		if len(key) < len(recordKey)+numberSize {
			c.tell(damagedValue, fmt.Sprintf("%x", key), "the key of no record")
			return c.Remove(key)
		}
		number := binary.BigEndian.Uint32(key[len(recordKey):])
		if c.names[number] == "" {
			stray[number]++
			return c.Remove(key)
		}
		sequence, err := sequenceOf(key)
		if err == nil {
			_, err = decodeRecord(value)
		}
		if err != nil {
			c.tell(damagedValue, c.names[number], "record %d, which is lost: %v", sequence, err)
			return c.Remove(key)
		}
		s := c.found[number]
		s.add(1, sizeOf(value))
		c.found[number] = s
		return nil
	})
	for number, n := range stray {
		c.tell(strayRecords, fmt.Sprintf("queue %d", number), "%d records of a queue whose name is not known; they are lost", n)
	}
	return err
}

func (c *check) totals() error {
	for number, name := range c.names {
		said, err := c.store.state(number)
		if err != nil && !errors.Is(err, errDamaged) {
			return err
		}
		found := c.found[number]
		if err == nil && said == found {
			continue
		}
		c.tell(wrongTotals, name, "it says %d records of %d bytes, and there are %d of %d", said.records, said.bytes, found.records, found.bytes)
		if err := c.Set(keyOf(stateKey, number), found.encode()); err != nil {
			return err
		}
	}
	return nil
}
