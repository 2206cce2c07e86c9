package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/pipeline/internal/flow"
	"github.com/webrace/webrace/pipeline/memsize"
)

// passing is a copy of an item that waits to be looked at.
type passing struct {
	item   Item // without its lease
	port   string
	at     time.Time
	number int64
	bytes  int64         // that it keeps, about
	took   time.Duration // to copy
}

// take queues a copy of an item, if there is room for it. The stage that calls it goes on with the item: it never
// waits, and copies no more than taps may.
func (t *Tap) take(it *Item, port string) {
	if t.budget.indebted.Load() || !t.mu.TryLock() { // another worker has an item for it
		return
	}
	defer t.mu.Unlock()
	if t.ended || t.credit.Load() <= 0 || len(t.queue) == cap(t.queue) {
		return
	}
	p := passing{port: port, at: time.Now(), number: t.number()}
	err := t.copy(&p, it)
	p.took = time.Since(p.at)
	t.budget.spend(p.took)
	switch {
	case err != nil:
		t.credit.Store(0)
		t.cancel(err)
	case p.bytes == 0:
		t.missed.Add(1)
	default:
		t.credit.Add(-1)
		t.queue <- p // where there is room, since no other adds to it
	}
}

// copy fills in what is the tap's own of an item; nothing where too much waits already.
func (t *Tap) copy(p *passing, it *Item) (err error) {
	defer recovered(t.stage+" (a tap)", &err)
	bytes := 1 + int64(memsize.Of(it.Value))
	if !t.budget.keep(bytes) {
		return nil
	}
	defer func() {
		if p.bytes == 0 { // Own has panicked
			t.budget.drop(bytes)
		}
	}()
	p.item = Item{Value: codec.Own(it.Value), Meta: it.Meta}
	p.bytes = bytes
	return nil
}

// wants returns how many items may be queued: what is looked at and cannot be shown is copied in vain.
func (t *Tap) wants() int32 {
	if t.options.Where != nil {
		return tapQueue
	}
	return int32(max(1, min(t.allow.items, tapQueue)))
}

// watch looks at what is queued until there is a reason to end.
func (t *Tap) watch(ctx context.Context, over <-chan struct{}) error {
	for {
		t.credit.Store(t.wants())
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case p := <-t.queue:
			if err := t.examine(ctx, over, p); err != nil {
				return err
			}
		case <-over:
			return t.finish(ctx, over)
		}
	}
}

// finish looks at what the last items of a run left in the queue.
func (t *Tap) finish(ctx context.Context, over <-chan struct{}) error {
	for {
		select {
		case p := <-t.queue:
			if err := t.examine(ctx, over, p); err != nil {
				return err
			}
		default:
			return ErrTapRunEnded
		}
	}
}

// forget leaves what is queued: it has passed unseen.
func (t *Tap) forget() {
	for {
		select {
		case p := <-t.queue:
			t.budget.drop(p.bytes)
		default:
			return
		}
	}
}

// examine looks at an item when taps may, and then pauses for as long as the tap has to.
func (t *Tap) examine(ctx context.Context, over <-chan struct{}, p passing) (err error) {
	shown := false
	took := t.budget.look(ctx, func() { shown, err = t.look(p) })
	t.budget.drop(p.bytes)
	if err != nil {
		return err
	}
	pause := t.allow.spend(shown, p.took+took, t.budget.shareOfOne(), time.Now())
	if pause <= 0 {
		return nil
	}
	t.credit.Store(0)
	t.forget()
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	case <-over:
	}
	return nil
}

// look shows the item if it is wanted.
func (t *Tap) look(p passing) (shown bool, err error) {
	defer recovered(t.stage+" (a tap)", &err)
	if where := t.options.Where; where != nil {
		wanted, err := where(&p.item)
		if errors.Is(err, ErrTapTooLong) {
			t.missed.Add(1)
			return false, nil
		}
		if !wanted || err != nil {
			return false, err
		}
	}
	if len(t.out) == cap(t.out) { // only this goroutine adds to it
		t.missed.Add(1)
		return true, nil
	}
	seen := Tapped{Pipeline: t.pipeline, Stage: t.stage, Port: p.port, Time: p.at, Number: p.number, Missed: t.missed.Load()}
	seen.show(&p.item, t.options.MaxBody)
	t.out <- seen
	if t.shown++; t.shown == t.options.Limit {
		return true, ErrTapLimit
	}
	return true, nil
}

// allowance bounds what is done: so many items a second, in bursts of up to as many, and a share of the time.
type allowance struct {
	items, rate float64       // that may be shown now; more a second
	work, most  time.Duration // that may be done now, and that is saved up at most
	at          time.Time     // when that was so
}

const (
	mostWork = 10 * time.Millisecond  // that is saved up
	nextWork = 100 * time.Microsecond // that there is at least to go on with after a pause
)

