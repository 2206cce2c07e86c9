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
	if repair && s.readOnly {
		return fmt.Errorf("repair the queues: %w", ErrReadOnly)
	}
	c := &check{ctx: ctx, store: s, repair: repair, report: report, names: make(map[uint32]string), found: make(map[uint32]state)}
	for _, part := range []func() error{c.readNames, c.records, c.totals} {
		if err := part(); err != nil {
			return fmt.Errorf("check the queues: %w", err)
		}
	}
	if repair {
		return s.db.Sync()
	}
	return nil
}

type check struct {
	ctx    context.Context
	store  *Store
	repair bool
	report fsck.Report
	names  map[uint32]string // by number
	found  map[uint32]state
	read   int64
}

func (c *check) tell(kind, where, format string, args ...any) {
	c.report.Reportf("queues", kind, where, c.repair, format, args...)
}

func (c *check) readNames() error {
	return c.store.db.Scan([]byte(nameKey), []byte(namesEnd), func(key, value []byte) (bool, error) {
		name := string(key[len(nameKey):])
		if len(value) != numberSize {
			c.tell(damagedValue, name, "its number is %x; its records cannot be found", value)
			return true, c.remove(key)
		}
		c.names[binary.BigEndian.Uint32(value)] = name
		return true, nil
	})
}

// records reads all of them, and counts those that are whole.
func (c *check) records() error {
	stray := make(map[uint32]int)
	err := c.store.db.Scan([]byte(recordKey), []byte(stateKey), func(key, value []byte) (bool, error) {
		if c.read++; c.read%1000 == 0 {
			fsck.Tell(c.ctx, fsck.Progress{Store: "queues", Step: "records", Done: c.read})
		}
		if len(key) < len(recordKey)+numberSize {
			c.tell(damagedValue, fmt.Sprintf("%x", key), "the key of no record")
			return true, errors.Join(c.ctx.Err(), c.remove(key))
		}
		number := binary.BigEndian.Uint32(key[len(recordKey):])
		if c.names[number] == "" {
			stray[number]++
			return true, errors.Join(c.ctx.Err(), c.remove(key))
		}
		sequence, err := sequenceOf(key)
		if err == nil {
			_, err = decodeRecord(value)
		}
		if err != nil {
			c.tell(damagedValue, c.names[number], "record %d, which is lost: %v", sequence, err)
			return true, errors.Join(c.ctx.Err(), c.remove(key))
		}
		s := c.found[number]
		s.add(1, sizeOf(value))
		c.found[number] = s
		return true, c.ctx.Err()
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
		if c.repair {
			if err := c.store.db.Set(keyOf(stateKey, number), found.encode(), pebbledb.NoSync); err != nil {
				return err
			}
		}
	}
	return nil
}

// remove removes a key, if damage is to be repaired; the end of the check makes that durable.
func (c *check) remove(key []byte) error {
	if !c.repair {
		return nil
	}
	return c.store.db.Delete(append([]byte{}, key...), pebbledb.NoSync)
}
