package main

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/stages/fetch"
	"github.com/webrace/webrace/stages/render"
)

// loader reads a configuration.
type loader func(config.LoadOptions) (*config.Config, error)

// options returns how documents are fetched and rendered in the configuration: in the pipeline crawl if it does so, or
// else in the first that does. Where none does, it is as in the shipped one, or by the defaults.
func (s *source) options(globals *cli.Globals) (f fetch.Options, r render.Options, err error) {
	set := s.set
	if s.render {
		name, err := pipelineWith[render.Options](globals.Load)
		if err != nil {
			return f, r, err
		}
		if name != "" {
			if r, _, err = optionsOf[render.Options](globals.Load, name, set); err != nil {
				return f, r, err
			}
			f, _, err = optionsOf[fetch.Options](globals.Load, name, set)
			return f, r, err
		}
		var ofRender []string
		ofRender, set = divide(set, func(s string) bool { return strings.HasPrefix(s, "render.") })
		if r, _, err = optionsOf[render.Options](rendering, "try", ofRender); err != nil {
			return f, r, err
		}
	}
	for _, load := range []loader{globals.Load, (&cli.Globals{Shipped: true}).Load} {
		name, err := pipelineWith[fetch.Options](load)
		if err != nil {
			return f, r, err
		}
		if name != "" {
			f, _, err = optionsOf[fetch.Options](load, name, set)
			return f, r, err
		}
	}
	return f, r, errors.New("no pipeline fetches anything")
}

// rendering reads a pipeline that renders, for the defaults.
func rendering(o config.LoadOptions) (*config.Config, error) {
	return config.Parse("try --render", []byte(`version = 1
[pipeline.try]
flow = ["lines > frontier > fetch > render > drop", "fetch.redirects, render.redirects > frontier"]
`), o)
}

func divide(all []string, first func(string) bool) (firsts, others []string) {
	for _, s := range all {
		if first(s) {
			firsts = append(firsts, s)
		} else {
			others = append(others, s)
		}
	}
	return firsts, others
}

// pipelineWith returns the name of a pipeline with a stage that has options of this type, empty if there is none. One
// that cannot be read, because a variable is not set, matters only if no other will do.
func pipelineWith[O any](load loader) (string, error) {
	c, err := load(config.LoadOptions{Run: []string{}})
	if err != nil {
		return "", err
	}
	slices.SortStableFunc(c.Pipelines, func(a, b config.PipelineInfo) int {
		return cmp.Compare(isCrawl(b), isCrawl(a))
	})
	var faults []error
	for _, p := range c.Pipelines {
		_, found, err := optionsOf[O](load, p.Name, nil)
		if found {
			return p.Name, nil
		}
		faults = append(faults, err)
	}
	return "", cmp.Or(faults...)
}

func isCrawl(p config.PipelineInfo) int {
	if p.Name == "crawl" {
		return 1
	}
	return 0
}

// optionsOf returns the options of the first stage of a pipeline that has such, and whether there is one.
func optionsOf[O any](load loader, name string, set []string) (options O, found bool, err error) {
	loaded, err := load(config.LoadOptions{Run: []string{name}, Set: set})
	if err != nil {
		return options, false, err
	}
	graph, err := loaded.Graph(name)
	if err != nil {
		return options, false, cli.Wrong(err)
	}
	for _, s := range graph.Stages {
		if options, found = s.Options.(O); found {
			return options, true, nil
		}
	}
	return options, false, nil
}
