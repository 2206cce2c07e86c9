package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/internal/generation"
	"github.com/webrace/webrace/storage/internal/pebbledb"
	"github.com/webrace/webrace/storage/internal/private"
	"github.com/webrace/webrace/storage/internal/setaside"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/storage/quads"
	"github.com/webrace/webrace/storage/queue"
	"github.com/webrace/webrace/storage/states"
)

// Check verifies every store, and that they fit together, while nothing else uses the directory. Each
// damage is reported and, if asked, repaired as far as that is possible; what is lost is said. The error is
// for what kept the check itself from working. A control store from outside is for its owner to check, and annotations
// in it may speak of the documents of other directories: both are left out.
func (d *Dir) Check(ctx context.Context, repair bool, report fsck.Report) error {
	return d.check(ctx, repair, report, (*objects.Store).Check)
}

// CheckDeep is Check that also reads every stored document.
func (d *Dir) CheckDeep(ctx context.Context, repair bool, report fsck.Report) error {
	return d.check(ctx, repair, report, (*objects.Store).CheckDeep)
}

func (d *Dir) check(ctx context.Context, repair bool, report fsck.Report, documents checking[*objects.Store]) error {
	if repair && d.readOnly {
		return fmt.Errorf("repair %s: it is open for reading only", d.path)
	}
	d.keeping.Lock()
	defer d.keeping.Unlock()
	c := &check{d, ctx, repair, report, documents}
	for _, part := range []func() error{c.private, c.leftovers, c.missing, c.stores, c.fulltext, c.annotations} {
		if err := part(); err != nil {
			return fmt.Errorf("check %s: %w", d.path, err)
		}
	}
	return nil
}

type check struct {
	dir    *Dir
	ctx    context.Context
	repair bool
	report fsck.Report

	documents checking[*objects.Store]
}

// checking is how a store checks itself.
type checking[T any] func(store T, ctx context.Context, repair bool, report fsck.Report) error

// fix reports a damage of a store, and repairs it if that is wanted and possible.
func (c *check) fix(store, kind, where, detail string, repair func() error) error {
	f := fsck.Finding{Store: store, Kind: kind, Where: where, Detail: detail}
	if c.repair && repair != nil {
		if err := repair(); err != nil {
			c.report(f)
			return fmt.Errorf("repair %s %s: %w", kind, where, err)
		}
		f.Repaired = true
	}
	c.report(f)
	return nil
}

// private finds what others than the owner of the directory may read or write, as releases before this one left it.
func (c *check) private() error {
	var first string
	var mode os.FileMode
	n := 0
	err := private.Wider(c.dir.path, func(path string, m os.FileMode) error {
		if n++; n == 1 {
			first, mode = path, m
		}
		if !c.repair {
			return nil
		}
		return private.Narrow(path, m)
	})
	if n > 0 {
		if rest, relErr := filepath.Rel(c.dir.path, first); relErr == nil {
			first = rest
		}
		detail := fmt.Sprintf("its mode is %04o", mode.Perm())
		if n > 1 {
			detail += fmt.Sprintf(", and %d more are wider than 0600 for files and 0700 for directories", n-1)
		}
		c.report(fsck.Finding{Store: "data directory", Kind: "open to other users", Where: first, Detail: detail, Repaired: c.repair && err == nil})
	}
	return err
}

