package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
)

// CompletePipelines completes the names of the pipelines that the configuration has.
func (g *Globals) CompletePipelines(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
	loaded, err := g.Load(config.LoadOptions{Run: []string{}})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, known := range loaded.Pipelines {
		if !slices.Contains(given, known.Name) {
			names = append(names, cobra.CompletionWithDesc(known.Name, known.Title))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// CompleteTypes completes the names of stage types.
func CompleteTypes(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, typ := range pipeline.DefaultRegistry.Types() {
		if spec, _ := pipeline.DefaultRegistry.Lookup(typ); len(given) == 0 {
			names = append(names, cobra.CompletionWithDesc(typ, spec.Summary))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// CompleteSet completes STAGE.OPTION= of the pipelines that are named before it; of all, if none is. What
// cannot be loaded completes nothing.
func (g *Globals) CompleteSet(_ *cobra.Command, given []string, begun string) ([]string, cobra.ShellCompDirective) {
	const nothing = cobra.ShellCompDirectiveNoFileComp
	loaded, err := g.Load(config.LoadOptions{Run: []string{}})
	if err != nil || strings.Contains(begun, "=") {
		return nil, nothing
	}
	var o config.LoadOptions
	for _, known := range loaded.Pipelines {
		if slices.Contains(given, known.Name) { // others are URLs, or misspelt
			o.Run = append(o.Run, known.Name)
		}
	}
	if loaded, err = g.Load(o); err != nil {
		return nil, nothing
	}
	var all []string
	for _, known := range loaded.Pipelines {
		graph, err := loaded.Graph(known.Name)
		if err != nil {
			continue // it is not among those named
		}
		for _, stage := range graph.Stages {
			for _, option := range slices.Concat(config.Options(nil, stage.Spec.Type), config.CommonOptions()) {
				if option.Name == "type" || strings.Contains(option.Name, "[") {
					continue
				}
				name := fmt.Sprintf("%s.%s=", stage.Name, option.Name)
				if strings.HasPrefix(name, begun) {
					all = append(all, cobra.CompletionWithDesc(name, option.Doc))
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nothing | cobra.ShellCompDirectiveNoSpace
}
