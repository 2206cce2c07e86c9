package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/lru"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/internal/setaside"
)

// Kinds of damage that [Store.Check] finds.
const (
	damageMissingSegment = "missing segment"
	damageShortSegment   = "short segment"
	damageUnreadable     = "unreadable entry"
	damageOrder          = "versions without a latest one"
	damageLost           = "lost version"
	damageMeta           = "lost meta-info"
	damageScreenshot     = "lost screenshot"
	damageBody           = "body not indexed"
	damageNoLog          = "version without log entry"
	damageNoLinks        = "version without links"
	damageOrphanLog      = "log entry without version"
	damageOrphanLinks    = "links without version"
	damageOrphanBody     = "body without version"
	damageReferences     = "wrong reference count"
	damageDead           = "wrong count of dead bytes"
	damageCounters       = "wrong counters"
	damageFollower       = "follower beyond the end"
	damageFile           = "segment of no index"
	damageTail           = "records behind the index"
	damageLostRecords    = "records that the index has lost"
	damageTemporary      = "leftover file"
)

// Check verifies what is stored: that the index agrees with itself and with the segments, and that each
// record it names begins where it should, and is the one it should be. With repair it makes good what
// can be: a version whose body or meta-info is lost is removed, so that the next visit fetches it anew,
// and its number is not used again. The caller sees to it that the store is not used meanwhile. The error is
// for what kept the check from working.
func (s *Store) Check(ctx context.Context, repair bool, report fsck.Report) error {
	return s.check(ctx, repair, false, report)
}

// CheckDeep is Check, and reads every record to its end: it verifies the digest of every body.
func (s *Store) CheckDeep(ctx context.Context, repair bool, report fsck.Report) error {
	return s.check(ctx, repair, true, report)
}

func (s *Store) check(ctx context.Context, repair, deep bool, report fsck.Report) error {
	if err := s.users.enter(); err != nil {
		return err
	}
	defer s.users.Leave()
	if repair && s.options.ReadOnly {
		return fmt.Errorf("repair: %w", ErrReadOnly)
	}
	s.collecting.Lock()
	defer s.collecting.Unlock()
	return s.newCheck(ctx, repair, deep, report).run()
}

func (s *Store) newCheck(ctx context.Context, repair, deep bool, report fsck.Report) *check {
	return &check{store: s, ctx: ctx, repair: repair, deep: deep, report: report,
		readable: map[uint32]int64{}, cut: map[uint32]bool{}, bodies: lru.New[error](verifiedBodies, nil), found: map[webrace.Digest]bool{}, ours: map[webrace.Digest]bool{}}
}

func (c *check) run() error {
	for _, step := range []func() error{
		c.readIndex, c.unindexed, c.segmentFiles, c.screen, c.bodyEntries, c.unindexedBodies, c.versions, c.logs, c.links,
		c.references, c.unaccounted, c.segments, c.counters, c.followers, c.files,
	} {
		if err := step(); err != nil {
			return fmt.Errorf("check object cache: %w", err)
		}
	}
	return nil
}

// check is one run of Check.
type check struct {
	store        *Store
	ctx          context.Context
	repair, deep bool
	report       fsck.Report
	mending      bool // the index is known to lack records
	mended       bool // versions came into the index: counts are put right without a word

	slowly    bool       // looks at every version one by one
	screening *screening // nil where that is to be done

	readable map[uint32]int64        // of each segment of the index, how much of it can be read
	cut      map[uint32]bool         // segments that are missing or short
	bodies   lru.Cache[error]        // what verifying some bodies came to
	found    map[webrace.Digest]bool // bodies that the index did not have, and a version's record has
	ours     map[webrace.Digest]bool // bodies whose counts are wrong because of repairs, to be put right without a word
	live     map[uint32]int64        // bytes in use, of each segment
	ends     map[uint32]int64        // where the last record in use ends
	counts   counters                // as they should be
}

// damage reports something, and repairs it if asked to. Repairs go through the committer, and see and
// leave counts that are right.
func (c *check) damage(kind, where, detail string, repair func(*removal) error) error {
	if err := c.fix(kind, where, repair); err != nil {
		return err
	}
	c.report.Reportf("objects", kind, where, c.repair, "%s", detail)
	return nil
}

// amend is damage, unless it comes of repairs: then it is put right without a word.
func (c *check) amend(ours bool, kind, where, detail string, repair func(*removal) error) error {
	if ours && c.repair {
		return c.fix(kind, where, repair)
	}
	return c.damage(kind, where, detail, repair)
}

