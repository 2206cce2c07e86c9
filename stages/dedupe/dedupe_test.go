package dedupe

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
)

func with(change func(*Options)) Options {
	o := defaults
	o.Key = "value"
	change(&o)
	return o
}

func nothing(*Options) {}

func try(t *testing.T, o Options, inputs ...any) *stagetest.Result {
	t.Helper()
	return stagetest.Try(t, stagetest.Case{Type: "dedupe", Options: o, Inputs: inputs})
}

func made(t *testing.T, o Options) *stage {
	t.Helper()
	s, err := newStage(o, pipeline.NewEnv("p", "s", nil))
	if err != nil {
		t.Fatal(err)
	}
	return s.(*stage)
}

func TestConformance(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "keys")
	for name, o := range map[string]Options{
		"in memory": with(nothing), "one key": with(func(o *Options) { o.MaxKeys = 1 }), "in a file": with(func(o *Options) { o.Path = path }),
	} {
		t.Run(name, func(t *testing.T) {
			stagetest.Run(t, stagetest.Case{Type: "dedupe", Options: o, Inputs: []any{1, 2, 1, 3}})
		})
	}
}

func TestTheFirstOfAKeyPasses(t *testing.T) {
	got := try(t, with(func(o *Options) { o.Key = "value % 10" }), 1, 2, 11, 12, 3, 1)
	if want := map[string][]any{"": {1, 2, 3}, "duplicates": {11, 12, 1}}; !reflect.DeepEqual(got.Out, want) {
		t.Errorf("got %v, want %v", got.Out, want)
	}
	if got.Counters["duplicates"] != 3 {
		t.Errorf("counters %v", got.Counters)
	}
}

func TestTheOldestKeysAreForgottenWhenThereIsNoRoom(t *testing.T) {
	got := try(t, with(func(o *Options) { o.MaxKeys = 2 }), 1, 2, 1, 3, 1, 3)
	if want := []any{1, 2, 3, 1}; !reflect.DeepEqual(got.Out[""], want) {
		t.Errorf("got %v, want %v", got.Out[""], want)
	}
	if got.Counters["forgotten"] != 2 {
		t.Errorf("counters %v", got.Counters)
	}
}

func TestAKeyIsRememberedForATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := made(t, with(func(o *Options) { o.Within = pipeline.Duration(10 * time.Second) }))
		var got []bool
		for range 6 {
			got = append(got, s.first(hashOf("a"), time.Now()) != nil)
			time.Sleep(4 * time.Second)
		}
		if want := []bool{true, false, false, true, false, false}; !reflect.DeepEqual(got, want) {
			t.Errorf("passes: %v, want %v", got, want)
		}
		time.Sleep(time.Minute)
		s.first(hashOf("b"), time.Now())
		if len(s.known) != 1 || len(s.order) != 1 {
			t.Errorf("%d keys are known, %d in order", len(s.known), len(s.order))
		}
	})
}

// A file has keys in the order in which their items were dealt with: one whose time is over may stand behind others.
func TestAKeyOfAFileIsRememberedForItsTimeAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	now := time.Now()
	text := record(&entry{hash: hashOf("young"), at: now})
	text = append(text, record(&entry{hash: hashOf("old"), at: now.Add(-3 * time.Hour)})...)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s := made(t, with(func(o *Options) { o.Path, o.Within = path, pipeline.Duration(4*time.Hour) }))
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if later := now.Add(2 * time.Hour); s.first(hashOf("old"), later) == nil || s.first(hashOf("young"), later) != nil {
		t.Error("a key is remembered for another time than its own")
	}
}

// TestAnItemThatFailsMayPassAgain is what delivery at least once asks for: the repeat is no duplicate.
func TestAnItemThatFailsMayPassAgain(t *testing.T) {
	s := made(t, with(nothing))
	for _, failed := range []error{errors.New("broken"), context.Canceled} {
		e := s.first(hashOf("a"), time.Now())
		if e == nil {
			t.Fatal("it does not pass")
		}
		if s.first(hashOf("a"), time.Now()) != nil {
			t.Error("a second passes while the first is out")
		}
		s.settle(e, failed)
	}
	e := s.first(hashOf("a"), time.Now())
	if e == nil {
		t.Fatal("it does not pass after it has failed")
	}
	s.settle(e, nil)
	if s.first(hashOf("a"), time.Now()) != nil {
		t.Error("it passes after it has been dealt with")
	}
	if len(s.known) != 1 {
		t.Errorf("%d keys are known", len(s.known))
	}
}

func TestManyFailuresDoNotPileUp(t *testing.T) {
	s := made(t, with(nothing))
	s.first(hashOf("stays"), time.Now())
	for range 10_000 {
		s.settle(s.first(hashOf("a"), time.Now()), errors.New("broken"))
	}
	if len(s.order) > 2000 {
		t.Errorf("%d places for one key", len(s.order))
	}
	if s.first(hashOf("stays"), time.Now()) != nil {
		t.Error("a key was lost")
	}
}

func TestAFileRemembersFromRunToRun(t *testing.T) {
	o := with(func(o *Options) { o.Path = filepath.Join(t.TempDir(), "keys") })
	if got := try(t, o, 1, 2); len(got.Out[""]) != 2 {
		t.Errorf("got %v", got.Out)
	}
	file, err := os.OpenFile(o.Path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString("cut off"); err != nil { // in the middle of a record
		t.Fatal(err)
	}
	file.Close()
	if got := try(t, o, 2, 3, 1); !reflect.DeepEqual(got.Out[""], []any{3}) {
		t.Errorf("got %v", got.Out)
	}
	if info, err := os.Stat(o.Path); err != nil || info.Size() != 3*recordSize {
		t.Errorf("%v, %v", info, err)
	}
	o.MaxKeys = 1
	if got := try(t, o, 3, 1); !reflect.DeepEqual(got.Out[""], []any{1}) {
		t.Errorf("with room for the last key alone: %v", got.Out)
	}
}

func TestAFileDoesNotKnowWhatFailed(t *testing.T) {
	o := with(func(o *Options) { o.Path = filepath.Join(t.TempDir(), "keys") })
	s := made(t, o)
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.settle(s.first(hashOf("1"), time.Now()), errors.New("broken"))
	s.first(hashOf("2"), time.Now()) // the process dies while it is out
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := try(t, o, 1, 2); len(got.Out[""]) != 2 {
		t.Errorf("got %v", got.Out)
	}
}

func TestOptionsAreValidated(t *testing.T) {
	for _, c := range []struct {
		option string
		change func(*Options)
	}{
		{"key", func(o *Options) { o.Key = "" }},
		{"key", func(o *Options) { o.Key = "a b" }},
		{"max_keys", func(o *Options) { o.MaxKeys = 0 }},
	} {
		var fault *pipeline.OptionError
		if err := with(c.change).Validate(); !errors.As(err, &fault) || fault.Option != c.option {
			t.Errorf("got %v, want a fault of %s", err, c.option)
		}
	}
}
