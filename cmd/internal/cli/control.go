package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
)

// Place is where the stores are.
type Place struct {
	Data    string // the data directory
	Control string // the URL of the database with the control store; empty: it is in the data directory
	KeyFile string // of the key of its secrets; empty: that in the data directory
	Node    bool   // the data directory is that of a node of a cluster

	outside *control.Store // that is open already; nil: none is
}

// controlNote is the name of a file in a data directory that tells where its control store is, if not there: a
// configuration that does not name it would begin an empty one without a word.
const controlNote = "control.url"

// openControl opens the control store in a database; nil if it is in the data directory. For who looks, one that is not
// made yet is empty.
func (p Place) openControl(all storage.Options) (*control.Store, error) {
	switch {
	case p.outside != nil:
		return nil, nil
	case p.Control == "":
		return nil, p.mustBeInside()
	}
	o := control.Options{ReadOnly: all.ReadOnly}
	if p.Node {
		o.Gather = time.Second // by all partitions
	}
	if all.DiskSpace != nil {
		o.Retry = all.DiskSpace.Do
	}
	store, err := control.OpenPostgres(context.Background(), p.Control, p.keyFile(), o)
	if err == nil {
		if err = p.mustBeCopied(store); err != nil {
			err = errors.Join(err, store.Close())
		}
	}
	if errors.Is(err, control.ErrNoTables) && all.Scratch != "" {
		return nil, p.mustBeCopied(nil)
	}
	if err != nil {
		return nil, err
	}
	return store, nil
}

func (p Place) keyFile() string { return cmp.Or(p.KeyFile, filepath.Join(p.Data, control.KeyFile)) }

// OpenControl opens the control store in the database of a cluster, for all that a command asks.
func (p Place) OpenControl(readOnly bool) (*control.Store, error) {
	store, err := p.openControl(storage.Options{ReadOnly: readOnly})
	return store, opening(err)
}

// OpenToTry opens what is there without changing anything in it, and the stores that are not there yet in a directory
// that is to be thrown away.
func (p Place) OpenToTry(scratch string) (*Stores, error) {
	return p.open(storage.Options{ReadOnly: true, Scratch: scratch})
}

// OpenControlToCopy opens the control store, which is not changed: the one in the data directory, unless it was said to
// be elsewhere. The file of the key of its secrets is returned, too.
func (g *Globals) OpenControlToCopy() (store *control.Store, keyFile string, closeAll func() error, err error) {
	p, err := g.existing()
	if err != nil {
		return nil, "", nil, err
	}
	keyFile = p.keyFile()
	if _, err := os.Stat(filepath.Join(p.Data, controlNote)); err == nil && p.Control != "" {
		store, err = p.openControl(storage.Options{ReadOnly: true})
		if err != nil {
			return nil, "", nil, opening(err)
		}
		return store, keyFile, store.Close, nil
	}
	p.Control = ""
	stores, err := p.look()
	if err == nil {
		if store, err = stores.Control(); err != nil {
			err = errors.Join(err, stores.Close())
		}
	}
	if err != nil {
		return nil, "", nil, err
	}
	return store, keyFile, stores.Close, nil
}

// TakeControl makes a copy of a control store that of a data directory, made if it is not there, which has none.
func TakeControl(ctx context.Context, from *control.Store, data string) (counts control.Counts, err error) {
	dir, err := storage.Open(data, storage.Options{})
	if err != nil {
		return counts, opening(err)
	}
	counts, err = control.CopyToFile(ctx, from, dir.Path("control.db"))
	if err == nil {
		_, err = dir.Control() // which the directory has from now on
	}
	if err == nil {
		if err = os.Remove(dir.Path(controlNote)); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return counts, errors.Join(err, dir.Close())
}

// TryControl returns why a control store in a database could not be used.
func (p Place) TryControl() error {
	store, err := p.openControl(storage.Options{ReadOnly: true, Scratch: p.Data})
	if store != nil {
		err = errors.Join(err, store.Close())
	}
	return err
}

// copyControl makes a copy of a control store in a database, to be thrown away, with a link to its key.
func (s *Stores) copyControl(p Place) (err error) {
	original, err := p.openControl(storage.Options{ReadOnly: true, Scratch: p.Data})
	if err != nil || original == nil {
		return err
	}
	if s.scratch, err = os.MkdirTemp("", "webrace-control-"); err == nil {
		err = original.Backup(context.Background(), filepath.Join(s.scratch, "control.db"))
	}
	if err = errors.Join(err, original.Close()); err != nil {
		return err
	}
	key, err := filepath.Abs(p.keyFile())
	if err == nil {
		err = os.Symlink(key, filepath.Join(s.scratch, control.KeyFile))
	}
	if err == nil {
		s.control, err = control.Open(filepath.Join(s.scratch, "control.db"), control.Options{})
	}
	return err
}

// mustBeInside refuses to look for a control store where it is not any more.
func (p Place) mustBeInside() error {
	where, err := os.ReadFile(filepath.Join(p.Data, controlNote))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("the control store of %s is at %s, as its file %s says, and the configuration does not name it: "+
		"control = \"postgres://…\" does; to begin an empty one in the directory, remove the file", p.Data, strings.TrimSpace(string(where)), controlNote)
}

// mustBeCopied refuses a database in the place of a control store in the data directory that is not in it; nil holds
// nothing.
func (p Place) mustBeCopied(store *control.Store) error {
	inside := filepath.Join(p.Data, "control.db")
	if info, err := os.Stat(inside); err != nil || info.Size() == 0 {
		return nil
	}
	copied, err := false, error(nil)
	if store != nil {
		copied, err = control.IsCopyOf(context.Background(), store, inside)
	}
	if err == nil && !copied {
		err = fmt.Errorf("%s has a control store of its own, which was not copied to %s, or has changed since: webrace-store control copy copies it into an empty database; if it is not wanted, move %s away",
			p.Data, control.Redacted(p.Control), inside)
	}
	return err
}

// note writes down where the control store is.
func (p Place) note() error {
	if p.Control == "" {
		return nil
	}
	path, text := filepath.Join(p.Data, controlNote), control.Redacted(p.Control)+"\n"
	if before, err := os.ReadFile(path); err == nil && string(before) == text {
		return nil
	}
	return os.WriteFile(path, []byte(text), 0o600)
}
