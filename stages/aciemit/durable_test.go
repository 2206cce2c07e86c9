package aciemit

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

// hanging is a data directory whose object cache is on a disk that hangs in the sync of a segment.
type hanging struct {
	resources   *pipeline.Resources
	annotations *control.Store
	documents   *objects.Store
	syncing     chan struct{} // has one element once it hangs
	goOn        func(error)   // lets this sync and all others end so
}

func hangingDisk(t *testing.T) *hanging {
	t.Helper()
	h := &hanging{syncing: make(chan struct{}, 1)}
	ended := make(chan struct{})
	var outcome error
	var once sync.Once
	h.goOn = func(err error) { once.Do(func() { outcome = err; close(ended) }) }
	disk := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind != errorfs.OpFileSyncData || !strings.Contains(op.Path, "seg-") {
			return nil
		}
		select {
		case h.syncing <- struct{}{}:
		default:
		}
		<-ended
		return outcome
	}))
	dir, err := storage.Open(t.TempDir(), storage.Options{Objects: objects.Options{FS: disk}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.goOn(nil); dir.Close() })
	if h.annotations, err = dir.Control(); err != nil {
		t.Fatal(err)
	}
	if h.documents, err = dir.Objects(); err != nil {
		t.Fatal(err)
	}
	h.resources = new(pipeline.Resources)
	pipeline.Provide(h.resources, dir)
	return h
}

// accept puts a document, and returns its version once its sync hangs.
func (h *hanging) accept(t *testing.T, url string) objects.Version {
	t.Helper()
	v, err := h.documents.Put(&webrace.Document{URL: url, Status: 200, Body: []byte(url)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	<-h.syncing
	return v
}

// of makes an annotation one of a version.
func of(v objects.Version) func(*xmlschema.ACI) {
	return func(a *xmlschema.ACI) {
		a.URI, a.Docbase = v.URL, xmlschema.Docbase{Version: v.Number, Digest: v.Digest.String()}
	}
}

func TestAnAnnotationIsStoredAfterItsDocument(t *testing.T) {
	disk := hangingDisk(t)
	v := disk.accept(t, "https://a.org/")
	emitted := make(chan *stagetest.Result, 1)
	go func() {
		defer close(emitted) // also where emit ends the test
		emitted <- emit(t, disk.resources, aci("a", of(v)))
	}()
	for range 100 { // others are stored meanwhile, which would take turns with it
		if _, err := disk.annotations.PutACIs(t.Context(), []*xmlschema.ACI{aci("b")}); err != nil {
			t.Fatal(err)
		}
	}
	if acis := stored(t, disk.annotations); len(acis) != 1 || acis[0].ID != "b" {
		t.Errorf("stored before the document is durable: %+v", acis)
	}
	disk.goOn(nil)
	<-emitted
	if acis := stored(t, disk.annotations); len(acis) != 2 {
		t.Errorf("%d annotations are stored, want 2", len(acis))
	}
}

func TestAnAnnotationOfNoVersionOrOfAnEarlierRunWaitsForNothing(t *testing.T) {
	disk := hangingDisk(t)
	disk.accept(t, "https://other.org/")
	emit(t, disk.resources, aci("a"), aci("b"))
	if acis := stored(t, disk.annotations); len(acis) != 2 {
		t.Errorf("%d annotations are stored, want 2", len(acis))
	}
	path := t.TempDir()
	r, annotations, _ := opened(t, path)
	emit(t, r, aci("c", of(objects.Version{URL: "https://a.org/", Number: 7})))
	if acis := stored(t, annotations); len(acis) != 1 {
		t.Errorf("%d annotations are stored, want 1", len(acis))
	}
	if made, err := filepath.Glob(filepath.Join(path, "objects")); err != nil || len(made) > 0 {
		t.Errorf("an object cache is made: %v, %v", made, err)
	}
}

// TestAnAnnotationWhoseDocumentCannotBeKeptIsNotStored holds that it becomes no dead letter either, which a later run
// would store.
func TestAnAnnotationWhoseDocumentCannotBeKeptIsNotStored(t *testing.T) {
	disk := hangingDisk(t)
	v := disk.accept(t, "https://a.org/")
	disk.goOn(errorfs.ErrInjected)
	got := emit(t, disk.resources, aci("a", of(v)))
	if err := got.Outcomes[0].Err; !errors.Is(err, errorfs.ErrInjected) {
		t.Errorf("its request ends with %v", err)
	}
	if acis := stored(t, disk.annotations); len(acis) > 0 || len(got.Failures) > 0 {
		t.Errorf("stored %d, failures %v", len(acis), got.Failures)
	}
}
