package config

import (
	"errors"
	"strings"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// The toy kinds and stage types that the cases speak of.
type (
	page struct{ _ string }
	link struct{ _ string }
)

var (
	pages = pipeline.KindOf[*page]()
	links = pipeline.KindOf[link]()
)

const day = 24 * time.Hour

func nothing(*pipeline.Env) (any, error) { return nil, errors.New("a toy stage does not run") }

func none[C any](C, *pipeline.Env) (any, error) { return nothing(nil) }

func toySpec(typ string, in []pipeline.Kind, out ...pipeline.Port) pipeline.Spec {
	return pipeline.Spec{Type: typ, Summary: "is a toy", In: in, Out: out}
}

func port(name string, kind pipeline.Kind) pipeline.Port {
	return pipeline.Port{Name: name, Kind: kind}
}

// asInCases calls the toy kinds as the cases do, whose authors know of one package alone.
var asInCases = strings.NewReplacer("config.page", "pipeline.page", "config.link", "pipeline.link").Replace

// stageOf returns the stage of that name.
func stageOf(g *pipeline.Graph, name string) *pipeline.Stage {
	for _, s := range g.Stages {
		if s.Name == name {
			return s
		}
	}
	return nil
}
