package pipeline

import (
	"context"
	"fmt"
	"reflect"

	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/pipeline/recordjson"
)

// replay is a dead letter that goes through its stage once more.
type replay struct {
	to     *node
	letter DeadLetterRecord
	value  any
}

// takeReplays reads the dead letters that are to be processed again. One whose stage or kind is no
// longer part of the pipeline stays where it is, with a warning.
func (r *Run) takeReplays() ([]replay, error) {
	if r.options.DeadLetters == nil {
		return nil, nil
	}
	letters, err := r.options.DeadLetters.Replays(r.ctx, r.graph.Name)
	if err != nil {
		return nil, fmt.Errorf("read the dead letters to replay: %w", err)
	}
	var replays []replay
	for _, letter := range letters {
		value, to, err := r.revive(letter)
		if err != nil {
			r.logger.Warn("dead letter not replayed", "id", letter.ID, "stage", letter.Stage, "error", err)
			continue
		}
		replays = append(replays, replay{to, letter, value})
	}
	return replays, nil
}

func (r *Run) revive(letter DeadLetterRecord) (_ any, _ *node, err error) {
	defer recovered(letter.Stage, &err) // the kind may read itself
	to := r.byName[letter.Stage]        // before anything runs
	if to == nil {
		return nil, nil, fmt.Errorf("pipeline %s has no stage %q any more", r.graph.Name, letter.Stage)
	}
	if _, isSource := to.impl.(Source); isSource {
		return nil, nil, fmt.Errorf("stage %s is a source, which takes nothing: mend what it reads, and it reads that anew; then purge the letter", letter.Stage)
	}
	for _, kind := range to.stage.Spec.In {
		if kind.String() != letter.Kind && !kind.IsAny() {
			continue
		}
		typ := kind.typ
		if named, known := codec.GoType(letter.Kind); known && kind.IsAny() {
			typ = named // a stage that takes anything gets what it was given, and not a map of its fields
		}
		value := reflect.New(typ)
		if err := recordjson.Unmarshal(letter.Value, value.Interface()); err != nil {
			return nil, nil, fmt.Errorf("decode %s: %w", letter.Kind, err)
		}
		return value.Elem().Interface(), to, nil
	}
	return nil, nil, fmt.Errorf("stage %s takes no %s any more", letter.Stage, letter.Kind)
}

// startReplays feeds the letters to their stages, each from a producer of its own. A letter is forgotten
// once everything made from it has been dealt with; if it fails again, it is buried anew. The caller holds
// r.wiring.
func (r *Run) startReplays(replays []replay) {
	producer := new(node)
	for _, p := range replays {
		p.to.producers.Add(1)
		if p.to.queue != nil {
			p.to.external[producer] = true
			p.to.externals.Add(1)
		}
	}
	for _, p := range replays {
		r.work(func() {
			defer r.replayEnded(p.to, producer)
			lease := p.to.newLease(&replayed{r, p.letter})
			if !p.to.in.put(&Item{Value: p.value, Meta: p.letter.Meta, lease: lease}, r.drainCtx.Done(), nil) {
				lease.done(r.drainCtx.Err())
			}
		})
	}
}

func (r *Run) replayEnded(to, producer *node) {
	r.wiring.Lock()
	defer r.wiring.Unlock()
	if !r.rewiring {
		to.producerEnded(producer)
	}
}

// replayed is the lease of a letter.
type replayed struct {
	run    *Run
	letter DeadLetterRecord
}

func (*replayed) Item() *Item { return nil }

func (l *replayed) Done(o Outcome) {
	if o.Err != nil {
		return
	}
	if err := l.run.options.DeadLetters.Replayed(context.WithoutCancel(l.run.ctx), l.letter.ID); err != nil {
		l.run.logger.Error("replayed dead letter not forgotten", "id", l.letter.ID, "error", err)
	}
}
