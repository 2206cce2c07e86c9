package pipeline

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/pipeline/finding"
)

// checkParts reports edges on which a part that the next stage needs is missing in some case, and stages that do
// not declare what they need, where that would make a difference.
func (l *linter) checkParts() {
	f := l.g.followParts((*Stage).neededParts)
	for _, e := range f.edges {
		s := f.stages[e.To]
		if !l.known(e.From) || !l.known(e.To) || s.IsSource() {
			continue
		}
		come := f.given(e)
		for _, own := range s.Spec.Own {
			come = come.with(own)
		}
		needs := s.neededParts()
		if needs == nil && s.Spec.NeedsLater {
			continue
		}
		l.checkEdge(f, e, needs, come)
	}
}

// lack is a set of parts that are missing in the same cases.
type lack struct {
	parts []Part
	in    []string
}

// lacks returns what is missing of the parts, by cases.
func (c cases) lacks(parts []Part) []lack {
	var all []lack
	for _, part := range parts {
		in := c.lacking(part)
		if len(in) == 0 {
			continue
		}
		i := slices.IndexFunc(all, func(o lack) bool { return slices.Equal(o.in, in) })
		if i < 0 {
			i, all = len(all), append(all, lack{in: in})
		}
		all[i].parts = append(all[i].parts, part)
	}
	return all
}

func (l *linter) checkEdge(f *partFlow, e Edge, needs []Part, come cases) {
	lacks := come.lacks(demands(needs, come))
	if len(lacks) == 0 {
		return
	}
	what := f.nounOf(e)
	var missing, parts, givers []string
	for _, miss := range lacks {
		which := "each " + what
		if len(miss.in) < len(come) {
			which = fmt.Sprintf("a %s that is %s", what, suggest.Or(miss.in))
		}
		missing = append(missing, fmt.Sprintf("%s comes without %s", which, suggest.And(miss.parts)))
		parts = union(parts, miss.parts)
		givers = union(givers, l.giversOf(miss, come))
	}
	text := fmt.Sprintf("stage %q needs the %s of a %s, and here %s", e.To, suggest.And(parts), what, suggest.And(missing))
	if needs == nil {
		text = fmt.Sprintf("stage %q does not say what it needs of a %s, and here %s: say it in Needs of its Spec (pipeline.NoParts for nothing)",
			e.To, what, suggest.And(missing))
	}
	if len(givers) > 0 {
		joint := map[bool]string{true: ", or", false: ":"}[needs == nil]
		text += fmt.Sprintf("%s let %s follow %s", joint, e.To, suggest.And(givers))
	}
	l.add(e.ToPos, finding.CodePart, len(e.To), "%s", text)
}

// nounOf returns what an edge carries, as people call it.
func (f *partFlow) nounOf(e Edge) string {
	if port, ok := f.port(e); ok && !port.Kind.same {
		return cmp.Or(port.Kind.Name(), "value")
	}
	seen := map[string]bool{}
	for at := e.From; !seen[at]; {
		seen[at] = true
		i := slices.IndexFunc(f.edges, func(before Edge) bool { return before.To == at && f.given(before) != nil })
		if i < 0 {
			break
		}
		if port, _ := f.port(f.edges[i]); !port.Kind.same {
			return cmp.Or(port.Kind.Name(), "value")
		}
		at = f.edges[i].From
	}
	return "value"
}

// giversOf returns the stages that give what is missing: those of the pipeline where there are, else types that
// could be put into it.
func (l *linter) giversOf(miss lack, come cases) []string {
	var names []string
	for _, part := range miss.parts {
		for _, in := range miss.in {
			name := l.giverOf(part, in, come[in])
			if name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func (l *linter) giverOf(part Part, in string, has []Part) string {
	for _, s := range l.g.Stages {
		if l.known(s.Name) && givesPart(s.Ports(), part, in, has) {
			return s.Name
		}
	}
	return l.g.types().giverOf(part, in, has)
}

// giverOf returns the first stage type that adds a part to values of a case with these parts; "" if there is none.
func (r *Registry) giverOf(part Part, in string, has []Part) string {
	for _, typ := range r.Types() {
		if spec, ok := r.Lookup(typ); ok && givesPart(spec.Out, part, in, has) {
			return typ
		}
	}
	return ""
}

func givesPart(ports []Port, part Part, in string, has []Part) bool {
	return slices.ContainsFunc(ports, func(p Port) bool {
		return slices.ContainsFunc(p.Adds, func(a Addition) bool { return slices.Contains(a.Parts, part) && a.concerns(in, has) })
	})
}

// types returns the registry that the graph's stages are of.
func (g *Graph) types() *Registry { return cmp.Or(g.registry, DefaultRegistry) }
