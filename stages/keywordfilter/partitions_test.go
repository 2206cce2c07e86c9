package keywordfilter

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/xmlschema"
)

// partitions are runs of the stage in one process, each of which matches what it is given.
type partitions struct {
	*fixture
	together pipeline.Together
	running  []*partition
	compiled int // of those that have ended, how many had compiled the URDs
	reloads  int64
}

type partition struct {
	run       *pipeline.Run
	documents chan *webrace.Document
	ended     chan error // what became of each

	mu   sync.Mutex
	told []string // owners
}

func (p *partitions) start() {
	p.Helper()
	one := &partition{documents: make(chan *webrace.Document), ended: make(chan error, 1)}
	graph, _ := stagetest.Between("keyword-filter", p.options, func(ctx context.Context, out pipeline.Emitter) error {
		for d := range one.documents {
			if err := out.Emit(ctx, pipeline.NewItem(d, func(o pipeline.Outcome) { one.ended <- o.Err })); err != nil {
				return err
			}
		}
		return nil
	}, func(it *pipeline.Item) error {
		one.mu.Lock()
		defer one.mu.Unlock()
		one.told = append(one.told, it.Value.(*xmlschema.ACI).Owner)
		return nil
	})
	var err error
	one.run, err = graph.Start(p.Context(), pipeline.RunOptions{Resources: p.resources, Continuous: true, Together: &p.together})
	if err != nil {
		p.Fatal(err)
	}
	p.running = append(p.running, one)
}

// end ends a run.
func (p *partitions) end(i int) {
	p.Helper()
	one := p.running[i]
	p.running = slices.Delete(p.running, i, i+1)
	close(one.documents)
	report, err := one.run.Wait()
	if err != nil {
		p.Error(err)
	}
	stage := report.Stages["keyword-filter"]
	if _, some := stage.Counters["interests"]; some {
		p.compiled++
	}
	p.reloads += stage.Counters["reloads"]
}

// match returns whom a document is told.
func (p *partition) match(d webrace.Document) ([]string, error) {
	p.documents <- &d
	err := <-p.ended
	p.mu.Lock()
	defer p.mu.Unlock()
	told := p.told
	p.told = nil
	slices.Sort(told)
	return told, err
}

// The partitions of a process compile the URDs once, and each sees what is added, changed and removed, also when others
// of them have ended.
func TestPartitionsHaveTheInterestsInCommon(t *testing.T) {
	p := &partitions{fixture: newFixture(t)}
	eleni := p.urd("eleni", start, "ibm")
	d := *p.fetched(html("ibm and java"), nil, reached(0, eleni))
	for range 32 {
		p.start()
	}
	revision := eleni.Revision
	for _, c := range []struct {
		what   string
		change func()
		told   []string
	}{
		{"one is added", func() { p.urd("maria", start, "java") }, []string{"eleni", "maria"}},
		{"one is changed", func() { p.urd("eleni", start, "lisp") }, []string{"maria"}},
		{"a partition has ended", func() { p.end(7); p.urd("nikos", start, "ibm") }, []string{"maria", "nikos"}},
		{"the first has ended", func() { p.end(0); p.urd("anna", start, "ibm") }, []string{"anna", "maria", "nikos"}},
		{"one is removed", func() { p.remove("nikos") }, []string{"anna", "maria"}},
		{"another begins", func() { p.urd("petros", start, "java"); p.start() }, []string{"anna", "maria", "petros"}},
	} {
		var meanwhile sync.WaitGroup
		for _, one := range p.running[20:25] {
			meanwhile.Go(func() {
				if told, err := one.match(d); err != nil {
					t.Errorf("%s: told %q while the base changed: %v", c.what, told, err)
				}
			})
		}
		c.change()
		meanwhile.Wait()
		revision++
		if err := p.control.Copied(t.Context(), revision); err != nil {
			t.Fatal(err)
		}
		for i, one := range p.running {
			if told, err := one.match(d); err != nil || !slices.Equal(told, c.told) {
				t.Errorf("%s: partition %d of %d told %q, want %q: %v", c.what, i, len(p.running), told, c.told, err)
			}
		}
	}
	for len(p.running) > 0 {
		p.end(0)
	}
	if p.compiled != 1 || p.reloads == 0 || p.reloads > 6 {
		t.Errorf("%d partitions have compiled the URDs, and together taken up 6 changes %d times", p.compiled, p.reloads)
	}
	if err := p.control.Copied(t.Context(), revision+1); err != nil {
		t.Errorf("who has ended still keeps the base: %v", err)
	}
}

func (p *partitions) remove(id string) {
	p.Helper()
	if err := p.control.Delete(p.Context(), id); err != nil {
		p.Fatal(err)
	}
}
