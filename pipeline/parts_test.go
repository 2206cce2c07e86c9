package pipeline

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace/pipeline/finding"
)

// sheet is a value that may come without its text.
type sheet struct {
	name string
	sent bool
	text string
}

func (s *sheet) Case() string {
	if s.sent {
		return "sent"
	}
	return "kept"
}

func (s *sheet) Lacks(part Part) string {
	if part == "text" && s.text == "" {
		return s.name + " was not sent"
	}
	return ""
}

var sheets = KindOf[*sheet]()

// sheetRegistry has a stage type that fills in what is missing.
func sheetRegistry() *Registry {
	r := NewRegistry()
	fill := toySpec("fill", Kinds(sheets), Port{Kind: sheets, Adds: []Addition{{Parts: []Part{"text"}, In: []string{"kept"}}}})
	fill.Needs = NoParts
	RegisterIn(r, fill, struct{}{}, func(struct{}, *Env) (any, error) { return nil, errors.New("a toy stage does not run") })
	return r
}

// sheetGraph is "post > …": post gives sheets with and without text, as it declares.
func sheetGraph(needs map[string][]Part, flows ...string) *Graph {
	g := sheetRegistry().NewGraph("sheets")
	post := toySpec("post", nil, Port{Kind: sheets, Cases: []Case{{Name: "sent", Parts: []Part{"text"}}, {Name: "kept"}}})
	g.AddStage("post", post, nothing)
	for name, needs := range needs {
		spec := toySpec(name, Kinds(KindOf[any]()), Port{Kind: SameAsInput})
		spec.Needs = needs
		g.AddStage(name, spec, nothing)
	}
	end := toySpec("end", Kinds(KindOf[any]()))
	end.Needs = NoParts
	g.AddStage("end", end, nothing)
	for _, flow := range flows {
		if strings.Contains(flow, "fill") && g.stage("fill") == nil {
			g.Add("fill", nil)
		}
	}
	g.Wire(flows...)
	return g
}

