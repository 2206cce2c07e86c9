package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/terminal"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/finding"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/diskspace"
)

// DefaultConfig is read when no other configuration is named, if it exists.
const DefaultConfig = "pipelines.toml"

// Globals are the flags that every command understands: where the configuration and the data are.
type Globals struct {
	Config  string
	Data    string
	Memory  string
	Shipped bool     // the shipped configuration, whatever there is in the working directory
	Set     []string // options of pipelines as a run was given them, for commands that look at what it did

	WorkDir string         // where relative names of files begin; empty for the working directory of this process
	Shared  *storage.Dir   // the data directory that this process has open, for a command run on behalf of another
	Outside *control.Store // the control store that this process has open, for a command about a partition
	Args    []string       // the command line

	Notes func() io.Writer // where a directory that is made is told of; nil: nowhere
}

// Path returns the name of a file, as it was given, as this process can use it.
func (g *Globals) Path(name string) string {
	if g.WorkDir == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(g.WorkDir, name)
}

// AddFlags adds --config and --data to a command and its subcommands.
func (g *Globals) AddFlags(c *cobra.Command) {
	c.PersistentFlags().StringVar(&g.Config, "config", "", "the `FILE` that declares the pipelines (default pipelines.toml, or the shipped one where there is none)")
	c.PersistentFlags().StringVar(&g.Data, "data", "", "the data `DIR`ectory (default as the configuration says)")
}

// Load reads the configuration. Without one in the working directory it is the shipped one.
func (g *Globals) Load(o config.LoadOptions) (*config.Config, error) {
	o.Data, o.Memory = g.Data, cmp.Or(g.Memory, os.Getenv("WEBRACE_MEMORY"))
	o.CheckControl = control.CheckURL
	if g.Config != "" {
		return g.file(g.Path(g.Config), o)
	}
	if _, err := os.Stat(g.Path(DefaultConfig)); g.Shipped || errors.Is(err, fs.ErrNotExist) {
		o.Beside = webrace.PipelineTests
		return config.Parse("shipped "+DefaultConfig, webrace.Pipelines, o)
	}
	return g.file(g.Path(DefaultConfig), o)
}

func (g *Globals) file(path string, o config.LoadOptions) (*config.Config, error) {
	loaded, err := config.Load(path, o)
	var findings finding.List
	if err != nil && !errors.As(err, &findings) {
		return nil, Wrong(err)
	}
	return loaded, err
}

// DataDir returns the data directory without checking any pipeline.
func (g *Globals) DataDir() (string, error) {
	if g.Data != "" {
		return g.Data, nil
	}
	loaded, err := g.Load(config.LoadOptions{Run: []string{}})
	if err != nil {
		return "", err
	}
	return loaded.Data, nil
}

// Place returns where the stores are without checking any pipeline.
func (g *Globals) Place() (Place, error) {
	loaded, err := g.Load(config.LoadOptions{Run: []string{}})
	if err == nil {
		p := PlaceOf(loaded)
		p.outside = g.Outside
		return p, nil
	}
	p := Place{Data: g.Data}
	var found finding.List
	ofControl := errors.As(err, &found) && slices.ContainsFunc(found, func(f finding.Finding) bool {
		return f.Path == "control" || strings.HasPrefix(f.Path, "cluster")
	})
	if g.Data == "" || ofControl || p.mustBeInside() != nil {
		return Place{}, err
	}
	return p, nil // as if there were no configuration
}

// PlaceOf returns where a configuration has the stores.
func PlaceOf(c *config.Config) Place {
	if c.Cluster != nil {
		return placeInCluster(c)
	}
	return Place{Data: c.Data, Control: c.Control}
}

// OpenStores opens the data directory.
func (g *Globals) OpenStores() (*Stores, error) {
	if g.Shared != nil {
		return &Stores{Dir: g.Shared, shared: true}, nil
	}
	p, err := g.Place()
	if err != nil {
		return nil, err
	}
	return p.Open(storage.Options{})
}

// Stores is a data directory that a command has at its disposal.
type Stores struct {
	*storage.Dir
	shared  bool
	scratch string         // of stores that are not there, for who looks
	control *control.Store // that is not in the directory
}

// Close closes it, if it was opened for the command.
func (s *Stores) Close() error {
	if s.shared {
		return nil
	}
	return errors.Join(s.Dir.Close(), s.closeControl())
}

// closeControl closes what is not in the directory, and removes what is to be thrown away.
func (s *Stores) closeControl() (err error) {
	if s.control != nil {
		err = s.control.Close()
	}
	if s.scratch != "" {
		err = errors.Join(err, os.RemoveAll(s.scratch))
	}
	return err
}

// Open takes a data directory into possession, or opens it for reading alone where it cannot be written. Where the
// options have a watch of the disk, what is written waits for room.
func (p Place) Open(o storage.Options) (*Stores, error) {
	o.Fatal = func(err error) { fatal(err, o.DiskSpace) }
	s, err := p.open(o)
	if o.DiskSpace == nil && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
		o.ReadOnly = true
		if readable, failed := p.open(o); failed == nil {
			return readable, nil
		}
	}
	return s, opening(err)
}

// open opens all stores as the options are.
func (p Place) open(o storage.Options) (*Stores, error) {
	outside, err := p.openControl(o)
	if err != nil {
		return nil, err
	}
	if o.ControlStore = outside; p.outside != nil {
		o.ControlStore = p.outside
	}
	if p.Node {
		o.Apart = p.inPartitions()
	}
	dir, err := storage.Open(p.Data, o)
	if err == nil && !o.ReadOnly {
		if err = p.note(); err != nil {
			err = errors.Join(err, dir.Close())
		}
	}
	if err != nil && outside != nil {
		err = errors.Join(err, outside.Close())
	}
	if err != nil {
		return nil, err
	}
	return &Stores{Dir: dir, control: outside}, nil
}

// OpenCopy opens a copy of a data directory, made in the directory to, as Open opens the original.
func (p Place) OpenCopy(to string, o storage.Options) (*Stores, error) {
	o.Fatal = func(err error) { fatal(err, o.DiskSpace) }
	s := new(Stores)
	err := s.copyControl(p)
	if err == nil {
		o.ControlStore = s.control
		s.Dir, err = storage.OpenCopy(p.Data, to, o)
	}
	if err != nil {
		return nil, opening(errors.Join(err, s.closeControl()))
	}
	return s, nil
}

// opening makes an error one of the environment, unless another process has the directory, of which more is said.
func opening(err error) error {
	var locked *storage.LockedError
	if err != nil && !errors.As(err, &locked) {
		return &Error{Environment, err}
	}
	return err
}

// fatal ends the program at once when a store cannot go on.
func fatal(err error, w *diskspace.Watch) {
	if w != nil && w.Closed() { // the user would not wait for room
		fmt.Fprintf(os.Stderr, "\nerror: interrupted while the disk was full\n%s\n", nothingLost)
		os.Exit(Interrupted)
	}
	fmt.Fprintf(os.Stderr, "\nerror: %s\n%s\n", terminal.Visible(err.Error()), nothingLost)
	os.Exit(Environment)
}

const nothingLost = "what was accepted is safe: make room, and the same command goes on from here"
