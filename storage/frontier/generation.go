package frontier

import (
	"fmt"

	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/internal/generation"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

const generationKey = "\x00\x00generation"

// refusal is the error of a frontier that cannot be used as it is.
func refusal(kind, where, detail, repair string) error {
	return &fsck.Error{
		Finding: fsck.Finding{Store: "frontier", Kind: kind, Where: where, Detail: detail},
		Mend:    "webrace-store restore BACKUP --only frontier brings it back from a backup, webrace-store fsck --repair " + repair,
	}
}

// checkGeneration refuses a database that has lost commits. One of a release that did not count them begins to.
func (s *Store) checkGeneration() error {
	path := s.fs.PathJoin(s.dir, generation.FileName)
	value, err := s.get([]byte(generationKey))
	if err != nil {
		return err
	}
	have, err := decodeGeneration(value)
	if err != nil {
		return err
	}
	wrong, err := generation.Compare(s.fs, path, have)
	if err != nil {
		return err
	}
	if wrong != "" {
		return refusal(generation.Older, s.dir, wrong, "goes on with it as it is")
	}
	if s.readOnly {
		return nil
	}
	if value == nil {
		have = generation.Generation{ID: generation.NewID(), Commits: 1}
		if err := s.db.Set([]byte(generationKey), encodeGeneration(have), pebbledb.Sync); err != nil {
			return err
		}
	}
	s.committer.generation = have
	s.committer.reached, err = generation.Create(s.fs, path, have)
	return err
}

func encodeGeneration(g generation.Generation) []byte {
	w := newWriterOf(1, 32)
	w.fixed(g.ID[:])
	w.uint(g.Commits)
	return w
}

func decodeGeneration(value []byte) (g generation.Generation, err error) {
	if value == nil {
		return g, nil
	}
	r := newReaderUpTo(1, value)
	copy(g.ID[:], r.fixed(len(g.ID)))
	g.Commits = r.uint()
	return g, r.done()
}

// publish commits a batch as the next generation.
func (c *committer) publish(batch pebbledb.Batch) error {
	next := c.generation
	next.Commits++
	if err := batch.Set([]byte(generationKey), encodeGeneration(next)); err != nil {
		return err
	}
	if err := batch.Commit(pebbledb.Sync); err != nil {
		return fmt.Errorf("commit to the frontier: %w", err)
	}
	c.generation = next
	if err := c.reached.Write(next); err != nil {
		return fmt.Errorf("count a commit to the frontier: %w", err)
	}
	return nil
}
