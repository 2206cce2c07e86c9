package storage_test

import (
	"path/filepath"
	"testing"

	"github.com/webrace/webrace/storage"
)

// pebbleStores open the stores that read through the cache of blocks.
var pebbleStores = map[string]func(*storage.Dir) error{
	"frontier": func(d *storage.Dir) error { _, err := d.Frontier(); return err },
	"objects":  func(d *storage.Dir) error { _, err := d.Objects(); return err },
	"queues":   func(d *storage.Dir) error { _, err := d.Queues(); return err },
	"states":   func(d *storage.Dir) error { _, err := d.States(); return err },
	"quads":    func(d *storage.Dir) error { _, err := d.Quads(); return err },
}

// A store that is asked for when who made the cache has given it up finds it.
func TestADirectoryKeepsItsCache(t *testing.T) {
	t.Parallel()
	cache := storage.NewCache(8 << 20)
	d, err := storage.Open(filepath.Join(t.TempDir(), "data"), storage.Options{Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	cache.Unref()
	for name, store := range pebbleStores {
		if err := store(d); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// What a store reads when it is opened again, its format, comes to lie in the cache that it was given.
func TestDirectoriesShareOneCache(t *testing.T) {
	t.Parallel()
	for name, store := range pebbleStores {
		cache := storage.NewCache(8 << 20)
		last := int64(0)
		for range 2 {
			dir := filepath.Join(t.TempDir(), "data")
			in(t, dir, store)
			d, err := storage.Open(dir, storage.Options{Cache: cache})
			if err == nil {
				err = store(d)
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { d.Close() })
			if size := cache.Size(); size <= last {
				t.Errorf("%s: with a store more, the cache has %d bytes of blocks, and had %d", name, size, last)
			}
			last = cache.Size()
		}
		cache.Unref() // the directories keep it
	}
}
