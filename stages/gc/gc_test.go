package gc

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/storage"
)

// filled returns a data directory with a document of each age.
func filled(t *testing.T, ages ...time.Duration) (*storage.Dir, *pipeline.Resources) {
	t.Helper()
	dir, err := storage.Open(t.TempDir(), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	store, err := dir.Objects()
	if err == nil {
		_, err = dir.Control()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, age := range ages {
		d := &webrace.Document{URL: "http://x.example/" + age.String(), Status: 200, Header: http.Header{}, At: time.Now().Add(-age), Body: []byte(age.String())}
		done := make(chan error, 1)
		if _, err := store.Put(d, func(err error) { done <- err }); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	resources := new(pipeline.Resources)
	pipeline.Provide(resources, dir)
	return dir, resources
}

func TestConformance(t *testing.T) {
	_, resources := filled(t, time.Hour)
	stagetest.Run(t, stagetest.Case{Type: "gc", Options: defaults, Resources: resources})
}

func TestItRemovesWhatIsOlderAndSaysSo(t *testing.T) {
	dir, resources := filled(t, time.Minute, 3*time.Hour, 5*time.Hour)
	o := defaults
	o.Unmatched = pipeline.Duration(2 * time.Hour)
	got := stagetest.Try(t, stagetest.Case{Type: "gc", Options: o, Resources: resources})
	if out := got.Out[""]; len(out) != 1 || out[0].(storage.Collected).Versions != 2 || got.Counters["removed"] != 2 {
		t.Errorf("got %+v, counters %v", got.Out, got.Counters)
	}
	store, err := dir.Objects()
	if err != nil {
		t.Fatal(err)
	}
	if n := store.Stats().Versions; n != 1 {
		t.Errorf("%d versions are left, want 1", n)
	}
}

func TestNothingGoesUnlessItIsToldTo(t *testing.T) {
	dir, resources := filled(t, 1000*time.Hour)
	stagetest.Try(t, stagetest.Case{Type: "gc", Resources: resources})
	store, err := dir.Objects()
	if err != nil {
		t.Fatal(err)
	}
	if n := store.Stats().Versions; n != 1 {
		t.Errorf("%d versions are left, want 1", n)
	}
}

func TestHowOftenIsValidated(t *testing.T) {
	var fault *pipeline.OptionError
	if err := (Options{}).Validate(); !errors.As(err, &fault) || fault.Option != "every" {
		t.Errorf("got %v", err)
	}
	if err := defaults.Validate(); err != nil {
		t.Error(err)
	}
}
