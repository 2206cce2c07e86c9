package writefile

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/webrace/webrace/internal/lru"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/writefile/writable"
)

// mostOpen is how many files are open at a time. The one that was not written to for longest is closed for another.
const mostOpen = 100

// stage writes each item to the file that its path names.
type stage struct {
	options Options
	path    *pathTemplate

	mu      sync.Mutex
	open    lru.Cache[*output] // by their paths
	rows    map[string]bool    // the files of Parquet that are to be made
	closing []error            // of files that made room for others
}

var (
	_ pipeline.BatchProcessor = (*stage)(nil)
	_ pipeline.Opener         = (*stage)(nil)
	_ pipeline.Closer         = (*stage)(nil)
	_ pipeline.Checker        = (*stage)(nil)
)

func newStage(o Options, _ *pipeline.Env) (any, error) {
	path, err := parsePath(o.Path)
	if err != nil {
		return nil, err
	}
	if !path.varies() {
		return &output{options: o}, nil
	}
	s := &stage{options: o, path: path, rows: make(map[string]bool)}
	s.open = lru.New(mostOpen, func(o *output) { s.closing = append(s.closing, o.pause()) })
	return s, nil
}

// Check finds out whether files can be made in the folder that all are in.
func (s *stage) Check(context.Context) error {
	if err := writable.Dir(s.path.folder()); err != nil {
		return &pipeline.OptionError{Option: "path", Err: err}
	}
	return nil
}

// Open finds the rows of Parquet that a crash has left.
func (s *stage) Open(context.Context) error {
	if s.options.Format != "parquet" {
		return nil
	}
	left, err := filepath.Glob(s.path.pattern() + rowsBeside)
	for _, path := range left {
		s.rows[strings.TrimSuffix(path, rowsBeside)] = true
	}
	return err
}

// ProcessBatch writes the items of a group, those of a file together. One of which an element cannot be written fails.
func (s *stage) ProcessBatch(ctx context.Context, its []*pipeline.Item, out pipeline.Emitter) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	failed := make([]error, len(its))
	groups := make(map[string]*group)
	for i, it := range its {
		failed[i] = s.sort(i, it, groups)
	}
	for _, path := range slices.Sorted(maps.Keys(groups)) {
		g := groups[path]
		err := s.write(ctx, path, g.items, out)
		some, isSome := err.(*pipeline.GroupError)
		for n, i := range g.of {
			switch {
			case isSome && failed[i] == nil:
				failed[i] = some.Errs[n]
			case !isSome && failed[i] == nil:
				failed[i] = err
			}
		}
	}
	if slices.ContainsFunc(failed, func(err error) bool { return err != nil }) {
		return &pipeline.GroupError{Errs: failed}
	}
	return nil
}

// group is what goes to one file.
type group struct {
	items []*pipeline.Item
	of    []int // which item of the stage's group each is, or is part of
}

// sort adds an item to the groups of the files that its values go to; to none if one of them has no path.
func (s *stage) sort(i int, it *pipeline.Item, groups map[string]*group) error {
	_, isList := it.Value.(pipeline.List)
	parts := make(map[string]pipeline.List)
	for value := range values(it) {
		path, err := s.path.of(value, it.Meta)
		if err != nil {
			return err
		}
		parts[path] = append(parts[path], value)
	}
	for path, list := range parts {
		g := groups[path]
		if g == nil {
			g = new(group)
			groups[path] = g
		}
		part := it
		if isList {
			part = it.With(list)
		}
		g.items, g.of = append(g.items, part), append(g.of, i)
	}
	return nil
}

// write writes items to a file, which is opened if need be.
func (s *stage) write(ctx context.Context, path string, its []*pipeline.Item, out pipeline.Emitter) error {
	o, isOpen := s.open.Get(path)
	if !isOpen {
		o = s.output(path)
		if err := o.Open(ctx); err != nil {
			return errors.Join(err, o.pause())
		}
		s.closeOther(o)
		s.open.Add(path, o)
		if s.options.Format == "parquet" {
			s.rows[path] = true
		}
	}
	return o.ProcessBatch(ctx, its, out)
}

func (s *stage) output(path string) *output {
	options := s.options
	options.Path = path
	return &output{options: options, values: len(path) - len(s.path.texts[len(s.path.values)])}
}

// closeOther closes the file that is open under another name, as two that differ in case are where the system takes
// them for one: what is known of its end and its columns would be true no more.
func (s *stage) closeOther(o *output) {
	info, err := o.file.Stat()
	if err != nil {
		return
	}
	for _, path := range s.open.Keys() {
		other, _ := s.open.Peek(path)
		if theirs, err := other.file.Stat(); err == nil && os.SameFile(info, theirs) {
			s.open.Remove(path)
		}
	}
}

// Close completes the files.
func (s *stage) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range s.open.Keys() {
		s.open.Remove(path)
	}
	all := s.closing
	s.closing = nil
	for path := range s.rows {
		o := s.output(path)
		err := o.Open(context.Background())
		if err == nil {
			err = o.Close()
		}
		all = append(all, err)
	}
	clear(s.rows)
	return errors.Join(all...)
}
