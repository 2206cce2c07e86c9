package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline/config"
)

// quiet is how long to wait after a sign of a change, so that an editor that writes, renames and removes
// files is done.
const quiet = 300 * time.Millisecond

// configFiles are the files of a configuration. Their directories are watched, not they: editors put new
// files in the places of the old ones, and files may come that an include matches.
type configFiles struct {
	notify *fsnotify.Watcher
	config *config.Config
	last   []byte // a digest of what was in them when they were read last
}

func watchFiles(loaded *config.Config) (*configFiles, error) {
	if _, err := os.Stat(loaded.Files[0]); err != nil {
		return nil, cli.Wrongf("--watch: the configuration is the shipped one, which does not change: write a %s, or name a file with --config", cli.DefaultConfig)
	}
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("--watch: %w", err)
	}
	f := &configFiles{notify: notify}
	if err := f.follow(loaded); err != nil {
		notify.Close()
		return nil, fmt.Errorf("--watch: %w", err)
	}
	return f, nil
}

// follow watches the directories of all files of a configuration that has been read, and of those that it
// would include.
func (f *configFiles) follow(loaded *config.Config) error {
	f.config = loaded
	f.last = f.digest(func(name string) ([]byte, error) { return loaded.Source(name), nil })
	for _, name := range slices.Concat(loaded.Files, loaded.Includes) {
		dir := filepath.Dir(name)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			continue // there may never be one; the user who makes it touches another file, or sends SIGHUP
		}
		if err := f.notify.Add(dir); err != nil {
			return fmt.Errorf("watch %s: %w", dir, err)
		}
	}
	return nil
}

// digest is one of all files, with those that would be included now.
func (f *configFiles) digest(read func(name string) ([]byte, error)) []byte {
	names := slices.Clone(f.config.Files[:1])
	for _, pattern := range f.config.Includes {
		included, _ := filepath.Glob(pattern) // the pattern has been read before
		names = append(names, included...)
	}
	h := sha256.New()
	for _, name := range names {
		text, err := read(name)
		fmt.Fprintf(h, "%s\x00%d\x00%v\x00", name, len(text), err)
		h.Write(text)
	}
	return h.Sum(nil)
}

// watch reloads when something in the files has changed since they were read, until ctx ends.
func (f *configFiles) watch(ctx context.Context, r *reloads) {
	defer f.notify.Close()
	settled := time.After(0) // they may have changed before they were watched
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.notify.Events:
			if settled == nil {
				settled = time.After(quiet)
			}
		case err := <-f.notify.Errors:
			r.out.logger.Warn("the files of the configuration may change unseen; SIGHUP reads them again", "error", err)
		case <-settled:
			settled = nil
			f.look(ctx, r)
		}
	}
}

func (f *configFiles) look(ctx context.Context, r *reloads) {
	now := f.digest(os.ReadFile)
	if bytes.Equal(now, f.last) {
		return
	}
	f.last = now
	if _, err := r.reload(ctx); err != nil {
		return // it was said
	}
	r.mu.Lock()
	loaded := r.config
	r.mu.Unlock()
	if err := f.follow(loaded); err != nil {
		r.out.logger.Warn("not all files of the configuration are watched", "error", err)
	}
}
