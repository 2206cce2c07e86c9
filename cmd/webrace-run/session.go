package main

import (
	"context"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/xmlschema/httprequest"
)

// session is a data directory, what of it is lent to stages, and the pipelines that run over it.
type session struct {
	name string // among those of its process; "" if that has no other
	dir  *storage.Dir
	runs []*pipeline.Run // in the order of their names in the command

	elsewhere func(pipeline.Spec) bool // reports which sources another session has; nil: none
}

// start starts the pipelines; those that it had started when one would not are among its runs. It tells await what it
// waits for.
func (s *session) start(ctx context.Context, loaded *config.Config, names []string, options pipeline.RunOptions, await func(what string)) error {
	letters, err := openDeadLetters(s.dir)
	if err != nil {
		return err
	}
	options.DeadLetters, options.Resources, options.Elsewhere = letters, s.resources(), s.elsewhere
	if s.name != "" {
		options.Logger = options.Logger.With("session", s.name)
	}
	for _, name := range names {
		graph, err := loaded.Graph(name)
		if err != nil {
			return cli.Wrong(err)
		}
		await("the stages of " + s.nameOf(name) + " to open")
		run, err := graph.Start(ctx, options)
		if err != nil {
			return &cli.Error{Status: cli.Environment, Err: err}
		}
		s.runs = append(s.runs, run)
	}
	return nil
}

func (s *session) resources() *pipeline.Resources {
	r := new(pipeline.Resources)
	pipeline.Provide(r, s.dir)
	pipeline.Provide[pipeline.OpenStates](r, func() (pipeline.States, error) { return s.dir.States() })
	pipeline.Provide[credentials.Open](r, func() (credentials.Source, error) { return s.dir.Control() })
	pipeline.Provide[httprequest.Open](r, func() (httprequest.Source, error) { return s.dir.Control() })
	return r
}

// nameOf returns how people know a pipeline of the session.
func (s *session) nameOf(pipeline string) string {
	if s.name == "" {
		return pipeline
	}
	return pipeline + "@" + s.name
}
