package queue

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/storage"
)

// sharing returns the pipelines of a configuration, of stages that give texts, collect them, and queues.
func sharing(text string, collect func(*pipeline.Item)) (*config.Config, error) {
	r := pipeline.NewRegistry()
	kind := pipeline.Kinds(pipeline.KindOf[string]())
	pipeline.RegisterIn(r, pipeline.Spec{Type: "texts", Summary: "texts", Out: []pipeline.Port{{Kind: kind[0]}}}, struct{}{}, func(struct{}, *pipeline.Env) (any, error) {
		return giving{}, nil
	})
	pipeline.RegisterIn(r, pipeline.Spec{Type: "collect", Summary: "collects", In: kind}, struct{}{}, func(struct{}, *pipeline.Env) (any, error) {
		return collecting(collect), nil
	})
	lost := pipeline.Kinds(pipeline.KindOf[any]())
	pipeline.RegisterIn(r, pipeline.Spec{Type: "lost", Summary: "takes all", In: lost}, struct{}{}, func(struct{}, *pipeline.Env) (any, error) {
		return collecting(collect), nil
	})
	spec, _ := pipeline.DefaultRegistry.Lookup("queue")
	pipeline.RegisterIn(r, spec, defaults, newStage)
	return config.Parse("p.toml", []byte("version = 1\n"+text), config.LoadOptions{Registry: r})
}

// A queue without a name is no source and no end; a pipeline may have one by its name in one place alone.
func TestLintOfSharedQueues(t *testing.T) {
	t.Parallel()
	const named = "[pipeline.p.stage]\nqueue.name = \"q\"\n"
	for name, c := range map[string]struct{ text, want string }{
		"an end":           {"flow = [\"texts > queue\"]\n" + named, ""},
		"a source":         {"flow = [\"queue > collect\"]\n" + named, ""},
		"no name, end":     {"flow = [\"texts > queue\"]\n", "the output of stage \"queue\" leads nowhere; to be the end"},
		"no name, source":  {"flow = [\"queue > collect\"]\n", "which is no source; to be the source"},
		"neither":          {"flow = [\"queue.errors > lost\"]\n" + named + "lost.type = \"lost\"\n", "\"queue\" leads nowhere"},
		"both in one":      {"flow = [\"texts > queue\", \"again > collect\"]\n" + named + "again = { type = \"queue\", name = \"q\" }\n", "are one queue, q"},
		"source and inner": {"flow = [\"texts > queue > collect\", \"again > collect\"]\n" + named + "again = { type = \"queue\", name = \"q\" }\n", "are one queue, q"},
	} {
		_, err := sharing("[pipeline.p]\n"+c.text, nil)
		if got := fmt.Sprint(err); c.want == "" && err != nil || !strings.Contains(got, c.want) && c.want != "" {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// One takes what several put; a second that would take is refused, and a reload that makes a source of an end.
func TestSidesOfAQueue(t *testing.T) {
	t.Parallel()
	r := resources(t, storage.Options{})
	came := make(chan string, 100)
	graphs, err := sharing(`[pipeline.one]
flow = ["texts > queue"]
stage.queue.name = "q"
[pipeline.two]
flow = ["texts > queue"]
stage.queue.name = "q"
[pipeline.take]
flow = ["queue > collect"]
stage.queue.name = "q"
[pipeline.other]
flow = ["queue > collect"]
stage.queue.name = "q"
`, func(it *pipeline.Item) { came <- it.Value.(string) })
	if err != nil {
		t.Fatal(err)
	}
	upstream := make(chan struct{})
	start := func(name string) (*pipeline.Run, error) {
		g, err := graphs.Graph(name)
		if err != nil {
			t.Fatal(err)
		}
		return g.Start(t.Context(), pipeline.RunOptions{Resources: r, Upstream: upstream})
	}
	take, err := start("take")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := start("other"); err == nil || !strings.Contains(err.Error(), "queue q is the source of another stage already") {
		t.Errorf("a second one takes: %v", err)
	}
	inner, err := sharing("[pipeline.take]\nflow = [\"texts > queue > collect\"]\nstage.queue.name = \"q\"\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := inner.Graph("take")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := take.Reload(t.Context(), g); err == nil || !strings.Contains(err.Error(), "start the pipeline anew") {
		t.Errorf("a reload makes a source another: %v", err)
	}
	for _, name := range []string{"one", "two"} {
		run, err := start(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Wait(); err != nil {
			t.Error(err)
		}
	}
	close(upstream)
	if _, err := take.Wait(); err != nil || len(came) != 2*given {
		t.Errorf("%d came: %v", len(came), err)
	}
}

const given = 20

// giving is a source of texts.
type giving struct{}

func (giving) Run(ctx context.Context, out pipeline.Emitter) error {
	for i := range given {
		if err := out.Emit(ctx, pipeline.NewItem(fmt.Sprint("text ", i), nil)); err != nil {
			return err
		}
	}
	return nil
}

// collecting is told of what comes.
type collecting func(*pipeline.Item)

func (c collecting) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	c(it)
	return nil
}