func (c *check) fix(kind, where string, repair func(*removal) error) error {
	if c.repair {
		err := c.store.exclusively(func(work *commit) error { return repair(&removal{commit: work}) })
		if err != nil {
			return fmt.Errorf("repair %s %s: %w", kind, where, err)
		}
	}
	return nil
}

// deleteKey is the repair of what means nothing.
func deleteKey(key []byte) func(*removal) error {
	return func(r *removal) error { return r.batch.Delete(key) }
}

func setKey(key, value []byte) func(*removal) error {
	return func(r *removal) error { return r.batch.Set(key, value) }
}

// segmentFiles looks at the sizes of files. What is to be done about them is known when it is known what
// was in them; see segments.
func (c *check) segmentFiles() error {
	all, err := c.store.indexedSegments()
	if err != nil {
		return err
	}
	for _, k := range all {
		path := c.store.segments.path(k.number)
		info, err := c.store.options.FS.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			c.readable[k.number], c.cut[k.number] = 0, true
			c.report.Reportf("objects", damageMissingSegment, path, c.repair, "%d bytes", k.state.size)
		case err != nil:
			return err
		default:
			c.readable[k.number] = min(info.Size(), k.state.size)
			if info.Size() < k.state.size {
				c.cut[k.number] = true
				c.report.Reportf("objects", damageShortSegment, path, c.repair, "%d bytes of %d", info.Size(), k.state.size)
			}
		}
	}
	return nil
}

// bodyEntries removes what the index holds of bodies and cannot be read.
func (c *check) bodyEntries() error {
	var failed error
	for key, value := range under(c.store.db, []byte("d/"), &failed) {
		_, err := decodePayload(value)
		if err == nil && len(key) == 2+len(webrace.Digest{}) {
			continue
		}
		if err := c.damage(damageUnreadable, fmt.Sprintf("%q", key), "of a body", deleteKey(bytes.Clone(key))); err != nil {
			return err
		}
	}
	return failed
}

// unindexedBodies finds bodies that the index has lost, in the records of versions that have them.
func (c *check) unindexedBodies() error {
	return c.store.walk(c.ctx, func(k *known) error {
		for _, e := range k.all() {
			if c.sound(&e) || c.body(&e) == nil || c.found[e.Digest] {
				continue
			}
			p, err := c.payloadOf(&e)
			if err != nil {
				continue // versions reports what is lost
			}
			c.found[e.Digest] = true
			if err := c.damage(damageBody, e.URL, fmt.Sprintf("of version %d", e.Number), func(r *removal) error {
				if r.payloads[e.Digest] == nil {
					r.set(payloadKey(e.Digest), encodePayload(p))
				}
				return nil
			}); err != nil {
				return err
			}
			c.ours[e.Digest] = true
			if c.repair {
				c.bodies.Remove(string(e.Digest[:]))
			}
		}
		return nil
	})
}

// followers finds those that would pass over versions that are still to come, and sets them back to the
// last number that was given.
func (c *check) followers() error {
	last := c.counts.seq
	stored, _, err := get(c.store, countersKey, decodeCounters)
	if err == nil {
		last = max(last, stored.seq)
	}
	var failed error
	for key, value := range under(c.store.db, []byte("c/"), &failed) {
		key = bytes.Clone(key)
		name := string(key[len("c/"):])
		at, err := decodeNumber(value)
		switch {
		case err != nil:
			err = c.damage(damageUnreadable, name, "of a follower, which begins again", deleteKey(key))
		case at > last:
			err = c.damage(damageFollower, name, fmt.Sprintf("it is at %d, and the last version is %d", at, last), setKey(key, encodeNumber(last)))
		}
		if err != nil {
			return err
		}
	}
	return failed
}

// toldEvery is how many entries of the index lie between two reports of progress.
const toldEvery = 1 << 12

// readIndex reads all that is in the index, so that a damaged block is found.
func (c *check) readIndex() error {
	var failed error
	n := int64(0)
	for range under(c.store.db, nil, &failed) {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if n++; n%toldEvery == 0 {
			fsck.Tell(c.ctx, fsck.Progress{Store: "objects", Step: "entries of the index", Done: n})
		}
	}
	return failed
}

// files finds what a crash has left of files that were being made.
func (c *check) files() error {
	s := c.store
	names, err := s.options.FS.List(s.segments.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !isTemporary(name) {
			continue
		}
		if err := c.damage(damageTemporary, name, "", func(*removal) error {
			_, err := setaside.Move(s.options.FS, s.options.FS.PathJoin(s.segments.dir, name))
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}
