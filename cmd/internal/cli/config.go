package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/terminal"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/room"
)

// DefaultConfig is read when no other configuration is named, if it exists.
const DefaultConfig = "pipelines.toml"

// Place says where the configuration and the data are. Every command understands its flags.
type Place struct {
	Config  string
	Data    string
	Memory  string
	Shipped bool     // the shipped configuration, whatever there is in the working directory
	Set     []string // options of pipelines as a run was given them, for commands that look at what it did

	WorkDir string       // where relative names of files begin; empty for the working directory of this process
	Shared  *storage.Dir // the data directory that this process has open, for a command run on behalf of another
}

// Path returns the name of a file, as it was given, as this process can use it.
func (p *Place) Path(name string) string {
	if p.WorkDir == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.WorkDir, name)
}

// AddFlags adds --config and --data to a command and its subcommands.
func (p *Place) AddFlags(c *cobra.Command) {
	c.PersistentFlags().StringVar(&p.Config, "config", "", "the `FILE` that declares the pipelines (default pipelines.toml, or the shipped one where there is none)")
	c.PersistentFlags().StringVar(&p.Data, "data", "", "the data `DIR`ectory (default as the configuration says)")
}

// Load reads the configuration. Without one in the working directory it is the shipped one.
func (p *Place) Load(o pipeline.LoadOptions) (*pipeline.Config, error) {
	o.Data, o.Memory = p.Data, cmp.Or(p.Memory, os.Getenv("WEBRACE_MEMORY"))
	if p.Config != "" {
		return p.file(p.Path(p.Config), o)
	}
	if _, err := os.Stat(p.Path(DefaultConfig)); p.Shipped || errors.Is(err, fs.ErrNotExist) {
		return pipeline.Parse("shipped "+DefaultConfig, webrace.Pipelines, o)
	}
	return p.file(p.Path(DefaultConfig), o)
}

func (p *Place) file(path string, o pipeline.LoadOptions) (*pipeline.Config, error) {
	config, err := pipeline.Load(path, o)
	var findings pipeline.Findings
	if err != nil && !errors.As(err, &findings) {
		return nil, Wrong(err)
	}
	return config, err
}

// DataDir returns the data directory without checking any pipeline.
func (p *Place) DataDir() (string, error) {
	if p.Data != "" {
		return p.Data, nil
	}
	config, err := p.Load(pipeline.LoadOptions{Run: []string{}})
	if err != nil {
		return "", err
	}
	return config.Data, nil
}

// OpenStores opens the data directory.
func (p *Place) OpenStores() (*Stores, error) {
	if p.Shared != nil {
		return &Stores{Dir: p.Shared, shared: true}, nil
	}
	path, err := p.DataDir()
	if err != nil {
		return nil, err
	}
	dir, err := OpenDir(path)
	if err != nil {
		return nil, err
	}
	return &Stores{Dir: dir}, nil
}

// Stores is a data directory that a command has at its disposal.
type Stores struct {
	*storage.Dir
	shared  bool
	scratch string // of stores that are not there, for who looks
}

// Close closes it, if it was opened for the command.
func (s *Stores) Close() error {
	if s.shared {
		return nil
	}
	err := s.Dir.Close()
	if s.scratch != "" {
		err = errors.Join(err, os.RemoveAll(s.scratch))
	}
	return err
}

// OpenDir takes a data directory into possession, or opens it for reading alone where it cannot be written.
// What is written there fails on a full disk.
func OpenDir(path string) (*storage.Dir, error) { return OpenDirWaiting(path, nil, 0) }

// OpenDirWaiting is OpenDir, but what is written waits for room, and the caches of the stores have so many bytes.
func OpenDirWaiting(path string, w *room.Watch, caches int64) (*storage.Dir, error) {
	o := storage.Options{Room: w, Caches: caches, Fatal: func(err error) { fatal(err, w) }}
	dir, err := storage.Open(path, o)
	if w == nil && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
		o.ReadOnly = true
		if readable, failed := storage.Open(path, o); failed == nil {
			return readable, nil
		}
	}
	return dir, opening(err)
}

// opening says that an error comes of the environment, unless another process has the directory, of which more is said.
func opening(err error) error {
	var locked *storage.LockedError
	if err != nil && !errors.As(err, &locked) {
		return &Error{Environment, err}
	}
	return err
}

// fatal ends the program at once when a store cannot go on.
func fatal(err error, w *room.Watch) {
	if w != nil && w.Closed() { // somebody would not wait for room
		fmt.Fprintf(os.Stderr, "\nerror: interrupted while the disk was full\n%s\n", nothingLost)
		os.Exit(Interrupted)
	}
	fmt.Fprintf(os.Stderr, "\nerror: %s\n%s\n", terminal.Visible(err.Error()), nothingLost)
	os.Exit(Environment)
}

const nothingLost = "what was accepted is safe: make room, and the same command goes on from here"
