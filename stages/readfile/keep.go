package readfile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/webrace/webrace/pipeline"
)

const (
	lookEvery = time.Second     // at the files, where no notification comes
	keptFor   = time.Minute     // a file that is named no more, after it was written to
	copiedFor = 5 * time.Second // that it takes to truncate what was copied
	mostHeld  = 500             // files that stay open
	tailBytes = 256
)

// keepReading reads files, and then what is added to them, until the run drains.
func (s *stage) keepReading(ctx context.Context, out pipeline.Emitter) error {
	defer func() {
		for _, k := range s.positions.files {
			k.letGo()
		}
	}()
	wake, stop := s.watch()
	defer stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	seen := make(readOnce)
	for ctx.Err() == nil {
		all, err := s.targets()
		if err != nil {
			return err
		}
		moved := s.readAll(ctx, seen.others(all), out)
		if moved != nil && !errors.Is(moved, errMoved) {
			return moved
		}
		if err := s.readLeaving(ctx, out); err != nil {
			return err
		}
		if moved != nil {
			continue
		}
		s.saved(s.positions.rest(true))
		select {
		case <-ctx.Done():
		case <-look.C:
		case <-wake:
		}
	}
	return nil
}

// readOnce are the paths of what is no regular file, and has been read.
type readOnce map[string]bool

// others returns the files without those, and adds them.
func (seen readOnce) others(all []*target) []*target {
	return slices.DeleteFunc(all, func(t *target) bool {
		before := seen[t.path]
		seen[t.path] = t.info == nil && t.missing == nil
		return before
	})
}

// readLeaving reads files on that have been open, and are named no more: renamed or removed, while a program writes to
// them until it has noticed.
func (s *stage) readLeaving(ctx context.Context, out pipeline.Emitter) error {
	for _, k := range slices.Clone(s.positions.files) {
		if k.taken || k.held == nil {
			continue
		}
		t := &target{path: k.Path, known: k, gone: true, looked: time.Now()}
		info, err := k.held.file.Stat()
		if err != nil {
			k.letGo()
			continue
		}
		t.info, t.leaving = info, t.looked.Sub(info.ModTime()) > keptFor
		if t.leaving || !k.unchanged(info) {
			if err := s.follow(ctx, t, out); err != nil {
				return err
			}
		}
		if t.leaving {
			k.letGo()
		}
	}
	return nil
}

// watch returns a channel that tells when to look: at changes in the directories of the files, as far as the system
// notifies of them; stop ends it.
func (s *stage) watch() (wake chan struct{}, stop func()) {
	wake = make(chan struct{}, 1)
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		s.env.Logger.Debug("no notifications; the files are looked at every second", "error", err)
		return wake, func() {}
	}
	for _, pattern := range s.options.Paths {
		if dir := filepath.Dir(pattern); pattern != "-" && !strings.ContainsAny(dir, "*?[") {
			if err := notify.Add(dir); err != nil {
				s.env.Logger.Debug("no notifications; the files are looked at every second", "folder", dir, "error", err)
			}
		}
	}
	ended := make(chan struct{})
	go s.env.Guard(func() {
		defer close(ended)
		for {
			select {
			case _, more := <-notify.Events:
				if !more {
					return
				}
				select {
				case wake <- struct{}{}:
				default: // it will look
				}
			case <-notify.Errors: // what was missed is seen within a second
			}
		}
	})()
	return wake, func() {
		notify.Close()
		<-ended
	}
}

// held is a file that stays open, so that it can be read to its end when it is renamed or removed.
type held struct {
	file *os.File
	tail []byte // what stood before its mark when that was read; a writer may have replaced it since
}

func (h *held) close() {
	if h != nil && h.file != os.Stdin {
		h.file.Close()
	}
}

func (k *known) letGo() {
	k.held.close()
	k.held = nil
}

// mayHold reports whether a file is to stay open.
func (s *stage) mayHold(file *known) bool {
	if !s.following() || s.options.Format == "xml" {
		return false
	}
	open := 0
	for _, k := range s.positions.files {
		if k.held != nil {
			open++
		}
	}
	return file.held != nil || open < mostHeld
}

// goOn returns the content from a mark on, unless the file has been truncated since: then what stands there is not what
// was read.
func (h *held) goOn(from start) (*content, error) {
	in := bufio.NewReaderSize(&steady{file: h.file, at: from.at.Offset, tail: bytes.Clone(h.tail)}, bufferBytes)
	c := &content{Reader: in, mark: from.at, noting: true, passed: bytes.Clone(h.tail)}
	if _, err := in.Peek(1); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if from.at.Offset < from.begins.Offset && !c.begins(from.begins) {
		return nil, errReplaced
	}
	return c, nil
}
