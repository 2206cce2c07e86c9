// Package route is the stage that sends each item to the first of several ports whose condition it meets, and
// to the port other if it meets none. A condition is an expression, or XPath where the value is an annotation.
package route

import (
	"context"
	"errors"
	"fmt"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/expression"
	_ "github.com/webrace/webrace/stages/kinds" // whose fields expressions name
	"github.com/webrace/webrace/xmlschema"
)

// Options of the stage.
type Options struct {
	Routes []Port `toml:"ports" doc:"where items go, in the order in which the conditions are tried"`
	Kind   string `toml:"kind" doc:"the kind of the items, so that conditions are checked when the pipeline is loaded; empty: they may be of any"`
}

// Port is an output with a condition.
type Port struct {
	Name  string `toml:"name" doc:"of the port"`
	When  string `toml:"when" is:"expression" doc:"an expression: items for which it holds leave here"`
	XPath string `toml:"xpath" doc:"instead: XPath, true of the XML of an annotation; other values do not meet it"`
}

const otherPort = "other"

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "route",
		Single:  true,
		Summary: "sends each item to the first port whose condition it meets",
		Doc: "There is a port for each of `ports`, and `other` for what meets no condition. " +
			"`ports = [{ name = \"rdf\", when = \"media_type in ['text/turtle']\" }]` has the ports `rdf` and `other`.",
		In:  pipeline.Kinds(pipeline.KindOf[any]()),
		Out: []pipeline.Port{{Name: otherPort, Kind: pipeline.SameAsInput, Doc: "the items that meet no condition"}},
	}, Options{}, newStage)
}

// Ports returns a port for each condition, and one for the rest.
func (o Options) Ports() []pipeline.Port {
	var all []pipeline.Port
	for _, p := range o.Routes {
		port := pipeline.Port{Name: p.Name, Kind: pipeline.SameAsInput, Asked: true, Doc: "the items that meet its condition, and none before it"}
		if kind, known := expression.KindMeant(p.When); known {
			port.Kind = kind
		} else if p.XPath != "" { // which nothing else meets
			port.Kind = pipeline.KindOf[*xmlschema.ACI]()
		}
		all = append(all, port)
	}
	return append(all, pipeline.Port{Name: otherPort, Kind: pipeline.SameAsInput, Doc: "the items that meet no condition"})
}

// NeededParts returns what the conditions need.
func (o Options) NeededParts() []pipeline.Part {
	var programs []*expression.Program
	for _, p := range o.Routes {
		c, _ := p.compile(o.Kind) // what is wrong with it, Validate reports
		programs = append(programs, c.when)
	}
	return expression.Parts(programs...)
}

// Validate refuses ports without a name of their own or a condition.
func (o Options) Validate() error {
	if len(o.Routes) == 0 {
		return &pipeline.OptionError{Option: "ports", Err: errors.New(`is not set: name a port, as in ports = [{ name = "large", when = "len(body) > 1000000" }]`)}
	}
	if _, err := expression.KindsNamed(o.Kind); err != nil {
		return &pipeline.OptionError{Option: "kind", Err: err}
	}
	seen := map[string]bool{"": true}
	for i, p := range o.Routes {
		if seen[p.Name] || p.Name == otherPort {
			return &pipeline.OptionError{Option: "ports", Err: fmt.Errorf("port %d needs a name of its own, and not %q", i+1, p.Name)}
		}
		seen[p.Name] = true
		if _, err := p.compile(o.Kind); err != nil {
			return &pipeline.OptionError{Option: p.option(i), Err: fmt.Errorf("port %s: %w", p.Name, err)}
		}
	}
	return nil
}

// option is the path of the condition of the port with this number, or of the port if it has none, or two.
func (p Port) option(i int) string {
	path := fmt.Sprintf("ports.%d", i)
	switch {
	case p.When != "" && p.XPath == "":
		return path + ".when"
	case p.XPath != "" && p.When == "":
		return path + ".xpath"
	}
	return path
}

// CheckNames refuses conditions that name what nothing that comes has, and XPath where no annotation comes.
func (o Options) CheckNames(given []pipeline.Kind) error {
	if o.Kind != "" {
		return expression.CheckKind(o.Kind, given)
	}
	var all []error
	for i, p := range o.Routes {
		all = append(all, expression.CheckCondition(p.option(i), p.When, given))
		if p.XPath != "" && expression.CheckKind("aci", given) != nil {
			all = append(all, &pipeline.OptionError{Option: p.option(i), Err: fmt.Errorf(
				"port %s: nothing that comes is an annotation, so that nothing would meet it: when takes an expression", p.Name)})
		}
	}
	return errors.Join(all...)
}

// condition is that of a port.
type condition struct {
	port  string
	when  *expression.Program
	xpath *xmlschema.Query
}

func (p Port) compile(kind string) (c condition, err error) {
	c.port = p.Name
	switch {
	case (p.When == "") == (p.XPath == ""):
		return c, errors.New("exactly one of when and xpath must be set")
	case p.XPath != "":
		c.xpath, err = xmlschema.Compile(p.XPath)
		return c, err
	}
	kinds, err := expression.KindsNamed(kind)
	if err == nil {
		c.when, err = expression.CompileBool(p.When, kinds...)
	}
	return c, err
}

type stage struct{ conditions []condition }

var (
	_ pipeline.Processor     = (*stage)(nil)
	_ pipeline.PortsProvider = Options{}
	_ pipeline.NameChecker   = Options{}
)

func newStage(o Options, _ *pipeline.Env) (any, error) {
	s := new(stage)
	for _, p := range o.Routes {
		c, err := p.compile(o.Kind)
		if err != nil {
			return nil, err
		}
		s.conditions = append(s.conditions, c)
	}
	return s, nil
}

func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	for _, c := range s.conditions {
		met, err := c.met(ctx, it)
		if err != nil {
			return fmt.Errorf("port %s: %w", c.port, err)
		}
		if met {
			return out.EmitTo(ctx, c.port, it)
		}
	}
	return out.EmitTo(ctx, otherPort, it)
}

func (c condition) met(ctx context.Context, it *pipeline.Item) (bool, error) {
	if c.xpath == nil {
		return c.when.Bool(it.Value, it.Meta)
	}
	aci, ok := it.Value.(*xmlschema.ACI)
	if !ok {
		return false, nil
	}
	table, err := xmlschema.BuildTable(aci.Canonical())
	if err != nil {
		return false, err
	}
	return c.xpath.Match(ctx, table)
}
