package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/pipeline/finding"
	"github.com/webrace/webrace/pipeline/internal/flow"
)

// Check finds everything that is wrong with a graph: stages and ports that do not exist, kinds that do
// not match, default ports that lead nowhere, stages that nothing leads to, cycles without a queue. It
// puts sources first, and keeps one of the edges that stand twice. The error is nil or a [finding.List].
func (g *Graph) Check() error {
	g.sortStages()
	g.mergeEdges()
	l := newLinter(g)
	l.checkAll()
	return append(slices.Clone(g.wrong), l.findings...).Sorted(func(string) int { return 0 }).OrNil()
}

// linter checks a graph. Stages whose type is unknown are reported where they are looked up; nothing is
// said here about ports, kinds and cycles that depend on them.
type linter struct {
	g        *Graph
	stages   map[string]*Stage
	ports    map[string][]Port // of each stage whose type is known
	into     map[string][]Edge
	from     map[string][]Edge
	next     map[string][]Edge // from, without those that lead to a source by mistake
	findings finding.List
}

func newLinter(g *Graph) *linter {
	l := &linter{
		g: g, stages: make(map[string]*Stage), ports: make(map[string][]Port),
		into: make(map[string][]Edge), from: make(map[string][]Edge), next: make(map[string][]Edge),
	}
	for _, s := range g.Stages {
		l.stages[s.Name] = s
		if s.Make != nil {
			l.ports[s.Name] = s.Ports()
		}
	}
	return l
}

func (l *linter) add(pos finding.Position, code finding.Code, width int, format string, args ...any) *finding.Finding {
	l.findings = append(l.findings, finding.Finding{Pos: pos, Code: code, Message: fmt.Sprintf(format, args...), Width: width})
	return &l.findings[len(l.findings)-1]
}

// at moves a finding to an option of a stage, if it is known where that is written.
func (l *linter) at(f *finding.Finding, s *Stage, option string) {
	if s.locate(f, option, nil) {
		f.Path = fmt.Sprintf("pipeline.%s.stage.%s.%s", l.g.Name, s.Name, option)
	}
}

// known reports whether the stage exists and its type is known.
func (l *linter) known(stage string) bool {
	return l.stages[stage] != nil && l.stages[stage].Make != nil
}

func (l *linter) checkAll() {
	for _, e := range l.g.Edges {
		l.checkEnds(e)
		l.into[e.To] = append(l.into[e.To], e)
		l.from[e.From] = append(l.from[e.From], e)
		if l.known(e.To) && l.stages[e.To].IsSource() {
			l.add(e.ToPos, finding.CodeSourceInput, len(e.To), "stage %q is a source and takes no input", e.To)
			continue
		}
		l.next[e.From] = append(l.next[e.From], e)
	}
	for _, s := range l.g.Stages {
		if l.known(s.Name) {
			l.checkStage(s)
		}
	}
	arriving := l.arrivingKinds()
	l.checkKinds(arriving)
	l.checkParts()
	l.checkShared()
	l.checkFiles()
	l.checkCycles()
	l.checkCapacities()
	l.checkNames(arriving)
}

// checkEnds reports an edge between stages that are not there.
func (l *linter) checkEnds(e Edge) {
	for _, end := range []struct {
		stage string
		pos   finding.Position
	}{{e.From, e.Pos}, {e.To, e.ToPos}} {
		if l.stages[end.stage] == nil {
			names := slices.Sorted(maps.Keys(l.stages))
			l.add(end.pos, finding.CodeUnknownStage, len(end.stage), "there is no stage %q", end.stage).Hint = suggest.Nearest(end.stage, names)
		}
	}
}

func (l *linter) checkStage(s *Stage) {
	if err := checkPorts(l.ports[s.Name]); err != nil {
		l.add(s.Pos, finding.CodeStage, len(s.Name), "stage %q: %v", s.Name, err)
	}
	begins, ends := l.g.shares(s)
	if !s.IsSource() && len(l.into[s.Name]) == 0 && !begins {
		l.add(s.Pos, finding.CodeNoInput, len(s.Name), "nothing leads to stage %q, which is no source%s", s.Name, s.orShare("source"))
	}
	unwired := !ends && slices.ContainsFunc(l.ports[s.Name], func(p Port) bool { return p.Name == "" })
	for _, e := range l.from[s.Name] {
		if e.Port == "" {
			unwired = false
		}
		l.checkPort(s, e)
	}
	if unwired {
		l.add(s.Pos, finding.CodeUnwired, len(s.Name), "the output of stage %q leads nowhere%s", s.Name, s.orShare("end"))
	}
	l.checkWorkersKey(s)
	for _, p := range l.ports[s.Name] {
		if p.Asked && !slices.ContainsFunc(l.from[s.Name], func(e Edge) bool { return e.Port == p.Name }) {
			l.add(s.Pos, finding.CodeUnwired, len(s.Name), "port %q of stage %q leads nowhere, and what leaves it would be lost: lead it to a stage, to drop if that is meant",
				p.Name, s.Name)
		}
	}
}

// checkWorkersKey reports a key where there is nothing to keep in order.
func (l *linter) checkWorkersKey(s *Stage) {
	why := ""
	switch {
	case s.WorkersKey == nil:
		return
	case s.IsSource() || s.Spec.Queue || s.Spec.Batch != (Batch{}):
		why = "is for stages that work on items one by one, and this is a source, a queue, or takes them in groups"
	case firstPositive(s.Common.Workers, s.Spec.Workers, 1) == 1:
		why = "says nothing while there is one worker, which keeps the order of all items: set workers"
	default:
		return
	}
	f := l.add(s.Pos, finding.CodeInvalidOptions, len(s.Name), "stage %q: workers_key: %s", s.Name, why)
	l.at(f, s, "workers_key")
}

