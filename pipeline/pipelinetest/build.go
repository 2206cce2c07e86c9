package pipelinetest

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/finding"
)

var (
	anything = pipeline.Kinds(pipeline.KindOf[any]())
	whatever = []pipeline.Port{{Kind: pipeline.KindOf[any]()}}
)

// build makes the graph of the test: the stages that it runs, those that it replaces, a source for each that
// it gives items to, and a taker on each port. It reports whether that is possible.
func (r *runner) build() bool {
	r.graph = pipeline.NewGraph(r.base.Name)
	if !r.choose() {
		return false
	}
	r.replace()
	r.refuse()
	r.feed()
	r.collect()
	if len(r.result.Failures) > 0 {
		return false
	}
	if err := r.graph.Check(); err != nil {
		var findings finding.List
		if !errors.As(err, &findings) {
			findings = finding.List{{Message: err.Error()}}
		}
		for _, f := range findings {
			r.fail(r.test.At, "run", "%s", f.Message)
		}
		return false
	}
	return true
}

// choose takes the stages and edges that the test runs.
func (r *runner) choose() bool {
	if r.test.Run == "" {
		r.graph.Edges = slices.Clone(r.base.Edges)
		for _, s := range r.base.Stages {
			r.take(s)
		}
		return true
	}
	var names []string
	if strings.Contains(r.test.Run, ">") {
		r.graph.Wire(r.test.Run)
		for _, e := range r.graph.Edges {
			names = append(names, e.From, e.To)
		}
	} else {
		for name := range strings.SplitSeq(r.test.Run, ",") {
			names = append(names, strings.TrimSpace(name))
		}
	}
	for _, name := range names {
		if s := stage(r.base, name); s != nil {
			if stage(r.graph, name) == nil {
				r.take(s)
			}
			continue
		}
		r.unknownStage("run", r.test.At, name)
	}
	return len(r.result.Failures) == 0
}

// take adds a stage, which has one worker in a test, so that items keep their order.
func (r *runner) take(s *pipeline.Stage) {
	one := *s
	if one.Common.Workers = 1; one.Spec.Queue {
		one.Common.Workers = s.Common.Workers
	}
	r.graph.Stages = append(r.graph.Stages, &one)
}

