package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// shownItems gathers what a dry run shows.
type shownItems []string

// dry returns a dry run that shows its items here.
func (s *shownItems) dry(items int64) RunOptions {
	return RunOptions{Dry: &Dry{Items: items, Show: func(effect string, item Tapped) {
		*s = append(*s, fmt.Sprintf("%s would %s: %s", item.Stage, effect, item.Value))
	}}}
}

// withEffect gives the last stage an effect, which no test may see.
func (b graphOf) withEffect(t *testing.T, effect string, out ...Port) graphOf {
	s := b.g.Stages[len(b.g.Stages)-1]
	s.Spec.Effect, s.Spec.Out, s.Spec.Workers, s.Spec.Batch = effect, out, 8, Batch{Count: 10}
	s.Make = func(*Env) (any, error) {
		t.Error("a stage with an effect is made")
		return nil, errBroken
	}
	return b
}

func TestADryRunShowsWhatItWouldDoAndPassesItOn(t *testing.T) {
	var shown shownItems
	var sink collected
	ends := newOutcomes()
	b := build().add("numbers", count{3, ends.add}).add("mail", nil).withEffect(t, "mail it", Port{Kind: SameAsInput}, Port{Name: "receipts"}).
		add("sink", &sink).add("receipts", &collected{}).chain("numbers", "mail", "sink").edge("mail", "receipts", "receipts")
	b.g.Stages[2].Make = func(env *Env) (any, error) {
		if !env.Dry {
			t.Error("the stages are not told that the run is dry")
		}
		return &sink, nil
	}
	report := mustRun(t, b, shown.dry(0))
	if want := []string{"mail would mail it: 0", "mail would mail it: 1", "mail would mail it: 2"}; !slices.Equal(shown, want) {
		t.Errorf("shown %q, want %q", shown, want)
	}
	if want := []any{0, 1, 2}; !slices.Equal(sink.values, want) || report.Stages["receipts"].In != 0 {
		t.Errorf("passed on %v, want %v; %d made up", sink.values, want, report.Stages["receipts"].In)
	}
	ends.mustEndOnce(t, 3)
}

func TestADryRunOfAStageThatCannotBeShownIsRefused(t *testing.T) {
	var shown shownItems
	source := build().add("sends", count{1, nil})
	source.g.Stages[0].Spec.Effect, source.g.Stages[0].Spec.In = "take letters", nil
	queue := build().add("numbers", count{1, nil}).add("broker", newTree()).chain("numbers", "broker")
	queue.g.Stages[1].Spec.Effect, queue.g.Stages[1].Spec.Queue = "keep them elsewhere", true
	for name, b := range map[string]graphOf{"sends would take letters": source, "broker would keep them elsewhere": queue} {
		if _, err := b.g.Run(t.Context(), shown.dry(0)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b := build().add("numbers", count{1, nil}).add("mail", nil).withEffect(t, "mail it").chain("numbers", "mail")
	b.g.Stages[1].Make = func(*Env) (any, error) { return &collected{}, nil }
	mustRun(t, b, RunOptions{}) // which is not dry
	if len(shown) > 0 {
		t.Errorf("shown %q", shown)
	}
}

// As many items as were asked for go through, not one more or less, wherever they come in.
func TestADryRunEndsAfterItsItems(t *testing.T) {
	t.Run("of a queue", func(t *testing.T) {
		tree, later := newTree(), newTree()
		b := build().add("start", count{1, nil}).add("queue", tree).add("crawl", crawl(1<<20)).add("later", later).add("end", &collected{}).
			chain("start", "queue", "crawl", "later", "end").edge("crawl", "links", "queue")
		report := mustRun(t, b, new(shownItems).dry(5))
		if out := report.Stages["queue"].Out; out != 5 || report.Stages["start"].Out != 1 || report.Drained != "a dry run of 5 items" {
			t.Errorf("the queue handed out %d items, and %q ended the run: %+v", out, report.Drained, report.Stages)
		}
		if tree.out != 0 || later.out != 0 {
			t.Errorf("%d and %d leases did not end", tree.out, later.out)
		}
	})
	t.Run("of several sources", func(t *testing.T) {
		for range 20 {
			var sink collected
			ends := []*outcomes{newOutcomes(), newOutcomes(), newOutcomes()}
			b := build()
			for i, o := range ends {
				b = b.add(fmt.Sprint(i), count{1 << 30, o.add}).chain(fmt.Sprint(i), "sink")
			}
			b = b.add("sink", &sink, Common{Buffer: 1})
			mustRun(t, b, new(shownItems).dry(7))
			if len(sink.values) != 7 {
				t.Fatalf("%d items came, want 7", len(sink.values))
			}
			for _, o := range ends {
				for i, all := range o.all {
					if len(all) != 1 {
						t.Fatalf("lease %d ended with %+v, want once", i, all)
					}
				}
			}
		}
	})
	t.Run("of several queues", func(t *testing.T) {
		for range 20 {
			var sink collected
			a, z := newTree(), newTree()
			b := build().add("as", count{100, nil}).add("zs", count{100, nil}).add("a", a).add("z", z).add("sink", &sink).
				chain("as", "a", "sink").chain("zs", "z", "sink")
			mustRun(t, b, new(shownItems).dry(30))
			if len(sink.values) != 30 || a.out+z.out != 0 {
				t.Fatalf("%d items came, want 30; %d leases did not end", len(sink.values), a.out+z.out)
			}
		}
	})
	t.Run("of which there are fewer", func(t *testing.T) {
		var sink collected
		if report := mustRun(t, build().add("numbers", count{3, nil}).add("sink", &sink).chain("numbers", "sink"), new(shownItems).dry(5)); report.Drained != "" || len(sink.values) != 3 {
			t.Errorf("%d items came, and %q ended the run", len(sink.values), report.Drained)
		}
	})
}