// leftovers finds files that were being made when a crash came. The stores look after their own.
func (c *check) leftovers() error {
	entries, err := os.ReadDir(c.dir.path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".new") && !strings.HasSuffix(name, ".partial") {
			continue
		}
		err := c.fix("data directory", "leftover file", name, "a crash left it unfinished", func() error {
			return c.setAside(name)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// setAside renames a file of the directory, or a directory in it, if it is there.
func (c *check) setAside(name string) error {
	path := c.dir.Path(name)
	if !exists(path) {
		return nil
	}
	_, err := setaside.Move(vfs.Default, path)
	return err
}

// missing finds stores that were made and are gone, and that the control store is not there though others are:
// every run makes it, unless it is another's. An empty one is begun then.
func (c *check) missing() error {
	for _, name := range slices.Sorted(maps.Keys(storeFiles)) {
		if name == "control" && !c.dir.OwnsControl() {
			continue
		}
		err := c.dir.lost(name)
		var lost *fsck.Error
		if err != nil && !errors.As(err, &lost) {
			return err
		}
		file := storeFiles[name]
		others := exists(c.dir.Path("frontier")) || exists(c.dir.Path("objects"))
		if err == nil && (name != "control" || exists(c.dir.Path(file)) || !others) {
			continue
		}
		if err := c.fix(name, missingStore, file, losses[name], func() error { return c.begin(name) }); err != nil {
			return err
		}
	}
	return nil
}

// begin begins an empty store in the place of one that is lost.
func (c *check) begin(name string) error {
	if err := c.dir.forgetMade(name); err != nil {
		return err
	}
	switch name {
	case "control":
		for _, file := range controlFiles {
			if err := c.setAside(file); err != nil {
				return err
			}
		}
		_, err := c.dir.Control()
		return err
	case "fulltext":
		return c.dir.dropFulltext()
	case "quads":
		return errors.Join(c.setAside("quads"), c.dir.refillQuads())
	}
	return c.setAside(storeFiles[name])
}

// controlFiles are those of the control store: the database, its log and the log's index, and the file that counts
// its commits.
var controlFiles = []string{"control.db", "control.db-wal", "control.db-shm", "control.db-" + generation.FileName}

// stores has each store check itself.
func (c *check) stores() error {
	return errors.Join(
		checkStore(c, &c.dir.frontier, (*frontier.Store).Check, c.mender("frontier")),
		checkStore(c, &c.dir.objects, c.documents, c.mendObjects),
		checkStore(c, &c.dir.control, (*control.Store).Check, c.mendControl),
		checkStore(c, &c.dir.queues, (*queue.Store).Check, c.mender("queues")),
		checkStore(c, &c.dir.states, (*states.Store).Check, c.mender("states")),
		checkStore(c, &c.dir.quads, c.quads, c.mendQuads),
	)
}

// checkStore checks a store. One that cannot be used as it is, as opening it or reading it shows, is mended
// first if that is wanted and possible.
func checkStore[T io.Closer](c *check, l *lazy[T], checks checking[T], mend func(*fsck.Error) error) error {
	file := storeFiles[l.name]
	if l.name == "control" && !c.dir.OwnsControl() {
		return nil
	}
	for mended := false; exists(c.dir.Path(file)) && !gone(c.dir.path, l.name); mended = true {
		fsck.Tell(c.ctx, fsck.Progress{Store: l.name, Step: "the store"})
		store, err := ready(c.dir, l)
		refused := &fsck.Error{Finding: fsck.Finding{Store: l.name, Kind: "does not open", Where: file}}
		if err == nil {
			err = checks(store, c.ctx, c.repair, c.report)
			if err == nil || !errors.As(err, &refused) && !pebbledb.IsCorruption(err) {
				return err
			}
			if !errors.As(err, &refused) {
				refused.Kind, refused.Detail = "damaged database", err.Error()
			}
		} else if !errors.As(err, &refused) {
			refused.Detail = err.Error()
		}
		if mended {
			c.report(refused.Finding)
			return nil
		}
		f := refused.Finding
		f.Repaired = c.repair
		if c.repair {
			if err := shut(c.dir, l); err != nil {
				return err
			}
			err := mend(refused)
			if errors.Is(err, errNoMend) {
				f.Repaired = false
			} else if err != nil {
				return err
			}
		}
		if c.report(f); !f.Repaired {
			return nil
		}
	}
	return nil
}

// errNoMend means that nothing but a backup helps.
var errNoMend = errors.New("it cannot be repaired")

// mender returns what sets a store aside that cannot be read, so that an empty one is begun: crawls begin again, and
// what waited in queues, or was remembered, is lost. One that is older is gone on with.
func (c *check) mender(store string) func(*fsck.Error) error {
	return func(refused *fsck.Error) error {
		switch refused.Kind {
		case generation.Older:
			return c.setAside(filepath.Join(store, generation.FileName))
		case "does not open": // for what is not in its files
			return errNoMend
		}
		return errors.Join(c.setAside(store), c.dir.forgetMade(store))
	}
}

// quads has the quad store check itself. Where something was repaired, quads may be lost: it is filled again.
func (c *check) quads(store *quads.Store, ctx context.Context, repair bool, report fsck.Report) error {
	found := false
	err := store.Check(ctx, repair, func(f fsck.Finding) {
		found = true
		report(f)
	})
	if err != nil || !found || !repair {
		return err
	}
	return c.dir.refillQuads()
}

// mendQuads sets a quad store aside that cannot be read. One that is older is gone on with. Either is filled again.
func (c *check) mendQuads(refused *fsck.Error) error {
	if err := c.mender("quads")(refused); err != nil {
		return err
	}
	return c.dir.refillQuads()
}

// mendControl goes on with a control store that is older. One that cannot be read wants a backup.
func (c *check) mendControl(refused *fsck.Error) error {
	if refused.Kind == generation.Older {
		return c.setAside("control.db-" + generation.FileName)
	}
	return errNoMend
}

// mendObjects builds the index of the documents again, and has the visits of the frontier tell when they were last
// known to be current.
func (c *check) mendObjects(*fsck.Error) error {
	if err := objects.Mend(c.ctx, c.dir.Path("objects"), c.dir.options.Objects, c.report); err != nil {
		return err
	}
	if !exists(c.dir.Path("frontier")) {
		return nil
	}
	visits, err := c.dir.Frontier()
	if err != nil {
		return nil // reported already
	}
	documents, err := c.dir.Objects()
	if err != nil {
		return err
	}
	return validate(c.ctx, documents, visits)
}

// validate moves times of validation to those of the last visits that found the same document.
func validate(ctx context.Context, documents *objects.Store, visits *frontier.Store) error {
	pipelines, err := visits.Pipelines()
	if err != nil {
		return err
	}
	for v, err := range documents.Views(ctx, "") {
		if err != nil {
			return err
		}
		for _, pipeline := range pipelines {
			visit, err := visits.LastVisit(pipeline, v.Secret, v.URL)
			if err != nil || visit == nil || visit.Digest != v.Digest || visit.Version != v.Number || !visit.At.After(v.ValidatedAt) {
				continue // what is wrong with a visit is for its own check to say
			}
			if _, err := documents.Touch(v.View(), visit.At, nil); err != nil {
				return err
			}
		}
	}
	return nil
}