func stage(g *pipeline.Graph, name string) *pipeline.Stage {
	i := slices.IndexFunc(g.Stages, func(s *pipeline.Stage) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return g.Stages[i]
}

func (r *runner) unknownStage(key string, at config.TestPlace, name string) {
	var names []string
	for _, s := range r.base.Stages {
		names = append(names, s.Name)
	}
	f := r.fail(at, key, "pipeline %q has no stage %q", r.test.Pipeline, name)
	f.Hint = suggest.Nearest(name, names)
}

// replace puts fixtures in the place of stages.
func (r *runner) replace() {
	for name, answers := range r.test.Fixtures {
		s := stage(r.graph, name)
		if s == nil {
			at := r.test.At
			if len(answers) > 0 {
				at = answers[0].At
			}
			r.unknownStage("", at, name)
			continue
		}
		f := &fixture{stage: name, seen: r.seen}
		for _, a := range answers {
			f.answers = append(f.answers, r.answer(s, a))
		}
		source := s.IsSource()
		s.Spec.Queue, s.Spec.Follows, s.Spec.Batch = false, false, pipeline.Batch{}
		s.Common.OnError = pipeline.DeadLetter
		s.Make = func(*pipeline.Env) (any, error) {
			if source {
				return (*sourceFixture)(f), nil
			}
			return f, nil
		}
	}
}

// refuse reports stages that no test may run.
func (r *runner) refuse() {
	for _, s := range r.graph.Stages {
		if _, replaced := r.test.Fixtures[s.Name]; replaced {
			continue
		}
		why := r.options.Refuse[s.Spec.Type]
		if why == "" && s.Spec.Effect != "" {
			why = "would " + s.Spec.Effect
		}
		if why != "" {
			r.fail(r.test.At, "run", "stage %q %s, which a test does not: say what stands in for it by [[test.fixture.%s]], or run other stages", s.Name, why, s.Name)
		}
	}
}

// feed adds a source of the items of the test for each stage that is given some.
func (r *runner) feed() {
	byStage := make(map[string][]any)
	for _, in := range r.test.In {
		s := stage(r.graph, in.Stage)
		switch {
		case s == nil:
			r.unknownStage("stage", in.At, in.Stage)
			continue
		case s.IsSource():
			r.fail(in.At, "stage", "stage %q is a source and takes no items", in.Stage)
			continue
		}
		if v, ok := r.value(in, s.Spec.In); ok {
			byStage[in.Stage] = append(byStage[in.Stage], v)
		}
	}
	for name, values := range byStage {
		r.graph.AddStage(feeder(name), pipeline.Spec{Type: "test", Out: whatever}, func(*pipeline.Env) (any, error) { return source(values), nil })
		r.graph.Connect(feeder(name), "", name)
	}
}

// collect adds a taker to each port, and to the errors ports that the test expects something of.
func (r *runner) collect() {
	for _, s := range slices.Clone(r.graph.Stages) {
		if strings.HasPrefix(s.Name, "test-gives-") {
			continue
		}
		ports := s.Ports()
		if slices.ContainsFunc(r.test.Expect, func(e config.TestExpectation) bool { return e.From == s.Name+".errors" }) {
			ports = append(slices.Clone(ports), pipeline.Port{Name: "errors"})
		}
		for _, port := range ports {
			name := collector(s.Name, port.Name)
			r.graph.AddStage(name, pipeline.Spec{Type: "test", In: anything, Needs: pipeline.NoParts}, func(*pipeline.Env) (any, error) {
				return taker{r.seen, s.Name, port.Name}, nil
			})
			r.graph.Connect(s.Name, port.Name, name)
		}
	}
}

// value makes the value that an item of the test describes, for a stage that takes these kinds.
func (r *runner) value(item config.TestItem, kinds []pipeline.Kind) (any, bool) {
	kind := item.Kind
	for _, k := range kinds {
		if name := k.Name(); kind == "" && name != "any" {
			kind = name
		}
	}
	if kind == "" {
		r.fail(item.At, "", "it is not known of which kind the item is: say kind = \"…\"; there are %s", strings.Join(codec.Names(), ", "))
		return nil, false
	}
	if !r.known(item, kind) {
		return nil, false
	}
	header, err := json.Marshal(r.completed(item.Fields, kind, item.Body))
	if err != nil {
		r.fail(item.At, "", "%v", err)
		return nil, false
	}
	v, err := codec.Decode(kind, header, item.Body)
	if err == nil {
		v, err = r.complete(v)
	}
	if err != nil {
		r.fail(item.At, "", "%v", err)
		return nil, false
	}
	return v, true
}

// complete adds to a value what the stores know of it.
func (r *runner) complete(v any) (any, error) {
	if r.options.Complete == nil {
		return v, nil
	}
	return r.options.Complete(r.test, v)
}

// completed adds what a value with a body is unless the test gives other values.
func (r *runner) completed(fields pipeline.Table, kind string, body []byte) pipeline.Table {
	if len(body) == 0 {
		return fields
	}
	all := maps.Clone(r.options.Defaults[kind])
	if all == nil {
		return fields
	}
	maps.Copy(all, fields)
	return all
}

// known reports fields that the kind does not have.
func (r *runner) known(item config.TestItem, kind string) bool {
	named, err := codec.Named(kind)
	if err != nil {
		if kind == codec.JSON {
			return true
		}
		r.fail(item.At, "kind", "%v", err)
		return false
	}
	if len(named.Fields) == 0 { // its values have fields of their own
		return true
	}
	var names []string
	for _, f := range named.Fields {
		names = append(names, f.Name)
	}
	ok := true
	for name := range item.Fields {
		if !slices.Contains(names, name) {
			r.fail(item.At, name, "a %s has no field %q", kind, name).Hint = suggest.Nearest(name, names)
			ok = false
		}
	}
	return ok
}

// answer makes ready what a fixture answers.
func (r *runner) answer(s *pipeline.Stage, a config.TestAnswer) answer {
	ready := answer{when: a.When, port: a.Port, drop: a.Drop, fields: a.Fields, body: a.Body, kind: a.Kind, where: a.At.Pos.String(), complete: r.complete}
	i := slices.IndexFunc(s.Ports(), func(p pipeline.Port) bool { return p.Name == a.Port })
	switch {
	case a.Drop:
		if len(a.Fields) > 0 || len(a.Body) > 0 || a.Port != "" {
			r.fail(a.At, "drop", "what is dropped has no fields")
		}
		return ready
	case i < 0:
		r.fail(a.At, "port", "stage %q has no output port %q", s.Name, a.Port).Hint = suggest.Nearest(a.Port, portsOf(s))
		return ready
	}
	ready.kind = cmp.Or(ready.kind, s.Ports()[i].Kind.Name())
	if ready.kind == "" || ready.kind == codec.Any {
		r.fail(a.At, "", "it is not known of which kind the answer is: say kind = \"…\"; there are %s", strings.Join(codec.Names(), ", "))
		return ready
	}
	ready.fields = r.completed(a.Fields, ready.kind, a.Body)
	if r.known(a.TestItem, ready.kind) {
		check := ready
		check.complete = nil // the URL may be that of the item
		if _, err := check.value(nil); err != nil {
			r.fail(a.At, "", "%v", err)
		}
	}
	return ready
}
