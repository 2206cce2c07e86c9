package pipeline

import (
	"maps"
	"reflect"
	"slices"

	"github.com/webrace/webrace/pipeline/codec"
)

// Part names something of a value that values of its kind may come without: the body of a document that the
// server only confirmed, for example. Which parts there are, and what they are called, is for the packages to define
// whose kinds have them.
type Part = string

// AllParts, among the needs of a stage, stands for every part that any of the items that come has: what one of
// them has, all must have, or the stage would do something else with those that are without.
const AllParts Part = "*"

// NoParts is what a stage needs that works on values as they come, with or without their parts.
var NoParts = []Part{}

// Case is one of the cases in which a stage gives a value, by the name by which [Partial.Case] knows it, and the
// parts that the value then has.
type Case struct {
	Name   string
	Parts  []Part
	Queued bool // only behind a queue, which knows what was taken from it before
}

// Addition is what a stage adds to the values that it passes on.
type Addition struct {
	Parts []Part
	Of    []Part   // only to values with these parts, which they are made of
	In    []string // only in these cases; in all, if none is named
}

// Partial is implemented by values that may come without some of their parts.
type Partial interface {
	// Case names the case that the value is of, "" being none.
	Case() string
	// Lacks returns in a clause why the value comes without a part: "https://a.org/ was not modified, ..."; it is
	// "" if the value has it.
	Lacks(part Part) (because string)
}

// NeededPartsProvider is implemented by option structs (by value) on which it depends what parts a stage needs, and by
// running stages that know it no sooner than they are open. What it returns replaces the Needs of the [Spec]; nil means
// that it is not known.
type NeededPartsProvider interface{ NeededParts() []Part }

// neededParts returns what the stage needs, as far as its options tell.
func (s *Stage) neededParts() []Part {
	parts := s.Spec.Needs
	if n, ok := s.Options.(NeededPartsProvider); ok {
		parts = n.NeededParts()
	}
	if parts != nil && s.WorkersKey != nil {
		parts = union(parts, s.WorkersKey.Parts())
	}
	return parts
}

// cases are the cases in which values come, and the parts that those of each have for certain.
type cases map[string][]Part

// meet leaves each case the parts that it has in both.
func (c cases) meet(other cases) cases {
	if c == nil {
		return maps.Clone(other)
	}
	for name, parts := range other {
		if before, both := c[name]; both {
			parts = slices.DeleteFunc(slices.Clone(before), func(p Part) bool { return !slices.Contains(parts, p) })
		}
		c[name] = parts
	}
	return c
}

// with returns the cases after an addition.
func (c cases) with(a Addition) cases {
	after := make(cases, len(c))
	for name, parts := range c {
		if a.concerns(name, parts) {
			parts = union(parts, a.Parts)
		}
		after[name] = parts
	}
	return after
}

// concerns reports whether values of a case, with these parts, are given something.
func (a Addition) concerns(name string, parts []Part) bool {
	return (len(a.In) == 0 || slices.Contains(a.In, name)) && isSubset(a.Of, parts)
}

// all returns the parts that values of any case have.
func (c cases) all() []Part {
	var all []Part
	for _, parts := range c {
		all = union(all, parts)
	}
	return all
}

