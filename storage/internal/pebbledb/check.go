package pebbledb

import (
	"context"
	"errors"
	"fmt"

	"github.com/webrace/webrace/storage/fsck"
)

// Check is one check of a database, and its repair if that is wanted. What a store looks for is its own.
type Check struct {
	Context context.Context
	DB      *Store
	Repair  bool

	report fsck.Report
	read   int64
}

// Check returns a check of the database. One that only reads is not repaired.
func (s *Store) Check(ctx context.Context, repair bool, report fsck.Report) (*Check, error) {
	if repair && s.readOnly {
		return nil, fmt.Errorf("repair the %s: %w", s.kind.Title, s.kind.ReadOnly)
	}
	return &Check{Context: ctx, DB: s, Repair: repair, report: report}, nil
}

// Run does the steps of a check, and makes durable what they have repaired.
func (c *Check) Run(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	if c.Repair {
		return c.DB.Sync()
	}
	return nil
}

// Tell reports damage.
func (c *Check) Tell(kind, where string, repaired bool, format string, args ...any) {
	c.report.Reportf(c.DB.kind.Store, kind, where, repaired, format, args...)
}

// Each calls visit for each key from start on and before end, and tells how far the check is. Key and value are valid
// during the call alone.
func (c *Check) Each(step string, start, end []byte, visit func(key, value []byte) error) error {
	return c.DB.Scan(start, end, func(key, value []byte) (bool, error) {
		if c.read++; c.read%(1<<10) == 0 {
			fsck.Tell(c.Context, fsck.Progress{Store: c.DB.kind.Store, Step: step, Done: c.read})
		}
		return true, errors.Join(c.Context.Err(), visit(key, value))
	})
}

// Has reports whether there is a key.
func (c *Check) Has(key []byte) (bool, error) {
	value, err := c.DB.Value(key)
	return value != nil, err
}

// Set writes a value, if damage is to be repaired.
func (c *Check) Set(key, value []byte) error {
	if !c.Repair {
		return nil
	}
	return c.DB.Set(key, value, NoSync)
}

// Remove removes a key, if damage is to be repaired.
func (c *Check) Remove(key []byte) error {
	if !c.Repair {
		return nil
	}
	return c.DB.Delete(key, NoSync)
}
