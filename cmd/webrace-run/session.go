package main

import (
	"context"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/remote"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/stages/portal"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/xmlschema/httprequest"
)

// session is a data directory, what of it is lent to stages, and the pipelines that run over it.
type session struct {
	name string // among those of its process; "" if that has no other
	dir  *storage.Dir
	runs []*pipeline.Run // in the order of their names in the command

	configured asConfigured // for what is looked up for people

	commands func(context.Context, remote.Call) int // runs those of webrace-store over dir alone; nil: the process does

	elsewhere func(pipeline string, s pipeline.Spec) bool       // reports which sources another session has; nil: none
	here      frontier.Here                                     // of a partition; nil: it is all there is
	rest      func(pipeline string) (frontier.Elsewhere, error) // of the cluster; nil: there is none
	costs     frontier.RequestsElsewhere                        // there
}

// start starts the pipelines; those that it had started when one would not are among its runs. It tells await what it
// waits for.
func (s *session) start(ctx context.Context, loaded *config.Config, names []string, options pipeline.RunOptions, await func(what string)) error {
	store, err := s.dir.Control()
	if err != nil {
		return err
	}
	options.DeadLetters, options.Resources = deadLetters{store, s.name}, s.resources()
	if s.name != "" {
		options.Logger = options.Logger.With("session", s.name)
	}
	for _, name := range names {
		graph, err := loaded.Graph(name)
		if err != nil {
			return cli.Wrong(err)
		}
		if s.elsewhere != nil {
			options.Elsewhere = func(spec pipeline.Spec) bool { return s.elsewhere(name, spec) }
			if graph.OfOneRun() && options.Elsewhere(pipeline.Spec{Once: true}) {
				continue
			}
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
	pipeline.Provide[portal.OpenReader](r, func() (portal.Reader, error) { return openPortalReader(s.dir, s.configured) })
	if s.here != nil {
		pipeline.Provide(r, s.here)
		pipeline.Provide[frontier.OpenElsewhere](r, s.rest)
		pipeline.Provide(r, s.costs)
	}
	return r
}

// nameOf returns how people know a pipeline of the session.
func (s *session) nameOf(pipeline string) string {
	if s.name == "" {
		return pipeline
	}
	return pipeline + "@" + s.name
}
