package pipeline

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/webrace/webrace/pipeline/finding"
	"github.com/webrace/webrace/pipeline/internal/flow"
)

// Graph is a pipeline: its stages with their decoded options, and its edges. Package config
// makes those of pipelines.toml, checked and ready to run; [NewGraph] begins one that is built by hand:
//
//	g := pipeline.NewGraph("shout")
//	g.Add("lines", nil)
//	g.AddStage("upper", upperSpec, newUpper).Common.Workers = 4
//	g.Add("print", PrintOptions{Prefix: "> "})
//	g.Wire("lines > upper > print")
//	if err := g.Check(); err != nil { ... }
type Graph struct {
	Name   string
	Title  string
	Stages []*Stage // sources first, in the order of the flow
	Edges  []Edge

	registry *Registry
	wrong    finding.List // what could not be added
}

// Stage is one node of a graph.
type Stage struct {
	Name    string
	Spec    Spec
	Common  Common
	Options any                     // the stage type's option struct, decoded; nil without one
	Make    func(*Env) (any, error) // makes the running stage; called once a run
	Pos     finding.Position        // where the flow first names it

	Defaults   any        // the options of its type, if that is registered
	WorkersKey WorkersKey // keeps items of a key in order, with several workers; nil: each worker takes what comes

	// Locate moves a finding to where the option of that name is written, and there to what err is about, if err
	// knows that. It reports whether the option is written anywhere; if not, the finding stays where the stage is.
	// Nil if the stage is of no file.
	Locate func(f *finding.Finding, option string, err error) bool
}

func (s *Stage) locate(f *finding.Finding, option string, err error) bool {
	return s.Locate != nil && s.Locate(f, option, err)
}

// Edge leads from a stage's output port to another stage. The port "" is the default one.
type Edge struct {
	From, Port, To string
	Pos            finding.Position // where the flow names From

	PortPos, ToPos finding.Position // and its port, and To
}

// Common holds the options that every stage has. What is zero is the stage type's default.
type Common struct {
	Type    string  `toml:"type" doc:"stage type; the stage's own name where it is left out"`
	Workers int     `toml:"workers" doc:"how many items the stage works on at once; 0 takes the type's default"`
	Key     string  `toml:"workers_key" is:"expression" doc:"with several workers, an expression: items for which it gives the same are worked on one after the other, in the order in which they came"`
	Buffer  int     `toml:"buffer" doc:"how many items may wait in front of the stage; 0 takes 16"`
	OnError OnError `toml:"on_error" doc:"what becomes of an item that fails; a source that fails is run again with retry, and gives nothing more with skip" enum:"dead-letter,retry,skip,stop"`
	Batch   Batch   `toml:"batch" doc:"how items are grouped, for stages that take them in groups"`
}

// Validate refuses numbers below zero.
func (c Common) Validate() error {
	for _, option := range []struct {
		name  string
		value int
	}{{"workers", c.Workers}, {"buffer", c.Buffer}, {"batch.count", c.Batch.Count}, {"batch.bytes", c.Batch.Bytes}} {
		if option.value < 0 {
			return &OptionError{Option: option.name, Err: fmt.Errorf("%d is negative", option.value)}
		}
	}
	return nil
}

// Batch determines when a group of items is full: at Count items, at Bytes in all of their values, or Period after the
// first came.
type Batch struct {
	Count  int      `toml:"count" doc:"items in a full group"`
	Bytes  int      `toml:"bytes" doc:"a group is full too when the bodies of its documents have so many bytes together; 0 takes the type's default, which is no limit for most"`
	Period Duration `toml:"period" doc:"the longest that the first item of a group waits"`
}

// OnError is a stage's error policy.
type OnError string

const (
	DeadLetter OnError = "dead-letter" // keep the item in a durable store with what went wrong: the default
	RetryFirst OnError = "retry"       // try up to three times, if it has emitted nothing, then dead-letter
	Skip       OnError = "skip"        // count it and go on
	Stop       OnError = "stop"        // end the run with the error
)

