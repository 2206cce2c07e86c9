package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline/finding"
)

// The toy kinds and stage types that the tests of the configuration speak of.
type (
	page  struct{ _ string }
	link  struct{ _ string }
	reply interface{ status() int }
)

func (*page) status() int { return 200 }

func nothing(*Env) (any, error) { return nil, errors.New("a toy stage does not run") }

func none[C any](C, *Env) (any, error) { return nothing(nil) }

var (
	pages = KindOf[*page]()
	links = KindOf[link]()
)

func toySpec(typ string, in []Kind, out ...Port) Spec {
	return Spec{Type: typ, Summary: "is a toy", In: in, Out: out}
}

func port(name string, kind Kind) Port { return Port{Name: name, Kind: kind} }

// toyGraph has a stage of every sort, connected by nothing.
func toyGraph() *Graph {
	g := NewRegistry().NewGraph("toy")
	queue := toySpec("queue", Kinds(links), port("", links))
	queue.Queue = true
	other := queue
	other.Type = "queue2"
	for _, spec := range []Spec{
		toySpec("source", nil, port("", links)),
		queue, other,
		toySpec("fetch", Kinds(links), port("", pages), port("redirects", links)),
		toySpec("pass", Kinds(KindOf[any]()), port("", SameAsInput)),
		toySpec("pass2", Kinds(KindOf[any]()), port("", SameAsInput)),
		toySpec("parse", Kinds(KindOf[reply]()), port("links", links)),
		toySpec("print", Kinds(pages)),
		toySpec("failures", Kinds(KindOf[*Failure]())),
	} {
		g.AddStage(spec.Type, spec, nothing)
	}
	return g
}

// wire keeps only the stages that the flows name.
func wire(flows ...string) *Graph {
	g := toyGraph()
	g.Wire(flows...)
	used := make(map[string]bool)
	for _, e := range g.Edges {
		used[e.From], used[e.To] = true, true
	}
	all := g.Stages
	g.Stages = nil
	for _, s := range all {
		if used[s.Name] {
			g.Stages = append(g.Stages, s)
		}
	}
	return g
}

func TestCheckFindsWhatIsWrongWithAGraph(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		flows []string
		want  []string // code: part of the message; nothing for a good graph
	}{
		{"a loop through a queue", []string{"source > queue > fetch > print", "fetch.redirects > queue"}, nil},
		{"an interface takes what implements it", []string{"source > fetch > parse"}, nil},
		{"failures can be followed", []string{"source > fetch > print", "fetch.errors, print.errors > failures"}, nil},
		{"a kind is known behind stages that pass it on", []string{"source > pass > pass2 > fetch > print"}, nil},
		{"two kinds may come to a stage that passes them on", []string{"source > fetch, pass", "fetch > pass", "pass > pass2 > queue > fetch"},
			[]string{`kind: stage "queue" takes pipeline.link, but pass2 gives *pipeline.page`}},
		{"a kind that changes in a loop", []string{"source > queue > pass > fetch > queue", "fetch > print"},
			[]string{`kind: stage "queue" takes pipeline.link, but fetch gives *pipeline.page`}},
		{"kinds that differ", []string{"source > print"}, []string{`kind: stage "print" takes *pipeline.page, but source gives pipeline.link`}},
		{"an interface is not what implements it", []string{"source > fetch > parse > print"},
			[]string{`unknown-port: stage "parse" has no default output, only links`}},
		{"failures are no pages", []string{"source > fetch > print", "fetch.errors > print"},
			[]string{`kind: stage "print" takes *pipeline.page, but fetch.errors gives *pipeline.Failure`}},
		{"a stage without outputs", []string{"source > fetch > print > failures"},
			[]string{`unknown-port: stage "print" has no output`}},
		{"a port misspelt", []string{"source > queue > fetch > print", "fetch.redirect > queue"},
			[]string{`unknown-port: stage "fetch" has no output port "redirect" (did you mean redirects?)`}},
		{"a port that is nothing like one", []string{"source > queue > fetch > print", "fetch.x > queue"},
			[]string{`unknown-port: stage "fetch" has no output port "x", only redirects, errors`}},
		{"a default port that leads nowhere", []string{"source > fetch"}, []string{`unwired: the output of stage "fetch" leads nowhere`}},
		{"a stage that nothing leads to", []string{"fetch > print"}, []string{`no-input: nothing leads to stage "fetch"`}},
		{"a source with an input", []string{"source > fetch > print", "fetch.redirects > source"},
			[]string{`source-input: stage "source" is a source`}},
		{"an edge twice", []string{"source > queue > fetch > print", "source > queue > fetch.redirects > queue"}, nil},
		{"a loop without a queue", []string{"source > fetch > print", "fetch.redirects > pass > fetch"},
			[]string{"cycle: cycle without a queue, which would fill up and stop: fetch > pass > fetch"}},
		{"a loop of failures", []string{"source > pass > failures", "failures.errors > failures"},
			[]string{`kind: stage "failures" takes *pipeline.Failure, but pass gives pipeline.link`,
				"cycle: cycle without a queue, which would fill up and stop: failures > failures"}},
		{"a loop beside the queue", []string{"source > queue > fetch > print", "fetch.redirects > pass > queue, fetch"},
			[]string{"cycle: cycle without a queue, which would fill up and stop: fetch > pass > fetch"}},
		{"a loop of two queues", []string{"source > queue > queue2 > fetch > print", "fetch.redirects > queue"},
			[]string{"cycle: cycle with two queues, of which neither could tell when it is finished: queue > queue2 > fetch > queue"}},
		{"queues in loops that share a stage", []string{"source > queue, queue2 > fetch > print", "fetch.redirects > queue, queue2"},
			[]string{"cycle with two queues"}},
		{"two queues one after the other", []string{"source > queue > queue2 > fetch > print", "fetch.redirects > queue2"}, nil},
		{"a stage that is not there", []string{"source > fetsh > print", "source > fetch > print"}, []string{
			`unknown-stage: there is no stage "fetsh" (did you mean fetch?)`}},
		{"a flow that is none", []string{"source > fetch > print", "a >"}, []string{"flow: flow \"a >\": character 3: expected the name of a stage here"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var found finding.List
			if err := wire(tt.flows...).Check(); err != nil && !errors.As(err, &found) {
				t.Fatalf("Check returned %T, want finding.List", err)
			}
			if len(found) != len(tt.want) {
				t.Fatalf("findings:\n%v\nwant %d: %q", found, len(tt.want), tt.want)
			}
			for _, want := range tt.want {
				if !has(found, want) {
					t.Errorf("no finding %q in:\n%v", want, found)
				}
			}
		})
	}
}