func newAllowance(rate int, most time.Duration, now time.Time) allowance {
	return allowance{items: float64(rate), rate: float64(rate), work: most, most: most, at: now}
}

// spend accounts for a look at an item where one part in so many of the time may be spent, and returns for how long
// there may be no other.
func (a *allowance) spend(shown bool, took time.Duration, share int, now time.Time) time.Duration {
	passed := max(now.Sub(a.at), 0)
	a.items = min(a.rate, a.items+passed.Seconds()*a.rate)
	a.at = now
	if shown {
		a.items--
	}
	var pause time.Duration
	if a.items < 1 {
		pause = time.Duration((1 - a.items) / a.rate * float64(time.Second))
	}
	if share == unbounded {
		return pause
	}
	a.work = min(a.most, a.work+passed/time.Duration(share)) - took
	if a.work <= 0 {
		pause = max(pause, (nextWork-a.work)*time.Duration(share))
	}
	return pause
}

// unbounded is a share that is no bound.
const unbounded = math.MaxInt

// TapError means that there is nothing to watch where a tap was to be opened, and tells where there is.
type TapError struct {
	Message string
	Hint    string   // what was probably meant, or ""
	Points  []string // what can be watched, as [ParseTapPoint] reads it
}

func (e *TapError) Error() string {
	return e.Message + suggest.DidYouMean(e.Hint) + "; there is " + strings.Join(e.Points, ", ")
}

// ParseTapPoint reads STAGE, STAGE.PORT or STAGE:in.
func ParseTapPoint(text string) (stage, port string, err error) {
	stage, isInput := strings.CutSuffix(text, TapInput)
	if isInput {
		port = TapInput
	} else if stage, port, _ = strings.Cut(text, "."); port == "" && stage != text {
		return "", "", fmt.Errorf("%q names no port after the point", text)
	}
	if !flow.IsName(stage) || port != "" && !isInput && !flow.IsName(port) {
		return "", "", fmt.Errorf("%q is neither STAGE nor STAGE.PORT nor STAGE:in", text)
	}
	return stage, port, nil
}

// tapPoint finds a stage and the ports of it that are meant.
func (r *Run) tapPoint(stage, port string) (*node, []string, error) {
	n := r.byName[stage]
	if n == nil {
		names := r.stageNames()
		return nil, nil, &TapError{fmt.Sprintf("pipeline %s has no stage %q", r.graph.Name, stage), suggest.Nearest(stage, names), names}
	}
	var outputs []string
	for _, p := range n.stage.Ports() {
		outputs = append(outputs, p.Name)
	}
	all := append(slices.Clone(outputs), errorsPort)
	if !n.stage.IsSource() {
		all = append(all, TapInput)
	}
	switch {
	case slices.Contains(all, port):
		return n, []string{port}, nil
	case port == "" && len(outputs) > 0:
		return n, outputs, nil
	case port == "" && !n.stage.IsSource():
		return n, []string{TapInput}, nil
	}
	return nil, nil, noTapPoint(stage, port, all)
}

// noTapPoint is the error that a stage has no such port, with those that it has.
func noTapPoint(stage, port string, all []string) *TapError {
	e := &TapError{Message: fmt.Sprintf("stage %s has no output port %q", stage, port)}
	if port == TapInput {
		e.Message = fmt.Sprintf("stage %s takes no input", stage)
	} else if hint := suggest.Nearest(port, all); hint != "" {
		e.Hint = pointName(stage, hint)
	}
	for _, p := range all {
		e.Points = append(e.Points, pointName(stage, p))
	}
	return e
}

func (r *Run) stageNames() []string {
	names := make([]string, 0, len(r.nodes))
	for _, n := range r.nodes {
		names = append(names, n.name)
	}
	return names
}

// pointName writes what [ParseTapPoint] reads.
func pointName(stage, port string) string {
	switch port {
	case "", TapInput:
		return stage + port
	}
	return stage + "." + port
}

// TapKinds returns the kinds of what passes where a tap with these options would watch; none if they are
// not known.
func (r *Run) TapKinds(stage, port string) ([]Kind, error) {
	r.layout.RLock()
	defer r.layout.RUnlock()
	n, ports, err := r.tapPoint(stage, port)
	if err != nil {
		return nil, err
	}
	var kinds []Kind
	for _, name := range ports {
		switch name {
		case TapInput:
			kinds = append(kinds, n.stage.Spec.In...)
		case errorsPort:
			kinds = append(kinds, KindOf[*Failure]())
		default:
			for _, p := range n.stage.Ports() {
				if p.Name == name {
					kinds = append(kinds, p.Kind)
				}
			}
		}
	}
	return slices.DeleteFunc(kinds, func(k Kind) bool { return k.typ == nil }), nil
}
