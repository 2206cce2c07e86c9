package exec

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/finding"
)

// TestFreshAndUnmodified gives a document that was fetched, one that was not modified and one that is fresh to programs
// that declare in different ways, or not at all, what they need: behind a stage that fills in what is missing, all
// programs are given all; before it, what needs the text or does not declare what it needs fails for want of it.
func TestFreshAndUnmodified(t *testing.T) {
	if testing.Short() {
		t.Skip("another program computes: not in short mode")
	}
	declared := func(parts ...string) *[]string { parts = append([]string{}, parts...); return &parts }
	for _, c := range []struct {
		mode  string
		needs *[]string // the option, nil where it is left out
		lint  bool      // finds that it cannot stand before
		fails bool      // before
	}{
		{"work", nil, false, true},
		{"work", declared("text"), true, true},
		{"work", declared(), false, false},
		{"needs text", nil, false, true},
		{"needs text", declared(), false, false},
		{"needs nothing", nil, false, false},
		{"reads title", nil, false, true},
		{"reads url", nil, false, false},
		{"asks how it is", nil, false, false},
	} {
		o := options(c.mode, func(o *Options) {
			o.Takes, o.Gives = []string{"document"}, []Output{{Kind: "document"}}
			if c.needs != nil {
				o.Needs = *c.needs
			}
		})
		for _, before := range []bool{true, false} {
			took, failures, err := threeDocuments(t, o, before)
			var found finding.List
			switch linted := errors.As(err, &found); {
			case linted && (!before || !c.lint || found[0].Code != finding.CodePart):
				t.Errorf("%s %v, before %t: lint says %v", c.mode, c.needs, before, err)
			case linted:
			case err != nil:
				t.Errorf("%s %v: %v", c.mode, c.needs, err)
			case before && c.lint:
				t.Errorf("%s %v: lint finds nothing", c.mode, c.needs)
			case before && c.fails && (len(failures) != 2 || took != 1), (!before || !c.fails) && (len(failures) != 0 || took != 3):
				t.Errorf("%s %v, before %t: %d came through, and failures %q", c.mode, c.needs, before, took, failures)
			}
			for _, f := range failures {
				if !strings.Contains(f, "needs the text of what it is given: http://a.example/ ") {
					t.Errorf("the reason is %q", f)
				}
			}
		}
	}
}

// threeDocuments runs a program over documents, before or behind a stage that gives them text.
func threeDocuments(t *testing.T, o Options, before bool) (took int, failures []string, err error) {
	t.Helper()
	documents := pipeline.KindOf[*webrace.Document]()
	text := []pipeline.Part{webrace.PartText}
	g := pipeline.NewGraph("p")
	g.AddStage("source", pipeline.Spec{Type: "source", Out: []pipeline.Port{{Kind: documents, Cases: []pipeline.Case{
		{Name: string(webrace.Fetched), Parts: text}, {Name: string(webrace.NotModified)}, {Name: string(webrace.Fresh)},
	}}}}, func(*pipeline.Env) (any, error) { return source{}, nil })
	fills := pipeline.Spec{
		Type: "fill", In: pipeline.Kinds(documents), Needs: pipeline.NoParts,
		Out: []pipeline.Port{{Kind: documents, Adds: []pipeline.Addition{{Parts: text}}}},
	}
	g.AddStage("fill", fills, func(*pipeline.Env) (any, error) {
		return pipeline.Map(func(_ context.Context, d *webrace.Document) (*webrace.Document, error) {
			whole := *d
			whole.Text = &webrace.Text{}
			return &whole, nil
		}), nil
	})
	g.AddType("program", "exec", o)
	end := pipeline.Spec{Type: "end", In: pipeline.Kinds(pipeline.KindOf[any]()), Needs: pipeline.NoParts}
	g.AddStage("end", end, func(*pipeline.Env) (any, error) {
		return pipeline.Map(func(_ context.Context, v any) (any, error) { took++; return v, nil }), nil
	})
	g.AddStage("failures", end, func(*pipeline.Env) (any, error) {
		return pipeline.Map(func(_ context.Context, f *pipeline.Failure) (any, error) {
			failures = append(failures, f.Err.Error())
			return f, nil
		}), nil
	})
	if before {
		g.Wire("source > program > fill > end")
	} else {
		g.Wire("source > fill > program > end")
	}
	g.Wire("program.errors > failures")
	if err := g.Check(); err != nil {
		return 0, nil, err
	}
	_, err = g.Run(t.Context(), pipeline.RunOptions{})
	return took, failures, err
}

// source gives a document in each case.
type source struct{}

func (source) Run(ctx context.Context, out pipeline.Emitter) error {
	for _, outcome := range []webrace.Outcome{webrace.Fetched, webrace.NotModified, webrace.Fresh} {
		d := &webrace.Document{URL: "http://a.example/", Outcome: outcome}
		if outcome == webrace.Fetched {
			d.Text = &webrace.Text{}
		}
		if err := out.Emit(ctx, pipeline.NewItem(d, func(pipeline.Outcome) {})); err != nil {
			return err
		}
	}
	return nil
}

func TestNeedsThatAreEmptyAreNotThoseLeftOut(t *testing.T) {
	const head = "version = 1\n[pipeline.p]\nflow = [\"texts > x\"]\n[pipeline.p.stage.x]\ntype = \"exec\"\n" +
		"command = [\"true\"]\ntakes = [\"text\"]\ngives = []\n"
	for text, want := range map[string]bool{"": false, "needs = []\n": true, "needs = [\"text\"]\n": true} {
		config, err := config.Parse("p.toml", []byte(head+text), config.LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		graph, err := config.Graph("p")
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range graph.Stages {
			if o, ok := s.Options.(Options); ok && (o.NeededParts() != nil) != want {
				t.Errorf("%q: it needs %#v", text, o.NeededParts())
			}
		}
	}
}

func TestNeedsNameParts(t *testing.T) {
	o := options("work", func(o *Options) { o.Needs = []string{"txt"} })
	if err := o.Validate(); err == nil || !strings.Contains(err.Error(), `needs: there is no part "txt", only anchors, body, graph, links, text, version, *`) {
		t.Errorf("got %v", err)
	}
}