// has reports whether there is a finding of which "code: message" contains want.
func has(found finding.List, want string) bool {
	for _, f := range found {
		if strings.Contains(string(f.Code)+": "+f.Error(), want) {
			return true
		}
	}
	return false
}

type upperOptions struct {
	Suffix string `toml:"suffix" doc:"what is added"`
}

func toyRegistry() *Registry {
	r := NewRegistry()
	RegisterIn(r, toySpec("lines", nil, port("", KindOf[string]())), struct{}{}, func(struct{}, *Env) (any, error) { return "lines", nil })
	RegisterIn(r, toySpec("upper", Kinds(KindOf[string]()), port("", KindOf[string]())), upperOptions{Suffix: "!"},
		func(o upperOptions, _ *Env) (any, error) { return o.Suffix, nil })
	RegisterIn(r, toySpec("print", Kinds(KindOf[string]())), struct{}{}, func(struct{}, *Env) (any, error) { return "print", nil })
	return r
}

func TestGraphIsBuiltByHandFromRegisteredStages(t *testing.T) {
	t.Parallel()
	g := toyRegistry().NewGraph("shout")
	g.Add("print", nil)
	g.Add("upper", nil).Common.Workers = 4
	g.AddType("louder", "upper", upperOptions{Suffix: "!!!"})
	g.Add("lines", nil)
	g.Wire("lines > upper > louder")
	g.Connect("louder", "", "print")
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range g.Stages {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, " "); got != "lines print upper louder" {
		t.Errorf("stages %q, want the source first and the others as added", got)
	}
	for name, want := range map[string]any{"upper": "!", "louder": "!!!", "lines": "lines"} {
		made, err := g.stage(name).Make(NewEnv("shout", name, nil))
		if err != nil || made != want {
			t.Errorf("%s made %v, %v, want %v", name, made, err, want)
		}
	}
	if g.stage("upper").Common.Workers != 4 {
		t.Error("the workers set by hand are lost")
	}
}

func TestAnEdgeThatStandsTwiceCountsOnce(t *testing.T) {
	t.Parallel()
	g := wire("source > queue > fetch > print", "source > queue > fetch.redirects > queue")
	if err := g.Check(); err != nil || len(g.Edges) != 4 {
		t.Errorf("%d edges, %v; want 4", len(g.Edges), err)
	}
}

func TestGraphRemembersWhatCouldNotBeAdded(t *testing.T) {
	t.Parallel()
	g := toyRegistry().NewGraph("shout")
	g.Add("lines", nil)
	g.Add("uper", nil)
	g.AddType("print", "print", upperOptions{})
	g.Add("print", nil)
	g.AddStage("unmade", Spec{}, nil)
	g.Wire("lines > uper > print")
	var found finding.List
	if !errors.As(g.Check(), &found) || len(found) != 4 {
		t.Fatalf("findings:\n%v\nwant four", found)
	}
	for _, want := range []string{
		`unknown-type: there is no stage type "uper" (did you mean upper?)`,
		`wrong-type: stage "print" takes struct {} as its options, not pipeline.upperOptions`,
		`duplicate: stage "print" stands twice`,
		`stage: stage "unmade" has no function that makes it`,
	} {
		if !has(found, want) {
			t.Errorf("no finding %q in:\n%v", want, found)
		}
	}
}

func TestAnItemComesToTheNextStageWithoutACopy(t *testing.T) {
	t.Parallel()
	var given, came *Item
	give := sourceOf(func(ctx context.Context, out Emitter) error {
		given = &Item{Value: 1}
		return out.Emit(ctx, given)
	})
	take := process(func(_ context.Context, it *Item, _ Emitter) error { came = it; return nil })
	mustRun(t, build().add("give", give).add("take", take).chain("give", "take"), RunOptions{})
	if came == nil || came != given {
		t.Error("what came is not what was emitted")
	}
}

func TestAWordThatAnOptionOfAGraphCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	type options struct {
		Format string `toml:"format" doc:"how it is written" enum:"jsonl,text" deprecated:"lines=jsonl"`
	}
	r := NewRegistry()
	RegisterIn(r, Spec{Type: "out", Summary: "writes", In: Kinds(KindOf[any]())}, options{"text"}, func(options, *Env) (any, error) { return nil, nil })
	for word, wrong := range map[string]bool{"lines": true, "text": false, "": false} {
		g := r.NewGraph("words")
		g.Add("out", options{word})
		const want = `stage "out": option "format" cannot be "lines", only jsonl or text (did you mean jsonl?)`
		if err := g.Check(); strings.Contains(fmt.Sprint(err), want) != wrong {
			t.Errorf("%q: %v", word, err)
		}
	}
}
