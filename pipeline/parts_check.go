package pipeline

import (
	"context"
	"fmt"
	"slices"

	"github.com/webrace/webrace/internal/pointer"
)

// partCheck finds items that come to a stage without a part that it needs. Lint has looked at what each stage
// declares of itself, and what it has proved is not looked at again; what no stage has declared is found here, so that
// nothing is passed over for want of it.
type partCheck struct {
	parts []Part
	own   []Addition // what the stage gets by itself
	from  *Registry  // of the stages that could give it
}

// wireParts tells the stages which parts of what they give are wanted, and finds out which of them need to be
// looked after. It comes after they were opened, since some know only then what they need.
func (r *Run) wireParts() {
	f := r.graph.followParts(func(s *Stage) []Part {
		n := r.byName[s.Name]
		provider, ok := n.impl.(NeededPartsProvider)
		if !ok {
			return s.neededParts()
		}
		var parts []Part
		n.env.Guard(func() { parts = provider.NeededParts() })()
		return parts
	})
	for _, n := range r.nodes {
		wanted := f.wantedOf(n.name)
		pointer.Store(&n.env.wanted, &wanted)
		n.check = nil
		parts := f.doubtful(n.stage)
		if len(parts) > 0 && slices.ContainsFunc(n.stage.Spec.In, Kind.mayBePartial) {
			n.check = &partCheck{parts, n.stage.Spec.Own, r.graph.types()}
		}
	}
}

// Wants reports whether a stage behind an output port makes use of a part of what leaves it: whether it is
// worth the stage's while to provide the part. It may be asked for each item, also while the pipeline is reloaded.
func (e *Env) Wants(port string, part Part) bool {
	wanted := pointer.Load(&e.wanted)
	if wanted == nil {
		return false
	}
	parts := (*wanted)[port]
	return slices.Contains(parts, part) || slices.Contains(parts, AllParts)
}

// Leads reports whether a port leads to a stage. Outside of a run it does not.
func (e *Env) Leads(port string) bool {
	if e.run == nil {
		return false
	}
	e.run.layout.RLock()
	defer e.run.layout.RUnlock()
	return slices.ContainsFunc(e.run.graph.Edges, func(edge Edge) bool { return edge.From == e.Stage && edge.Port == port })
}

// missing returns an error if the value comes without a part that is needed; of a list, if one of its values does.
func (c *partCheck) missing(value any) error {
	if list, ok := value.(List); ok {
		for _, v := range list {
			if err := c.missing(v); err != nil {
				return err
			}
		}
		return nil
	}
	v, ok := value.(Partial)
	if !ok {
		return nil
	}
	for _, part := range c.parts {
		because := v.Lacks(part)
		if because == "" || slices.ContainsFunc(c.own, func(a Addition) bool { return slices.Contains(a.Parts, part) && a.concerns(v.Case(), nil) }) {
			continue
		}
		if by := c.from.giverOf(part, v.Case(), nil); by != "" {
			return fmt.Errorf("needs the %s of what it is given: %s; let the stage follow %s, which gives it", part, because, by)
		}
		return fmt.Errorf("needs the %s of what it is given: %s", part, because)
	}
	return nil
}

// checked is a processor that is given complete items only; the others fail.
type checked struct {
	Processor
	check *partCheck
}

func (c checked) Process(ctx context.Context, it *Item, out Emitter) error {
	if err := c.check.missing(it.Value); err != nil {
		return err
	}
	return c.Processor.Process(ctx, it, out)
}

// checking returns the processor, with a check in front of it if the stage has to be looked after.
func (n *node) checking(p Processor) Processor {
	if n.check == nil {
		return p
	}
	return checked{p, n.check}
}

// complete returns the items of a group that have all that the stage needs. The others fail, each by itself.
func (n *node) complete(group []*Item, out *emitter) []*Item {
	if n.check == nil {
		return group
	}
	return slices.DeleteFunc(group, func(it *Item) bool {
		err := n.guarded(func() error { return n.check.missing(it.Value) })
		if err == nil {
			return false
		}
		one := []*Item{it}
		out.begin(it.lease, it.branch)
		err = n.afterError(err, one, out, func() error { return err })
		out.returned(one)
		out.end()
		it.lease.done(err)
		return true
	})
}