// lacking returns the names of the cases without a part, sorted.
func (c cases) lacking(part Part) []string {
	var names []string
	for name, parts := range c {
		if !slices.Contains(parts, part) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (c cases) equal(other cases) bool { return maps.EqualFunc(c, other, slices.Equal) }

// union returns the parts of both, sorted, each once.
func union(a, b []Part) []Part {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

func isSubset(some, of []Part) bool {
	return !slices.ContainsFunc(some, func(p Part) bool { return !slices.Contains(of, p) })
}

// partFlow knows which parts come to each stage of a graph, and which are wanted of it: the first is found by
// going with the flow, as the greatest fixed point of what its edges give (a forward must-analysis, in the terms
// of compilers), the second by going against it, as the least.
type partFlow struct {
	stages map[string]*Stage
	ports  map[string][]Port
	edges  []Edge
	queued map[string]bool // the stages behind a queue
	ends   map[string]bool // queues from which other pipelines take what they may want
	needs  func(*Stage) []Part
	come   map[string]cases  // to each stage; nil where nothing is known
	wanted map[string][]Part // of what comes to each stage, by itself and by those behind it
}

// followParts follows the parts through a graph whose stages need what the function returns.
func (g *Graph) followParts(needs func(*Stage) []Part) *partFlow {
	f := &partFlow{
		stages: make(map[string]*Stage), ports: make(map[string][]Port), needs: needs,
		come: make(map[string]cases), ends: make(map[string]bool), wanted: make(map[string][]Part),
	}
	for _, s := range g.Stages {
		f.stages[s.Name] = s
		_, f.ends[s.Name] = g.shares(s)
		if s.Make != nil {
			f.ports[s.Name] = s.Ports()
		}
	}
	for _, e := range g.Edges {
		if f.stages[e.From] != nil && f.stages[e.To] != nil {
			f.edges = append(f.edges, e)
		}
	}
	f.queued = g.behindQueues()
	f.forwards()
	f.backwards()
	return f
}

// behindQueues returns the stages that what leaves a queue may come to. A queue of whatever it is given (a port of
// [SameAsInput]) hands it out as it came, and knows nothing of what it handed out before.
func (g *Graph) behindQueues() map[string]bool {
	behind := make(map[string]bool)
	var follow func(from string)
	follow = func(from string) {
		for _, e := range g.Edges {
			if e.From == from && !behind[e.To] {
				behind[e.To] = true
				follow(e.To)
			}
		}
	}
	for _, s := range g.Stages {
		if s.Spec.Queue && !slices.ContainsFunc(s.Spec.Out, func(p Port) bool { return p.Kind.same }) {
			follow(s.Name)
		}
	}
	return behind
}

// forwards finds what comes to each stage: what all its edges give for certain.
func (f *partFlow) forwards() {
	into := make(map[string][]Edge)
	for _, e := range f.edges {
		into[e.To] = append(into[e.To], e)
	}
	for changed := true; changed; {
		changed = false
		for name, edges := range into {
			var come cases
			for _, e := range edges {
				come = come.meet(f.given(e))
			}
			if !come.equal(f.come[name]) {
				f.come[name], changed = come, true
			}
		}
	}
}

// given returns what an edge gives; nil if nothing is known of that.
func (f *partFlow) given(e Edge) cases {
	port, ok := f.port(e)
	if !ok {
		return nil
	}
	if len(port.Cases) > 0 {
		made := make(cases, len(port.Cases))
		for _, c := range port.Cases {
			if !c.Queued || f.queued[e.From] {
				made[c.Name] = union(c.Parts, nil)
			}
		}
		return made
	}
	if !f.stages[e.From].passes(port) {
		return nil
	}
	come := f.come[e.From]
	for _, a := range port.Adds {
		come = come.with(a)
	}
	return come
}

func (f *partFlow) port(e Edge) (Port, bool) {
	i := slices.IndexFunc(f.ports[e.From], func(p Port) bool { return p.Name == e.Port })
	if i < 0 {
		return Port{}, false
	}
	return f.ports[e.From][i], true
}

// passes reports whether what leaves a port is what came in, or a changed copy of it, or holds it.
func (s *Stage) passes(port Port) bool {
	return port.Passes || port.Kind.same || slices.Contains(s.Spec.In, port.Kind) && !port.Kind.IsAny()
}

// backwards finds what is wanted of each stage: what it needs or uses, and of what it passes on, what those
// behind it want and it does not add.
func (f *partFlow) backwards() {
	for name, s := range f.stages {
		f.wanted[name] = s.without(s.wants(f.needs(s)))
		if f.ends[name] {
			f.wanted[name] = []Part{AllParts}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, e := range f.edges {
			port, ok := f.port(e)
			if !ok || len(port.Cases) > 0 || !f.stages[e.From].passes(port) {
				continue
			}
			wanted := union(f.wanted[e.From], port.before(f.wanted[e.To]))
			if len(wanted) > len(f.wanted[e.From]) {
				f.wanted[e.From], changed = wanted, true
			}
		}
	}
}

// wants returns the parts that a stage would use: all, if it does not declare what it needs.
func (s *Stage) wants(needs []Part) []Part {
	if needs == nil {
		needs = []Part{AllParts}
	}
	return union(needs, s.Spec.Uses)
}

// without leaves out the parts that the stage gets by itself.
func (s *Stage) without(parts []Part) []Part {
	return slices.DeleteFunc(parts, func(p Part) bool {
		return slices.ContainsFunc(s.Spec.Own, func(a Addition) bool { return slices.Contains(a.Parts, p) })
	})
}

// before returns what has to come in for these parts to leave the port.
func (p Port) before(wanted []Part) []Part {
	for _, a := range p.Adds {
		left := slices.DeleteFunc(slices.Clone(wanted), func(part Part) bool { return slices.Contains(a.Parts, part) })
		if len(left) < len(wanted) {
			wanted = union(left, a.Of)
		}
	}
	return wanted
}

// wantedOf returns what the stages want to which each port of a stage leads.
func (f *partFlow) wantedOf(stage string) map[string][]Part {
	wanted := make(map[string][]Part)
	for _, e := range f.edges {
		if e.From == stage {
			wanted[e.Port] = union(wanted[e.Port], f.wanted[e.To])
		}
	}
	return wanted
}

// comes returns what comes to a stage together with what it gets by itself.
func (f *partFlow) comes(s *Stage) cases {
	come := f.come[s.Name]
	for _, own := range s.Spec.Own {
		come = come.with(own)
	}
	return come
}

// doubtful returns the parts that a stage demands and that it is not certain to be given.
func (f *partFlow) doubtful(s *Stage) []Part {
	come := f.comes(s)
	parts := slices.Clone(demands(f.needs(s), come))
	if slices.ContainsFunc(f.edges, func(e Edge) bool { return e.To == s.Name && f.given(e) == nil }) {
		return parts
	}
	return slices.DeleteFunc(parts, func(p Part) bool { return len(come.lacking(p)) == 0 })
}

// demands returns the parts that every item has to have that comes to a stage, where these come: what one of
// them has, if that is what it needs, or if it does not declare what it needs.
func demands(needs []Part, come cases) []Part {
	if needs == nil || slices.Contains(needs, AllParts) {
		return union(slices.DeleteFunc(slices.Clone(needs), func(p Part) bool { return p == AllParts }), come.all())
	}
	return union(needs, nil)
}

var partial = reflect.TypeFor[Partial]()

// mayBePartial reports whether values of the kind may come without parts.
func (k Kind) mayBePartial() bool {
	return k.same || k.typ != nil && (k.typ.Kind() == reflect.Interface || k.typ.Kind() == reflect.Slice || k.typ.Implements(partial))
}

// PartsOfFields returns the parts of which fields of these names tell, in whatever kind has such a field; a value's
// body is the part of that name. It reports as well whether one of them tells in which case a value is: what looks at
// that decides by itself what to do in each.
func PartsOfFields(names ...string) (parts []Part, byCase bool) {
	parts = NoParts
	for _, k := range codec.All() {
		for _, f := range k.Fields {
			if !slices.Contains(names, f.Name) {
				continue
			}
			if part := partOf(k, f); part != "" {
				parts = append(parts, part)
			}
			byCase = byCase || f.Case
		}
	}
	slices.Sort(parts)
	return slices.Compact(parts), byCase
}

// KnownParts lists the parts that fields of some kind tell of, sorted.
func KnownParts() []Part {
	var all []Part
	for _, k := range codec.All() {
		for _, f := range k.Fields {
			if part := partOf(k, f); part != "" {
				all = append(all, part)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// partOf returns the part that a field of a kind tells of, "" being none.
func partOf(k codec.Info, f codec.Field) Part {
	if f.Name == codec.Body && k.Type.Implements(partial) {
		return codec.Body
	}
	return f.Part
}