// NewGraph returns an empty graph, to be built by hand from stage types of the [DefaultRegistry] and from
// stages that are registered nowhere. What is wrong with it is found by [Graph.Check].
func NewGraph(name string) *Graph { return DefaultRegistry.NewGraph(name) }

// NewGraph returns an empty graph of stage types of the registry.
func (r *Registry) NewGraph(name string) *Graph { return &Graph{Name: name, registry: r} }

// Add adds a stage of the registered type of the same name, with these options: the type's option struct,
// or nil for its defaults.
func (g *Graph) Add(name string, options any) *Stage { return g.AddType(name, name, options) }

// AddType adds a stage of a registered type under another name.
func (g *Graph) AddType(name, typ string, options any) *Stage {
	registry := cmp.Or(g.registry, DefaultRegistry)
	t := registry.lookup(typ)
	if t == nil {
		g.refuse(registry.Missing(typ))
		return g.add(&Stage{Name: name, Spec: Spec{Type: typ}, Common: Common{Type: typ}})
	}
	if options == nil {
		options = t.defaults.Interface()
	}
	if reflect.TypeOf(options) != t.defaults.Type() {
		g.refuse(finding.Finding{Code: finding.CodeWrongType, Message: fmt.Sprintf("stage %q takes %s as its options, not %T", name, t.defaults.Type(), options)})
		options = t.defaults.Interface()
	}
	if wrong := unknownWord(name, options); wrong != nil {
		g.refuse(*wrong)
	}
	return g.add(t.newStage(name, options))
}

// AddStage adds a stage that is not registered.
func (g *Graph) AddStage(name string, spec Spec, make func(*Env) (any, error)) *Stage {
	if make == nil {
		g.refuse(finding.Finding{Code: finding.CodeStage, Message: fmt.Sprintf("stage %q has no function that makes it", name)})
	}
	return g.add(&Stage{Name: name, Spec: spec, Common: Common{Type: spec.Type}, Make: make})
}

func (g *Graph) add(s *Stage) *Stage {
	if g.stage(s.Name) != nil {
		g.refuse(finding.Finding{Code: finding.CodeDuplicate, Message: fmt.Sprintf("stage %q stands twice", s.Name)})
		return s
	}
	g.Stages = append(g.Stages, s)
	return s
}

func (g *Graph) refuse(f finding.Finding) { g.wrong = append(g.wrong, f) }

// Connect leads an output port of one stage to another stage; the port "" is the default one.
func (g *Graph) Connect(from, port, to string) {
	g.Edges = append(g.Edges, Edge{From: from, Port: port, To: to})
}

// Wire adds edges written as in pipelines.toml: "a > b > c", "b.links, c.links > a".
func (g *Graph) Wire(flows ...string) {
	for _, text := range flows {
		chain, err := flow.Parse(text)
		if err != nil {
			g.refuse(finding.Finding{Code: finding.CodeFlow, Message: fmt.Sprintf("flow %q: %v", text, err)})
			continue
		}
		for _, link := range chain.Links() {
			g.Connect(link[0].Stage, link[0].Port, link[1].Stage)
		}
	}
}

