package cli

import (
	"slices"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/xmlschema"
)

// asks reports whether a pipeline of the configuration that serves the URD has a model asked what it wants to know.
// Without a configuration that can be read, it is none of its faults.
func (g *Globals) asks(u *xmlschema.URD) bool {
	_, asking, err := g.StageAsking(u)
	return err != nil || asking != nil
}

// StageAsking returns the stage ask of a pipeline of the configuration that serves the URD, and the name of the
// pipeline; nil if there is none.
func (g *Globals) StageAsking(u *xmlschema.URD) (pipelineName string, asking *pipeline.Stage, err error) {
	loaded, err := g.Load(config.LoadOptions{})
	if err != nil {
		return "", nil, err
	}
	_, watches := u.Prefix()
	for _, info := range loaded.Pipelines {
		graph, err := loaded.Graph(info.Name)
		if err != nil || !HasStage(graph, "keyword-filter") || !watches && !starts(graph, u) {
			continue
		}
		if i := slices.IndexFunc(graph.Stages, func(s *pipeline.Stage) bool { return s.Spec.Type == "ask" }); i >= 0 {
			return info.Name, graph.Stages[i], nil
		}
	}
	return "", nil, nil
}

// HasStage reports whether a pipeline has a stage of a type.
func HasStage(graph *pipeline.Graph, typ string) bool {
	return slices.ContainsFunc(graph.Stages, func(s *pipeline.Stage) bool { return s.Spec.Type == typ })
}
