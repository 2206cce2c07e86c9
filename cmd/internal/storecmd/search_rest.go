package storecmd

import (
	"errors"
	"io/fs"
	"os"
	"sync"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/storage"
)

// partsAtRest are the partitions on this machine that no process has open. Each is opened when it is first asked, and
// stays open for what else it is asked.
type partsAtRest struct {
	of      *searchOptions
	parts   *parts
	open    []func() (*storage.Dir, error) // nil without an error: it is not there yet
	mu      sync.Mutex
	closing []*cli.Stores
}

func newPartsAtRest(o *searchOptions, p *parts) *partsAtRest {
	r := &partsAtRest{of: o, parts: p}
	for partition := range p.where.Partitions {
		r.open = append(r.open, sync.OnceValues(func() (*storage.Dir, error) { return r.dir(partition) }))
	}
	return r
}

func (r *partsAtRest) dir(partition int) (*storage.Dir, error) {
	path := cli.PartitionDir(r.parts.dirOf(r.parts.where.Node[partition]), partition)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	control, err := r.parts.control()
	if err != nil {
		return nil, err
	}
	globals := &cli.Globals{WorkDir: r.parts.globals.WorkDir, Outside: control, Data: path}
	stores, err := globals.OpenToLook()
	if err != nil {
		return nil, err
	}
	if r.of.secret == "" {
		outdated, err := stores.FulltextOutdated()
		if err != nil {
			return nil, errors.Join(err, stores.Close())
		}
		if outdated != "" { // it is brought up to date first
			if err := stores.Close(); err != nil {
				return nil, err
			}
			if stores, err = globals.OpenExisting(); err != nil {
				return nil, err
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closing = append(r.closing, stores)
	return stores.Dir, nil
}

func (r *partsAtRest) close() (err error) {
	for _, stores := range r.closing {
		err = errors.Join(err, stores.Close())
	}
	return err
}
