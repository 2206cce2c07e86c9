package pipeline_test

import (
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
)

func init() {
	pipeline.SetParsed(func(r *pipeline.Registry, text string) (*pipeline.Graph, error) { return parsed(r, text) })
}

// parsed makes the pipeline "p" of a text.
func parsed(r *pipeline.Registry, text string, set ...string) (*pipeline.Graph, error) {
	c, err := config.Parse("pipelines.toml", []byte(text), config.LoadOptions{Registry: r, Set: set, Data: "d"})
	if err != nil {
		return nil, err
	}
	return c.Graph("p")
}
