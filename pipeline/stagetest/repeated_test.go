package stagetest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// outside is a table that stages write to: rows with a key, and lines without.
type outside struct {
	mu    sync.Mutex
	rows  map[string]string
	lines []string
}

func (o *outside) put(key, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rows[key] = text
}

func (o *outside) add(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines = append(o.lines, text)
}

// holds returns what is there, sorted.
func (o *outside) holds() (any, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := slices.Clone(o.lines)
	for key, text := range o.rows {
		all = append(all, key+" "+text)
	}
	slices.Sort(all)
	return all, nil
}

// TestAnEffectThatIsRepeatedIsFound has stages write to a table: some do so once for each item, however often it comes.
func TestAnEffectThatIsRepeatedIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		keeps bool
		stage func(*outside) func() any
	}{
		"by the key of the item": {true, func(o *outside) func() any {
			return func() any {
				return function(func(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
					o.put(pipeline.KeyOf(it), it.Value.(*word).Text)
					return nil
				})
			}
		}},
		"by what it is, later": {true, func(o *outside) func() any {
			return func() any {
				return function(func(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
					done := it.Hold()
					go func() { o.put(it.Value.(*word).Text, "was here"); done(nil) }()
					return nil
				})
			}
		}},
		"as it comes": {false, func(o *outside) func() any {
			return func() any {
				return function(func(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
					o.add(it.Value.(*word).Text)
					return nil
				})
			}
		}},
		"in groups": {false, func(o *outside) func() any { return func() any { return appending{o} } }},
		"once as far as it remembers": {false, func(o *outside) func() any {
			return func() any {
				var done sync.Map
				return function(func(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
					if _, twice := done.LoadOrStore(pipeline.KeyOf(it), true); !twice {
						o.add(it.Value.(*word).Text)
					}
					return nil
				})
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			o := &outside{rows: make(map[string]string)}
			spec := processorSpec()
			spec.Effect = "write it to a table"
			violations := Check(Case{Type: "stage", Registry: registered(spec, c.stage(o)), Inputs: words(), Effect: o.holds, Patience: 10 * time.Second})
			found := slices.ContainsFunc(violations, func(v Violation) bool { return v.Rule == RepeatsNothing })
			if found == c.keeps || len(violations) > 1 {
				t.Errorf("the suite finds %v", violations)
			}
			if found && !strings.Contains(violations[0].Error(), "has changed when its inputs came again") {
				t.Errorf("it says %v", violations[0])
			}
		})
	}
}

// appending writes each item of a group as it comes.
type appending struct{ to *outside }

func (a appending) ProcessBatch(_ context.Context, its []*pipeline.Item, _ pipeline.Emitter) error {
	for _, it := range its {
		w, err := pipeline.ValueOf[*word](it)
		if err != nil {
			return err
		}
		a.to.add(w.Text)
	}
	return nil
}
