package pipeline

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
)

// Graph is a pipeline: its stages with their decoded options, and its edges. [Config.Graph] makes one
// from pipelines.toml, checked and ready to run; [NewGraph] begins one that is built by hand:
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
	wrong    Findings // what could not be added
}

// Stage is one node of a graph.
type Stage struct {
	Name    string
	Spec    Spec
	Common  Common
	Options any                     // the stage type's option struct, decoded; nil without one
	Make    func(*Env) (any, error) // makes the running stage; called once a run
	Pos     Position                // where the flow first names it

	line     string   // the line of the file that Pos is in
	layers   []*value // the tables that its options were read from, weakest first
	defaults any      // the options of its type, if that is registered
}

// Edge leads from a stage's output port to another stage. The port "" is the default one.
type Edge struct {
	From, Port, To string
	Pos            Position // where the flow names From

	portPos, toPos Position
}

// Position is a place in a configuration file; the zero position is nowhere. Columns count characters,
// from 1.
type Position struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Common holds the options that every stage has. What is zero is the stage type's default.
type Common struct {
	Type    string  `toml:"type" doc:"stage type; the stage's own name where it is left out"`
	Workers int     `toml:"workers" doc:"how many items the stage works on at once; 0 takes the type's default"`
	Buffer  int     `toml:"buffer" doc:"how many items may wait in front of the stage; 0 takes 16"`
	OnError OnError `toml:"on_error" doc:"what becomes of an item that fails" enum:"dead-letter,retry,skip,stop"`
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

// Batch says when a group of items is full: at Count items, at Bytes in all of their values, or Period after the first
// came.
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
		g.refuse(Finding{Code: CodeUnknownType, Message: fmt.Sprintf("there is no stage type %q", typ), Hint: nearest(typ, registry.Types())})
		return g.add(&Stage{Name: name, Spec: Spec{Type: typ}, Common: Common{Type: typ}})
	}
	if options == nil {
		options = t.defaults.Interface()
	}
	if reflect.TypeOf(options) != t.defaults.Type() {
		g.refuse(Finding{Code: CodeWrongType, Message: fmt.Sprintf("stage %q takes %s as its options, not %T", name, t.defaults.Type(), options)})
		options = t.defaults.Interface()
	}
	return g.add(t.newStage(name, options))
}

// AddStage adds a stage that is not registered.
func (g *Graph) AddStage(name string, spec Spec, make func(*Env) (any, error)) *Stage {
	if make == nil {
		g.refuse(Finding{Code: CodeStage, Message: fmt.Sprintf("stage %q has no function that makes it", name)})
	}
	return g.add(&Stage{Name: name, Spec: spec, Common: Common{Type: spec.Type}, Make: make})
}

func (g *Graph) add(s *Stage) *Stage {
	if g.stage(s.Name) != nil {
		g.refuse(Finding{Code: CodeDuplicate, Message: fmt.Sprintf("stage %q stands twice", s.Name)})
		return s
	}
	g.Stages = append(g.Stages, s)
	return s
}

func (g *Graph) refuse(f Finding) { g.wrong = append(g.wrong, f) }

// Connect leads an output port of one stage to another stage; the port "" is the default one.
func (g *Graph) Connect(from, port, to string) {
	g.Edges = append(g.Edges, Edge{From: from, Port: port, To: to})
}

// Wire adds edges written as in pipelines.toml: "a > b > c", "b.links, c.links > a".
func (g *Graph) Wire(flows ...string) {
	for _, text := range flows {
		chain, err := parseFlow(text)
		if err != nil {
			g.refuse(Finding{Code: CodeFlow, Message: fmt.Sprintf("flow %q: %v", text, err)})
			continue
		}
		g.Edges = append(g.Edges, chain.edges(func(int) Position { return Position{} })...)
	}
}

// edges returns what the chain connects, all of each group to all of the next. position says where a byte
// of the flow's text is.
func (c flowChain) edges(position func(at int) Position) []Edge {
	var edges []Edge
	for i := range len(c) - 1 {
		for _, from := range c[i] {
			for _, to := range c[i+1] {
				edges = append(edges, Edge{
					From: from.stage, Port: from.port, To: to.stage,
					Pos: position(from.at), portPos: position(from.portAt), toPos: position(to.at),
				})
			}
		}
	}
	return edges
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
	if p, ok := s.Options.(Porter); ok {
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
// another to say where it branches off.
func (g *Graph) mergeEdges() {
	seen := make(map[[3]string]bool, len(g.Edges))
	g.Edges = slices.DeleteFunc(g.Edges, func(e Edge) bool {
		key := [3]string{e.From, e.Port, e.To}
		twice := seen[key]
		seen[key] = true
		return twice
	})
}
