package storage_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/queue"
)

// held returns how many records the queues of a directory hold, which is checked as well.
func held(t *testing.T, dir string) (n int64) {
	t.Helper()
	d := open(t, dir)
	if err := d.Check(t.Context(), false, func(f fsck.Finding) { t.Error(f) }); err != nil {
		t.Fatal(err)
	}
	store, err := d.Queues()
	if err != nil {
		t.Fatal(err)
	}
	all, err := store.Held()
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range all {
		n += q.Records
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return n
}

// Queues are in a backup, come back with it, alone as well, and are told of when they are gone.
func TestQueuesAreBackedUpAndRestored(t *testing.T) {
	t.Parallel()
	dir, copied := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	d := open(t, dir)
	if _, err := d.Control(); err != nil {
		t.Fatal(err)
	}
	store, err := d.Queues()
	if err != nil {
		t.Fatal(err)
	}
	q, err := store.Queue(t.Context(), "p/q", queue.QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 2)
	for range cap(done) {
		if err := q.Put(t.Context(), queue.Patience{}, queue.Record{Kind: "text", Body: []byte("x")}, func(err error) { done <- err }); err != nil {
			t.Fatal(err)
		}
	}
	for range cap(done) {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	whole := filepath.Join(t.TempDir(), "whole")
	if _, err := storage.Restore(t.Context(), copied, whole); err != nil {
		t.Fatal(err)
	}
	if n := held(t, whole); n != 2 {
		t.Errorf("a restored directory holds %d records", n)
	}
	if err := os.RemoveAll(filepath.Join(dir, "queues")); err != nil {
		t.Fatal(err)
	}
	d = open(t, dir)
	if _, err := d.Queues(); err == nil {
		t.Error("queues that are gone were made anew without a word")
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := storage.RestoreStore(t.Context(), copied, dir, "queues"); err != nil {
		t.Fatal(err)
	}
	if n := held(t, dir); n != 2 {
		t.Errorf("restored queues hold %d records", n)
	}
}
