package pipeline

import (
	"strings"
	"testing"
)

// BenchmarkTap measures what an item's way out of a stage costs: without a tap, with one at its usual rate,
// with one whose condition nothing meets, and beside a tap of another port. A stage that is busy spends a
// microsecond or more on an item, of which a fiftieth is 20 ns.
func BenchmarkTap(b *testing.B) {
	never := func(it *Item) (bool, error) { return strings.Contains(it.Value.(string), "never"), nil }
	for _, c := range []struct {
		name string
		o    *TapOptions
	}{
		{"none", nil}, {"usual", new(TapOptions)}, {"where", &TapOptions{Where: never}}, {"elsewhere", &TapOptions{Port: errorsPort}},
	} {
		b.Run(c.name, func(b *testing.B) {
			gate := make(chan struct{})
			run, err := build().add("stage", gated{count{}, gate}).g.Start(b.Context(), RunOptions{})
			if err != nil {
				b.Fatal(err)
			}
			defer run.Wait()
			defer close(gate)
			if c.o != nil {
				c.o.Stage = "stage"
				t, err := run.Tap(b.Context(), *c.o)
				if err != nil {
					b.Fatal(err)
				}
				go func() {
					for range t.C {
					}
				}()
			}
			n := run.byName["stage"]
			out, it := n.newEmitter(), &Item{Value: strings.Repeat("0123456789abcdef", 64)}
			out.def, out.lease = new(outlet), n.newLease(nil)
			for b.Loop() {
				if err := out.Emit(run.ctx, it); err != nil {
					b.Fatal(err)
				}
			}
			out.lease.done(nil)
		})
	}
}