// stage returns the stage of that name, or nil.
func (g *Graph) stage(name string) *Stage {
	for _, s := range g.Stages {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// Ports returns the stage's outputs, without the errors port that every stage has: those of its type, or
// those that its options ask for.
func (s *Stage) Ports() []Port {
	if p, ok := s.Options.(PortsProvider); ok {
		return p.Ports()
	}
	return s.Spec.Out
}

// IsSource reports whether the stage takes no input.
func (s *Stage) IsSource() bool { return len(s.Spec.In) == 0 }

// sortStages puts sources first and leaves the order as it is otherwise.
func (g *Graph) sortStages() {
	sorted := make([]*Stage, 0, len(g.Stages))
	for _, sources := range []bool{true, false} {
		for _, s := range g.Stages {
			if s.IsSource() == sources {
				sorted = append(sorted, s)
			}
		}
	}
	g.Stages = sorted
}

// mergeEdges keeps the first of all edges that connect the same: a flow may repeat the beginning of
// another to show where it branches off.
func (g *Graph) mergeEdges() {
	seen := make(map[[3]string]bool, len(g.Edges))
	g.Edges = slices.DeleteFunc(g.Edges, func(e Edge) bool {
		key := [3]string{e.From, e.Port, e.To}
		twice := seen[key]
		seen[key] = true
		return twice
	})
}

// checkEdges finds edges of stages that there are not, as a graph that has not been checked may have.
func (g *Graph) checkEdges() error {
	for _, edge := range g.Edges {
		if g.stage(edge.From) == nil || g.stage(edge.To) == nil {
			return fmt.Errorf("edge %s > %s: no such stage", edge.From, edge.To)
		}
	}
	return nil
}

// DOT returns the graph as a picture for Graphviz: queues are cylinders, sources ellipses, everything
// else boxes; an edge that leaves another port than the default one carries its name.
func (g *Graph) DOT() string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n\trankdir=LR;\n\tnode [shape=box];\n", quoteDOT(g.Name))
	if g.Title != "" {
		fmt.Fprintf(&b, "\tlabel=%s;\n", quoteDOT(g.Title))
	}
	for _, s := range g.Stages {
		var attributes []string
		switch {
		case s.Spec.Queue:
			attributes = append(attributes, "shape=cylinder")
		case s.IsSource():
			attributes = append(attributes, "shape=ellipse")
		}
		if label := s.label("\n"); label != s.Name {
			attributes = append(attributes, "label="+quoteDOT(label))
		}
		fmt.Fprintf(&b, "\t%s%s;\n", quoteDOT(s.Name), bracketed(attributes))
	}
	for _, e := range g.Edges {
		var attributes []string
		if e.Port != "" {
			attributes = append(attributes, "label="+quoteDOT(e.Port))
		}
		fmt.Fprintf(&b, "\t%s -> %s%s;\n", quoteDOT(e.From), quoteDOT(e.To), bracketed(attributes))
	}
	b.WriteString("}\n")
	return b.String()
}

func bracketed(attributes []string) string {
	if len(attributes) == 0 {
		return ""
	}
	return " [" + strings.Join(attributes, ", ") + "]"
}

// quoteDOT quotes a string as DOT has it, where only the quote itself is special at all times; a
// backslash is doubled so that it does not begin one of Graphviz' escapes.
func quoteDOT(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// Mermaid returns the graph as a picture for Mermaid, which Markdown viewers draw, with the same shapes
// as [Graph.DOT].
func (g *Graph) Mermaid() string {
	var b strings.Builder
	if g.Title != "" {
		fmt.Fprintf(&b, "---\ntitle: %q\n---\n", g.Title)
	}
	b.WriteString("flowchart LR\n")
	ids := make(map[string]string, len(g.Stages))
	for i, s := range g.Stages {
		ids[s.Name] = fmt.Sprintf("s%d", i) // a name could be a word of Mermaid's own, such as "end"
		left, right := "[", "]"
		switch {
		case s.Spec.Queue:
			left, right = "[(", ")]"
		case s.IsSource():
			left, right = "([", "])"
		}
		fmt.Fprintf(&b, "    %s%s%s%s\n", ids[s.Name], left, quoteMermaid(s.label("<br>")), right)
	}
	for _, e := range g.Edges {
		arrow := "-->"
		if e.Port != "" {
			arrow = "-->|" + quoteMermaid(e.Port) + "|"
		}
		fmt.Fprintf(&b, "    %s %s %s\n", ids[e.From], arrow, ids[e.To])
	}
	return b.String()
}

func quoteMermaid(s string) string { return `"` + strings.ReplaceAll(s, `"`, "#quot;") + `"` }

// label returns the stage's name, and its type below if that is another.
func (s *Stage) label(lineEnd string) string {
	if s.Spec.Type == "" || s.Spec.Type == s.Name {
		return s.Name
	}
	return s.Name + lineEnd + "(" + s.Spec.Type + ")"
}
