package storecmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/storage"
	"golang.org/x/sync/errgroup"
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

// ask asks partitions, which answer in their order. One that is not there yet answers nothing.
func (r *partsAtRest) ask(ctx context.Context, partitions []int, ask searchAsk) ([]searchReply, error) {
	return eachAtOnce(partitions, func(partition int) (reply searchReply, err error) {
		dir, err := r.open[partition]()
		if dir != nil {
			reply, err = r.of.reply(ctx, dir, ask)
		}
		if err != nil {
			err = fmt.Errorf("partition %s: %w", cli.PartitionName(partition), err)
		}
		return reply, err
	})
}

// eachAtOnce calls f for as many values at the same time as there are processors, and returns what it returns in their
// order. A panic of f is one of its caller, which alone fails where it is a command for a client.
func eachAtOnce[T, R any](values []T, f func(T) (R, error)) ([]R, error) {
	results := make([]R, len(values))
	var panicked sync.Map
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, value := range values {
		group.Go(func() (err error) {
			defer func() {
				if v := recover(); v != nil {
					panicked.Store(i, fmt.Sprintf("%v\n%s", v, debug.Stack()))
				}
			}()
			results[i], err = f(value)
			return err
		})
	}
	err := group.Wait()
	for _, v := range panicked.Range {
		panic(v)
	}
	return results, err
}
