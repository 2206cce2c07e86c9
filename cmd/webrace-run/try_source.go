package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// readers are the types of the stages that read sources which are not of the web, by the protocols of these.
var readers = map[string]string{xmlschema.ProtocolIMAP: "imap", xmlschema.ProtocolNNTP: "nntp", xmlschema.ProtocolDB: "sql"}

// newest gets the newest document of a source that is not of the web, by the first pipeline that reads such.
func (s *source) newest(c *cobra.Command, globals *cli.Globals) (d *triedDocument, err error) {
	start, err := xmlschema.ParseStart(s.url)
	if err != nil {
		return nil, cli.Wrong(err)
	}
	reader, err := s.reader(globals, start)
	if err != nil {
		return nil, err
	}
	lent, request := new(pipeline.Resources), webrace.Request{URL: start, Secret: s.secret, Reach: []webrace.Reach{{Crawl: "try"}}}
	if s.secret != "" {
		var stores *cli.Stores
		if stores, err = globals.OpenExisting(); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, stores.Close()) }()
		var secrets *control.Store
		if secrets, err = stores.Control(); err != nil {
			return nil, err
		}
		pipeline.Provide[credentials.Open](lent, func() (credentials.Source, error) { return beginningAt{secrets, &start}, nil })
	}
	made, err := reader.Make(pipeline.NewEnv("try", reader.Name, lent))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeStage(made)) }()
	var got *webrace.Document
	end := pipeline.ProcessOne(c.Context(), made.(pipeline.Processor), request, func(_ string, value any) error {
		own := *value.(*webrace.Document)
		own.Body = bytes.Clone(own.Body)
		got = &own
		return nil
	})
	var visit webrace.Visit
	visit.Learn(end.Learned)
	switch {
	case end.Err != nil:
		return nil, end.Err
	case visit.Error != "":
		return nil, fmt.Errorf("%s gave no document: %s", start, visit.Error)
	case got == nil:
		return nil, fmt.Errorf("%s gave no document: there is none in it", start)
	}
	var notes []string
	if got.URL != start {
		notes = append(notes, "it is the newest of "+start)
	}
	return newTriedDocument(got.URL, got, notes), nil
}

func closeStage(made any) error {
	if closer, ok := made.(pipeline.Closer); ok {
		return closer.Close()
	}
	return nil
}

// reader returns the stage that reads a source, as a pipeline has it, but that it takes one document alone.
func (s *source) reader(globals *cli.Globals, start string) (*pipeline.Stage, error) {
	protocol := xmlschema.ProtocolOf(start)
	kind, ok := readers[protocol]
	if !ok {
		return nil, cli.Wrongf("%s: nothing reads %s yet", start, protocol)
	}
	for _, load := range []loader{globals.Load, (&cli.Globals{Shipped: true}).Load} {
		all, err := load(config.LoadOptions{Run: []string{}})
		if err != nil {
			return nil, err
		}
		for _, p := range all.Pipelines {
			found, err := stageOfType(load, p.Name, kind, nil)
			if err == nil && found != nil {
				return stageOfType(load, p.Name, kind, append([]string{found.Name + ".backlog=1"}, s.set...))
			}
		}
	}
	return nil, cli.Wrongf("no pipeline has a stage %s, which reads %s", kind, start)
}

// stageOfType returns the first stage of a type in a pipeline; nil if it has none.
func stageOfType(load loader, name, kind string, set []string) (*pipeline.Stage, error) {
	loaded, err := load(config.LoadOptions{Run: []string{name}, Set: set})
	if err != nil {
		return nil, err
	}
	graph, err := loaded.Graph(name)
	if err != nil {
		return nil, cli.Wrong(err)
	}
	i := slices.IndexFunc(graph.Stages, func(s *pipeline.Stage) bool { return s.Spec.Type == kind })
	if i < 0 {
		return nil, nil
	}
	return graph.Stages[i], nil
}
