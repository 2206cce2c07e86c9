package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/finding"
)

// probed is a stage whose calls are written down.
type probed struct {
	calls *calls
	name  string
	wrong map[string]error // by the call that fails
}

type calls struct {
	mu   sync.Mutex
	made []string
}

func (p probed) did(what string) error {
	p.calls.mu.Lock()
	defer p.calls.mu.Unlock()
	p.calls.made = append(p.calls.made, what+" "+p.name)
	return p.wrong[what]
}

func (p probed) Open(context.Context) error { return p.did("open") }
func (p probed) Close() error               { return p.did("close") }
func (p probed) Process(context.Context, *pipeline.Item, pipeline.Emitter) error {
	return p.did("process")
}

type probedChecker struct{ probed }

func (p probedChecker) Check(context.Context) error { return p.did("check") }

type probedSource struct{ probed }

func (p probedSource) Run(context.Context, pipeline.Emitter) error { return p.did("run") }
func (p probedSource) Process()                                    {}

type probedOptions struct {
	Path string `toml:"path" doc:"a path"`
	Rate int    `toml:"rate" doc:"a rate"`
}

// probe loads a pipeline of source > one > two > three, the second of which is a Checker, and probes it.
func probe(t *testing.T, source string, wrong map[string]map[string]error) (finding.List, []string) {
	t.Helper()
	found, _, made := probeWithNotes(t, source, wrong)
	return found, made
}

func probeWithNotes(t *testing.T, source string, wrong map[string]map[string]error) (finding.List, []pipeline.ProbeNote, []string) {
	t.Helper()
	r := pipeline.NewRegistry()
	made := new(calls)
	add := func(name string, in []pipeline.Kind, mk func(probed) any) {
		out := []pipeline.Port{{Kind: pipeline.KindOf[string]()}}
		if name == "three" {
			out = nil
		}
		pipeline.RegisterIn(r, pipeline.Spec{Type: name, Summary: "a stage", In: in, Out: out}, probedOptions{}, func(probedOptions, *pipeline.Env) (any, error) {
			p := probed{made, name, wrong[name]}
			if err := p.did("make"); err != nil {
				return nil, err
			}
			return mk(p), nil
		})
	}
	strings := pipeline.Kinds(pipeline.KindOf[string]())
	add("source", nil, func(p probed) any { return probedSource{p} })
	add("one", strings, func(p probed) any { return p })
	add("two", strings, func(p probed) any { return probedChecker{p} })
	add("three", strings, func(p probed) any { return p })
	graph, err := parsed(r, source, "one.rate=7")
	if err != nil {
		t.Fatal(err)
	}
	found, notes := graph.Probe(t.Context(), pipeline.RunOptions{}, time.Second)
	return found, notes, made.made
}

const probedSourceText = `version = 1
[pipeline.p]
flow = ["source > one > two > three"]
[pipeline.p.stage.two]
path = "nowhere"
`

// What a stage says of itself is noted, beside what is wrong with it; that it was not tried alone is not.
func TestProbeNotesWhatStagesSay(t *testing.T) {
	found, notes, _ := probeWithNotes(t, probedSourceText, map[string]map[string]error{
		"one": {"open": fmt.Errorf("in use: %w", pipeline.ErrUntried)},
		"two": {"check": errors.Join(errors.New("broken"), pipeline.Untried("all waits"))},
	})
	if want := []pipeline.ProbeNote{{Stage: "two", Says: "all waits"}}; !slices.Equal(notes, want) || len(found) != 1 {
		t.Errorf("noted is %v, found %v", notes, found)
	}
}

func TestProbeOpensOrChecksEveryStageAndLetsNothingFlow(t *testing.T) {
	found, made := probe(t, probedSourceText, nil)
	if len(found) > 0 {
		t.Error(found)
	}
	want := []string{
		"make source", "make one", "make two", "make three", "open source", "open one", "check two", "open three",
		"close three", "close two", "close one", "close source",
	}
	if !slices.Equal(made, want) {
		t.Errorf("called were %q, want %q", made, want)
	}
}

func TestProbeFindsAllThatIsWrongWithItsPlace(t *testing.T) {
	option := func(name string) error { return &pipeline.OptionError{Option: name, Err: errors.New("not there")} }
	found, made := probe(t, probedSourceText, map[string]map[string]error{
		"source": {"open": errors.New("no source")},
		"one":    {"make": option("rate")},
		"two":    {"check": errors.Join(option("path"), errors.New("and more"), fmt.Errorf("elsewhere: %w", pipeline.ErrUntried)), "close": errors.New("will not close")},
	})
	var got []string
	for _, f := range found {
		got = append(got, f.Error())
		if f.Code != finding.CodeEnvironment {
			t.Errorf("%v has the code %s", f, f.Code)
		}
	}
	want := []string{
		`--set one.rate=7: pipeline "p", stage "one": make stage one: rate: not there`,
		`pipelines.toml:3:10: pipeline "p", stage "source": no source`,
		`pipelines.toml:5:8: pipeline "p", stage "two": path: not there`,
		`pipelines.toml:3:25: pipeline "p", stage "two": and more`,
		`pipelines.toml:3:25: pipeline "p", stage "two": will not close`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("found:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if slices.Contains(made, "close one") || !slices.Contains(made, "close three") {
		t.Errorf("called were %q: what was not made cannot be closed, what was must be", made)
	}
	var b strings.Builder
	if err := found.Format(&b, false); err != nil || !strings.Contains(b.String(), "    5 | path = \"nowhere\"\n      |        ^^^^^^^^^\n") {
		t.Errorf("the option is not shown (%v):\n%s", err, b.String())
	}
}

// hanging is a stage that answers when it likes.
type hanging struct {
	probed
	until <-chan struct{}
	obeys bool
}

func (h hanging) Check(ctx context.Context) error {
	if h.obeys {
		<-ctx.Done()
		return errors.New("waited for the proxy")
	}
	<-h.until
	return nil
}

func TestProbeDoesNotWaitForEver(t *testing.T) {
	for _, c := range []struct {
		obeys  bool
		want   string
		closed bool
	}{
		{true, `pipeline "p", stage "x": waited for the proxy`, true},
		{false, `pipeline "p", stage "x": check it: no answer within 5s`, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			until := make(chan struct{})
			made := new(calls)
			g := pipeline.NewGraph("p")
			g.AddStage("x", pipeline.Spec{Type: "x"}, func(*pipeline.Env) (any, error) {
				return hanging{probed{calls: made, name: "x"}, until, c.obeys}, nil
			})
			found, _ := g.Probe(t.Context(), pipeline.RunOptions{}, 5*time.Second)
			if len(found) != 1 || found[0].Error() != c.want {
				t.Errorf("found %v, want %s", found, c.want)
			}
			if closed := slices.Contains(made.made, "close x"); closed != c.closed {
				t.Errorf("closed: %v; a stage that is still at work must not be", closed)
			}
			close(until)
		})
	}
}

func TestAStageThatPanicsIsAFinding(t *testing.T) {
	g := pipeline.NewGraph("p")
	g.AddStage("x", pipeline.Spec{Type: "x"}, func(*pipeline.Env) (any, error) { panic("no luck") })
	found, _ := g.Probe(t.Context(), pipeline.RunOptions{}, time.Second)
	if len(found) != 1 || !strings.Contains(found[0].Message, "no luck") {
		t.Error(found)
	}
}
