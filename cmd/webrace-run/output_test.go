package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/storage/diskspace"
)

// fullDisk has no byte left.
type fullDisk struct{ vfs.FS }

func (fullDisk) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{TotalBytes: 1 << 30}, nil
}

// The reader of a log may have missed the line that tells when the pause began.
func TestEachLineOfProgressSaysThatTheDiskIsFull(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json", "terminal"} {
		var log bytes.Buffer
		out, err := newOutput(&log, strings.TrimPrefix(format, "terminal"), "")
		if err != nil {
			t.Fatal(err)
		}
		out.line = format == "terminal"
		paused := make(chan struct{})
		out.room = diskspace.New(diskspace.Options{Dir: "data", FS: fullDisk{vfs.NewMem()}, Notify: func(s diskspace.State) {
			if s.Paused {
				close(paused)
			}
		}})
		out.progress(nil, false)
		if said := log.String(); strings.Contains(said, "is full") || !strings.Contains(said, "documents") {
			t.Errorf("%s: a disk with room is said to be full: %s", format, said)
		}
		ctx, cancel := context.WithCancel(t.Context())
		writer := make(chan error)
		go func() { writer <- out.room.Do(ctx, func() error { return nil }) }()
		<-paused
		for range 2 {
			log.Reset()
			out.progress(nil, false)
			if said := log.String(); !strings.Contains(said, "the disk of data "+diskIsFull) {
				t.Errorf("%s: the line of progress does not say that the disk is full: %s", format, said)
			}
		}
		cancel()
		if err := <-writer; err == nil {
			t.Errorf("%s: something was written to a full disk", format)
		}
	}
}