func TestLintFollowsPartsThroughEveryPath(t *testing.T) {
	for name, c := range map[string]struct {
		needs map[string][]Part
		flows []string
		want  string // "" for nothing
	}{
		"nothing is needed":    {map[string][]Part{"a": NoParts}, []string{"post > a > end"}, ""},
		"a part is missing":    {map[string][]Part{"a": {"text"}}, []string{"post > a > end"}, `stage "a" needs the text of a value, and here a value that is kept comes without text: let a follow fill`},
		"it is given":          {map[string][]Part{"a": {"text"}}, []string{"post > fill > a > end"}, ""},
		"it is given before":   {map[string][]Part{"a": {"text"}, "b": NoParts}, []string{"post > fill > b > a > end"}, ""},
		"on one path only":     {map[string][]Part{"a": {"text"}}, []string{"post > fill > a > end", "post > a"}, `stage "a" needs`},
		"behind what passes":   {map[string][]Part{"a": {"text"}, "b": NoParts}, []string{"post > b > a > end"}, `stage "a" needs`},
		"whatever some have":   {map[string][]Part{"a": {AllParts}}, []string{"post > a > end"}, `stage "a" needs the text of a value`},
		"nobody gives it":      {map[string][]Part{"a": {"colour"}}, []string{"post > fill > a > end"}, `needs the colour of a value, and here each value comes without colour`},
		"nothing is said":      {map[string][]Part{"a": nil}, []string{"post > a > end"}, `stage "a" does not say what it needs of a value, and here a value that is kept comes without text: say it in Needs of its Spec (pipeline.NoParts for nothing), or let a follow fill`},
		"nothing is said, but": {map[string][]Part{"a": nil}, []string{"post > fill > a > end"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := sheetGraph(c.needs, c.flows...).Check()
			var found finding.List
			errors.As(err, &found)
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (len(found) != 1 || found[0].Code != finding.CodePart || !strings.Contains(found[0].Message, c.want)):
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestLintEndsOnPartsInACycle(t *testing.T) {
	g := sheetGraph(map[string][]Part{"a": nil, "b": NoParts}, "post > a > b > a", "b > end")
	if err := g.Check(); err == nil || !strings.Contains(err.Error(), "does not say") || !strings.Contains(err.Error(), "cycle") {
		t.Errorf("got %v", err)
	}
}

// sheetGroups takes sheets in groups.
type sheetGroups struct{ took func(*Item) }

func (s sheetGroups) ProcessBatch(_ context.Context, its []*Item, _ Emitter) error {
	for _, it := range its {
		s.took(it)
	}
	return nil
}

// TestFreshAndUnmodified gives sheets without text to stages of which lint could know nothing, because no stage tells
// where they come from: what needs the text fails for want of it, with the reason, and nothing else does.
func TestFreshAndUnmodified(t *testing.T) {
	whole, bare := &sheet{name: "whole", sent: true, text: "x"}, &sheet{name: "bare"}
	for name, c := range map[string]struct {
		spec  Spec
		batch bool
		in    []any
		fails int
	}{
		"it needs the text":              {Spec{Needs: []Part{"text"}}, false, []any{whole, bare, whole}, 1},
		"it needs nothing":               {Spec{Needs: NoParts}, false, []any{whole, bare, whole}, 0},
		"it makes use of the text":       {Spec{Needs: NoParts, Uses: []Part{"text"}}, false, []any{whole, bare}, 0},
		"it gets the text by itself":     {Spec{Needs: []Part{"text"}, Own: []Addition{{Parts: []Part{"text"}, In: []string{"kept"}}}}, false, []any{whole, bare}, 0},
		"it gets that of others":         {Spec{Needs: []Part{"text"}, Own: []Addition{{Parts: []Part{"text"}, In: []string{"sent"}}}}, false, []any{whole, bare}, 1},
		"it takes groups":                {Spec{Needs: []Part{"text"}}, true, []any{whole, bare, whole, bare}, 2},
		"a list has one without":         {Spec{Needs: []Part{"text"}}, false, []any{List{whole, bare}, List{whole}}, 1},
		"other values come without harm": {Spec{Needs: []Part{"text"}}, false, []any{"a text", 7, nil, whole}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			took := 0
			take := func(*Item) { mu.Lock(); took++; mu.Unlock() }
			var failures []string
			g := sheetRegistry().NewGraph("p")
			g.AddStage("source", Spec{Type: "source", Out: []Port{{Kind: KindOf[any]()}}}, func(*Env) (any, error) {
				return emitting(c.in), nil
			})
			c.spec.Type, c.spec.In = "it", Kinds(KindOf[any]())
			g.AddStage("it", c.spec, func(*Env) (any, error) {
				if c.batch {
					return sheetGroups{take}, nil
				}
				return processorFunc(func(_ context.Context, it *Item, _ Emitter) error { take(it); return nil }), nil
			})
			g.AddStage("failures", Spec{Type: "failures", In: Kinds(KindOf[*Failure]())}, func(*Env) (any, error) {
				return Map(func(_ context.Context, f *Failure) (any, error) {
					failures = append(failures, f.Err.Error())
					return nil, nil
				}), nil
			})
			g.Wire("source > it", "it.errors > failures")
			if err := g.Check(); err != nil {
				t.Fatal(err)
			}
			if _, err := g.Run(t.Context(), RunOptions{}); err != nil {
				t.Fatal(err)
			}
			if len(failures) != c.fails || took != len(c.in)-c.fails {
				t.Errorf("%d taken, failures %q, want %d of %d to fail", took, failures, c.fails, len(c.in))
			}
			for _, f := range failures {
				if f != "needs the text of what it is given: bare was not sent; let the stage follow fill, which gives it" {
					t.Errorf("the reason is %q", f)
				}
			}
		})
	}
}

// emitting emits values.
type emitting []any

func (s emitting) Run(ctx context.Context, out Emitter) error {
	for _, v := range s {
		if err := out.Emit(ctx, &Item{Value: v}); err != nil {
			return err
		}
	}
	return nil
}

type processorFunc func(context.Context, *Item, Emitter) error

func (f processorFunc) Process(ctx context.Context, it *Item, out Emitter) error {
	return f(ctx, it, out)
}

func TestAStageKnowsWhatIsWantedBehindIt(t *testing.T) {
	wanted := func(needs map[string][]Part, flows ...string) []Part {
		f := sheetGraph(needs, flows...).followParts((*Stage).neededParts)
		return f.wantedOf("post")[""]
	}
	for name, c := range map[string]struct{ got, want []Part }{
		"nothing":             {wanted(nil, "post > end"), []Part{}},
		"by the next":         {wanted(map[string][]Part{"a": {"text"}}, "post > a > end"), []Part{"text"}},
		"by one further on":   {wanted(map[string][]Part{"a": {"text"}, "b": NoParts}, "post > b > a > end"), []Part{"text"}},
		"on another path":     {wanted(map[string][]Part{"a": {"text"}}, "post > end", "post > a > end"), []Part{"text"}},
		"by who says nothing": {wanted(map[string][]Part{"a": nil}, "post > a > end"), []Part{AllParts}},
		"but it is added":     {wanted(map[string][]Part{"a": {"text"}}, "post > fill > a > end"), []Part{}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
}

// TestAReloadTellsWhatIsWantedNow adds a stage that needs the text behind one that stays.
func TestAReloadTellsWhatIsWantedNow(t *testing.T) {
	var env *Env
	build := func(needs []Part) *Graph {
		g := sheetRegistry().NewGraph("p")
		g.AddStage("source", Spec{Type: "source", Out: []Port{{Kind: sheets}}}, func(e *Env) (any, error) {
			env = e
			return waiting{}, nil
		})
		g.AddStage("end", Spec{Type: "end", In: Kinds(sheets), Needs: needs}, func(*Env) (any, error) {
			return processorFunc(func(context.Context, *Item, Emitter) error { return nil }), nil
		})
		g.Stages[1].Common.Buffer = 1 + len(needs) // another stage than before
		g.Wire("source > end")
		return g
	}
	run, err := build(NoParts).Start(t.Context(), RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	first := env
	if first.Wants("", "text") {
		t.Error("before the reload the text is wanted")
	}
	if _, err := run.Reload(t.Context(), build([]Part{"text"})); err != nil {
		t.Fatal(err)
	}
	if !env.Wants("", "text") || env.Wants("", "colour") || env.Wants("other", "text") {
		t.Error("after the reload something else is wanted than the text")
	}
	run.Drain()
	if _, err := run.Wait(); err != nil {
		t.Error(err)
	}
}

// waiting is a source that gives nothing until the run drains.
type waiting struct{}

func (waiting) Run(ctx context.Context, _ Emitter) error { <-ctx.Done(); return nil }
