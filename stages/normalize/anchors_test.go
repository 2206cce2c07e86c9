package normalize

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
)

// linksFor returns the links that a stage of this description is given, with those that normalize has read for it.
func linksFor(t *testing.T, taker pipeline.Spec, d *webrace.Document) (given *webrace.Links) {
	t.Helper()
	taker.Type, taker.In = "taker", pipeline.Kinds(pipeline.KindOf[*webrace.Links]())
	g := pipeline.NewGraph("p")
	source := pipeline.Spec{Type: "pages", Out: []pipeline.Port{{Kind: pipeline.KindOf[*webrace.Document]()}}}
	g.AddStage("pages", source, func(*pipeline.Env) (any, error) {
		return runFunc(func(ctx context.Context, out pipeline.Emitter) error { return out.Emit(ctx, &pipeline.Item{Value: d}) }), nil
	})
	g.Add("normalize", nil)
	g.AddStage("taker", taker, func(*pipeline.Env) (any, error) {
		return processFunc(func(it *pipeline.Item) { given = it.Value.(*webrace.Links) }), nil
	})
	end := pipeline.Spec{Type: "end", In: pipeline.Kinds(pipeline.KindOf[any]()), Uses: []pipeline.Part{pipeline.AllParts}, Needs: pipeline.NoParts}
	g.AddStage("end", end, func(*pipeline.Env) (any, error) { return processFunc(func(*pipeline.Item) {}), nil })
	g.Wire("pages > normalize > end", "normalize.links > taker")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	run, err := g.Start(ctx, pipeline.RunOptions{})
	if err == nil {
		_, err = run.Wait()
	}
	if err != nil || given == nil {
		t.Fatalf("links %v, %v", given, err)
	}
	return given
}

type runFunc func(context.Context, pipeline.Emitter) error

func (f runFunc) Run(ctx context.Context, out pipeline.Emitter) error { return f(ctx, out) }

type processFunc func(*pipeline.Item)

func (f processFunc) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	f(it)
	return nil
}

// TestLinksComeWithWhatAStageBehindThemUses is what pipelines without a use for anchors and texts are owed: that they
// pay nothing for them, whatever the stages behind the document use.
func TestLinksComeWithWhatAStageBehindThemUses(t *testing.T) {
	d := page(`<title>T</title><a href="/a">A</a><a href="/b"><img></a>`)
	for name, c := range map[string]struct {
		spec    pipeline.Spec
		anchors bool
		text    bool
	}{
		"nothing": {pipeline.Spec{Needs: pipeline.NoParts}, false, false},
		"anchors": {pipeline.Spec{Needs: pipeline.NoParts, Uses: []pipeline.Part{webrace.PartAnchors}}, true, false},
		"text":    {pipeline.Spec{Needs: []pipeline.Part{webrace.PartText}}, false, true},
		"unsaid":  {pipeline.Spec{}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			got := linksFor(t, c.spec, d)
			if (got.Anchors != nil) != c.anchors || c.anchors && !slices.Equal(got.Anchors, []string{"A"}) {
				t.Errorf("anchors %q", got.Anchors)
			}
			if (got.Text != nil) != c.text || c.text && len(got.Text.Blocks) != 2 {
				t.Errorf("text %v", got.Text)
			}
		})
	}
	if got := linksFor(t, pipeline.Spec{Needs: []pipeline.Part{webrace.PartAnchors}}, page(`<a href="/b"><img></a>`)); got.Anchors == nil {
		t.Error("of a page whose links have no text it is not said that they have none")
	}
}
