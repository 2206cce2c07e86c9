package portal

import (
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/diskspace"
)

// disk is full when it is told to be.
type disk struct {
	vfs.FS
	full atomic.Bool
}

func (d *disk) GetDiskUsage(path string) (vfs.DiskUsage, error) {
	usage, err := d.FS.GetDiskUsage(path)
	if d.full.Load() {
		usage.AvailBytes = 0
	}
	return usage, err
}

// While the disk is full, pages are shown, and whoever changes something is told that it is not stored; once there is
// room, it is.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	d := &disk{FS: vfs.Default}
	watch := diskspace.New(diskspace.Options{Dir: t.TempDir(), FS: d, Poll: time.Millisecond})
	defer watch.Close()
	w := newWorldWith(t, storage.Options{DiskSpace: watch})
	eleni := w.account("eleni")
	id := w.urd("eleni", "https://a.example/")
	w.site.tools.writing = 50 * time.Millisecond
	d.full.Store(true)
	waits := make(chan error, 1)
	go func() {
		waits <- watch.Do(t.Context(), func() error { // as the crawl beside, which notices first
			if d.full.Load() {
				return syscall.ENOSPC
			}
			return nil
		})
	}()
	testutil.Await(t, "the disk is full", func() bool { return watch.State().Paused })
	before := everything(w, "eleni")
	eleni.post("/interests/"+id+"/pause").wants(t, http.StatusServiceUnavailable, "could not be read or stored")
	eleni.get("/interests").wants(t, http.StatusOK, "a.example")
	if everything(w, "eleni") != before {
		t.Error("it is stored")
	}
	d.full.Store(false)
	w.ok(<-waits)
	w.site.tools.writing = time.Minute
	eleni.post("/interests/"+id+"/pause").wants(t, http.StatusSeeOther)
	if everything(w, "eleni") == before {
		t.Error("it is not stored")
	}
}