func (l *linter) checkPort(s *Stage, e Edge) {
	if _, ok := l.port(s.Name, e.Port); ok {
		return
	}
	var names []string
	for _, p := range l.ports[s.Name] {
		if p.Name != "" {
			names = append(names, p.Name)
		}
	}
	if e.Port == "" {
		unknown := l.add(e.Pos, finding.CodeUnknownPort, len(s.Name), "stage %q has no output", s.Name)
		if len(names) > 0 {
			unknown.Message = fmt.Sprintf("stage %q has no default output, only %s", s.Name, strings.Join(names, ", "))
		}
		return
	}
	unknown := l.add(e.PortPos, finding.CodeUnknownPort, len(e.Port), "stage %q has no output port %q", s.Name, e.Port)
	unknown.Hint = suggest.Nearest(e.Port, append(names, errorsPort))
	if unknown.Hint == "" {
		unknown.Message += ", only " + strings.Join(append(names, errorsPort), ", ")
	}
}

// port returns an output port of a stage whose type is known.
func (l *linter) port(stage, name string) (Port, bool) {
	if name == errorsPort {
		return Port{Name: errorsPort, Kind: KindOf[*Failure]()}, true
	}
	i := slices.IndexFunc(l.ports[stage], func(p Port) bool { return p.Name == name })
	if i < 0 {
		return Port{}, false
	}
	return l.ports[stage][i], true
}

// checkKinds reports edges that carry what the stage they lead to does not take.
func (l *linter) checkKinds(arriving map[string][]Kind) {
	for _, e := range l.g.Edges {
		if !l.known(e.From) || !l.known(e.To) || l.stages[e.To].IsSource() {
			continue
		}
		for _, kind := range l.carried(e, arriving) {
			in := l.stages[e.To].Spec.In
			if slices.ContainsFunc(in, func(k Kind) bool { return k.Accepts(kind) }) {
				continue
			}
			from := flow.Ref{Stage: e.From, Port: e.Port}
			l.add(e.ToPos, finding.CodeKind, len(e.To), "stage %q takes %s, but %s gives %s", e.To, suggest.Or(in), from, kind)
		}
	}
}

// arrivingKinds follows the kinds through the graph: a stage that passes on what it is given passes on
// all that may come to it, which in a cycle includes what it passes on.
func (l *linter) arrivingKinds() map[string][]Kind {
	arriving := make(map[string][]Kind)
	for changed := true; changed; {
		changed = false
		for _, e := range l.g.Edges {
			for _, kind := range l.carried(e, arriving) {
				if !slices.Contains(arriving[e.To], kind) {
					arriving[e.To] = append(arriving[e.To], kind)
					changed = true
				}
			}
		}
	}
	return arriving
}

// carried returns the kinds that may travel on an edge, as far as is known.
func (l *linter) carried(e Edge, arriving map[string][]Kind) []Kind {
	port, ok := l.port(e.From, e.Port)
	switch {
	case !ok || !l.known(e.From):
		return nil
	case !port.Kind.same && !port.Kind.lists:
		return []Kind{port.Kind}
	}
	var kinds []Kind
	for _, in := range arriving[e.From] {
		kinds = append(kinds, port.Kind.given(in))
	}
	return kinds
}

// checkNames has the stages that name fields of what they are given look whether there are such: it is the flow that
// determines of which kinds their input is.
func (l *linter) checkNames(arriving map[string][]Kind) {
	if slices.ContainsFunc(l.g.Stages, func(s *Stage) bool { return !l.known(s.Name) }) {
		return // what comes from there is not known
	}
	for _, s := range l.g.Stages {
		if checker, ok := s.Options.(NameChecker); ok && len(arriving[s.Name]) > 0 {
			given := arriving[s.Name]
			l.misnamed(s, given, guarded(s.Name, func() error { return checker.CheckNames(given) }))
		}
		if s.WorkersKey != nil && len(arriving[s.Name]) > 0 {
			given := arriving[s.Name]
			l.misnamed(s, given, guarded(s.Name, func() error { return s.WorkersKey.CheckNames(given) }))
		}
	}
}

// misnamed reports names that nothing has, each at its place in the option, or at the stage.
func (l *linter) misnamed(s *Stage, given []Kind, err error) {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range many.Unwrap() {
			l.misnamed(s, given, one)
		}
		return
	}
	if err == nil {
		return
	}
	message := fmt.Sprintf("stage %q is given %s: %v", s.Name, kindNames(given), err)
	f := finding.Finding{Pos: s.Pos, Code: finding.CodeName, Message: message, Width: len(s.Name)}
	var option *OptionError
	if errors.As(err, &option) {
		s.locate(&f, option.Option, err)
		if l.g.Name != "" {
			f.Path = fmt.Sprintf("pipeline.%s.stage.%s.%s", l.g.Name, s.Name, option.Option)
		}
	}
	l.findings = append(l.findings, f)
}

// kindNames returns what a list of kinds is called where people write pipelines, with what is known to be in them.
func kindNames(kinds []Kind) string {
	var names []string
	for _, k := range kinds {
		name := k.called()
		if element, known := k.Element(); known {
			name += " of " + element.called()
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return suggest.Or(names)
}

// called returns the name of one kind.
func (k Kind) called() string {
	name := cmp.Or(k.Name(), k.String())
	if fields, known := k.Record(); known {
		name += " (" + strings.Join(fields, ", ") + ")"
	}
	return name
}
