package pipeline

import "context"

// Alone is what became of a value that was processed outside a run.
type Alone struct {
	Outcome     // as a queue would be given it
	Note    any // what the stage said with [Item.Release]; nil if it said nothing
}

// ProcessOne gives a processor one value, outside a run: for a command that wants one thing done, by the
// code that does it in pipelines. Everything that the processor emits is given to take, with the name of
// the port, empty for the default one; the values are valid until ProcessOne returns, which is when their
// lease has ended. What a stage holds then is waited for until ctx ends.
func ProcessOne(ctx context.Context, p Processor, value any, take func(port string, value any) error) Alone {
	return ProcessItem(ctx, p, value, nil, "", emitFunc(take))
}

// ProcessItem is ProcessOne for a value with meta data and a key ([KeyOf]; "": one of its own), and for one who wants
// to know the meta data of what the processor emits: its items are given to out.
func ProcessItem(ctx context.Context, p Processor, value any, meta map[string]string, key string, out Emitter) Alone {
	a := &alone{ended: make(chan Outcome, 1), key: key}
	lease := newLease(a)
	lease.done(p.Process(ctx, &Item{Value: value, Meta: meta, lease: lease}, out))
	select {
	case outcome := <-a.ended:
		return Alone{outcome, a.note}
	case <-ctx.Done():
		return Alone{Outcome: Outcome{Err: ctx.Err()}}
	}
}

// alone is the lease of a value that is processed outside a run.
type alone struct {
	ended chan Outcome
	key   string
	note  any
}

func (*alone) Item() *Item        { return nil }
func (a *alone) Done(o Outcome)   { a.ended <- o }
func (a *alone) Release(note any) { a.note = note }

// emitFunc is an emitter that hands everything to a function.
type emitFunc func(port string, value any) error

func (t emitFunc) Emit(_ context.Context, it *Item) error                { return t("", it.Value) }
func (t emitFunc) EmitTo(_ context.Context, port string, it *Item) error { return t(port, it.Value) }
