package pipelinetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/pipeline/recordjson"
)

// source emits values.
type source []any

func (s source) Run(ctx context.Context, out pipeline.Emitter) error {
	for _, v := range s {
		if err := out.Emit(ctx, &pipeline.Item{Value: v}); err != nil {
			return err
		}
	}
	return nil
}

// seen holds what left each port, and what became a dead letter.
type seen struct {
	mu      sync.Mutex
	items   map[string][]item // by STAGE or STAGE.PORT
	letters []pipeline.DeadLetterRecord
}

// item is one of them: a value of its own, that lives on when the run is over.
type item struct {
	value  any
	meta   map[string]string
	fields map[string]any // as JSON has them
}

func newSeen() *seen { return &seen{items: make(map[string][]item)} }

func (s *seen) Put(_ context.Context, letter pipeline.DeadLetterRecord) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.letters = append(s.letters, letter)
	return nil
}

func (*seen) Replays(context.Context, string) ([]pipeline.DeadLetterRecord, error) { return nil, nil }
func (*seen) Replayed(context.Context, string) error                               { return nil }

// taker writes down what leaves a port.
type taker struct {
	seen        *seen
	stage, port string
}

func (k taker) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	kind, header, body, err := codec.Encode(it.Value)
	if err != nil {
		return err
	}
	value, err := codec.Decode(kind, header, bytes.Clone(body))
	if err != nil {
		return err
	}
	fields, err := normalized(codec.Fields(value))
	if err != nil {
		return err
	}
	from := k.stage
	if k.port != "" {
		from += "." + k.port
	}
	k.seen.mu.Lock()
	defer k.seen.mu.Unlock()
	k.seen.items[from] = append(k.seen.items[from], item{value, it.Meta, fields})
	return nil
}

// fixture stands in for a stage.
type fixture struct {
	stage   string
	answers []answer
	seen    *seen
}

var errNoAnswer = errors.New("the fixture has no answer for it: add one, or one with drop = true")

// answer is one of a fixture's, for the items that have some fields.
type answer struct {
	when   pipeline.Table
	port   string
	drop   bool
	kind   string
	fields pipeline.Table
	body   []byte
	where  string

	complete func(any) (any, error)
}

// Process gives every answer to an item. One that there is no answer to is an error: what a test does not
// know of is not passed over.
func (f *fixture) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	fields, err := normalized(codec.Fields(it.Value))
	if err != nil {
		return err
	}
	answered := false
	for _, a := range f.answers {
		if fits, err := a.fits(fields); !fits || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		answered = true
		if a.drop {
			continue
		}
		v, err := a.value(it.Value)
		if err == nil {
			err = out.EmitTo(ctx, a.port, it.With(v))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", a.where, err)
		}
	}
	if !answered {
		return errNoAnswer
	}
	return nil
}

func (a answer) fits(fields map[string]any) (bool, error) {
	want, err := normalized(a.when)
	return err == nil && within(want, fields), err
}

// value makes what is answered to an item, or to none. Fields of the item that the answer's kind has as well,
// and the test does not set, are carried over; "from" is then the item's URL.
func (a answer) value(to any) (any, error) {
	fields := carried(to, a.kind)
	maps.Copy(fields, a.fields)
	header, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	v, err := codec.Decode(a.kind, header, slices.Clone(a.body))
	if err != nil || a.complete == nil {
		return v, err
	}
	return a.complete(v)
}

func carried(from any, kind string) map[string]any {
	fields := make(map[string]any)
	named, err := codec.Named(kind)
	if from == nil || err != nil {
		return fields
	}
	_, header, _, err := codec.Encode(from)
	var had map[string]any
	if err != nil || recordjson.Unmarshal(header, &had) != nil {
		return fields
	}
	for _, f := range named.Fields {
		name := f.Name
		if name == "from" {
			name = "url"
		}
		if v, ok := had[name]; ok && f.Name != "visit" {
			fields[f.Name] = v
		}
	}
	return fields
}

// sourceFixture stands in for a source: it gives its answers, once.
type sourceFixture fixture

func (f *sourceFixture) Run(ctx context.Context, out pipeline.Emitter) error {
	for _, a := range f.answers {
		if a.drop {
			continue
		}
		v, err := a.value(nil)
		if err != nil {
			return err
		}
		if err := out.EmitTo(ctx, a.port, &pipeline.Item{Value: v}); err != nil {
			return err
		}
	}
	return nil
}
