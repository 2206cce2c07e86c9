package config_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
)

// The option workers_key is compiled with the pipeline: what is wrong with it is found by lint, at its place, and items
// of a key stay in order.
func TestWorkersKey(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	came := map[string][]string{}
	r := pipeline.NewRegistry()
	record := pipeline.RecordOf("host", "n")
	pipeline.RegisterIn(r, pipeline.Spec{Type: "rows", Summary: "gives rows", Out: []pipeline.Port{{Kind: record}}}, struct{}{}, func(struct{}, *pipeline.Env) (any, error) {
		return rows(300), nil
	})
	pipeline.RegisterIn(r, pipeline.Spec{Type: "take", Summary: "takes rows", In: pipeline.Kinds(record)}, struct{}{}, func(struct{}, *pipeline.Env) (any, error) {
		return taker(func(v pipeline.Record) {
			mu.Lock()
			defer mu.Unlock()
			host := v["host"].(string)
			came[host] = append(came[host], v["n"].(string))
		}), nil
	})
	load := func(options string) (*config.Config, error) {
		text := "version = 1\n[pipeline.p]\nflow = [\"rows > take\"]\n[pipeline.p.stage.take]\n" + options
		return config.Parse("p.toml", []byte(text), config.LoadOptions{Registry: r})
	}
	for options, want := range map[string]string{
		"workers = 4\nworkers_key = \"host +\"": "p.toml:6:",
		"workers = 4\nworkers_key = \"hots\"":   "did you mean host",
		"workers_key = \"host\"":                "p.toml:5:15: stage \"take\": workers_key: says nothing while there is one worker",
		"workers = 4\nworker_key = \"host\"":    "did you mean workers_key",
	} {
		if _, err := load(options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", options, err)
		}
	}
	c, err := load("workers = 4\nworkers_key = \"host\"")
	if err != nil {
		t.Fatal(err)
	}
	g, err := c.Graph("p")
	if err == nil {
		_, err = g.Run(t.Context(), pipeline.RunOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	for host, numbers := range came {
		if !slices.IsSorted(numbers) || len(numbers) != 100 {
			t.Errorf("%s: %v", host, numbers)
		}
	}
}

type rows int

func (n rows) Run(ctx context.Context, out pipeline.Emitter) error {
	for i := range int(n) {
		row := pipeline.Record{"host": fmt.Sprint("host", i%3), "n": fmt.Sprintf("%04d", i)}
		if err := out.Emit(ctx, &pipeline.Item{Value: row}); err != nil {
			return err
		}
	}
	return nil
}

type taker func(pipeline.Record)

func (f taker) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	f(it.Value.(pipeline.Record))
	return nil
}
