package storecmd

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline"
)

// settingsFlag has a command consider options that a run was given beside the configuration.
func settingsFlag(c *cobra.Command, place *cli.Place) {
	c.Flags().StringArrayVar(&place.Set, "set", nil, "an option as the run was given it: `STAGE.OPTION=VALUE`, as often as needed")
}

// checkSettings refuses what --set says if none of the pipelines has such a stage, or it no such option or value.
func checkSettings(place *cli.Place, pipelines []string) error {
	if len(place.Set) == 0 || len(pipelines) == 0 {
		return nil
	}
	_, err := place.Load(pipeline.LoadOptions{Run: pipelines, Set: place.Set})
	if wrong := ofSettings(err); len(wrong) > 0 {
		return wrong
	}
	return nil // what else is wrong is said of each pipeline
}

// loadWith reads the configuration of a pipeline with the settings that are about its stages.
func loadWith(place *cli.Place, name string) (*pipeline.Config, error) {
	set := place.Set
	config, err := place.Load(pipeline.LoadOptions{Run: []string{name}, Set: set})
	if wrong := ofSettings(err); len(wrong) > 0 {
		set = slices.DeleteFunc(slices.Clone(set), func(s string) bool {
			return slices.ContainsFunc(wrong, func(f pipeline.Finding) bool { return f.Pos.File == flagName+s })
		})
		return place.Load(pipeline.LoadOptions{Run: []string{name}, Set: set})
	}
	return config, err
}

// flagName is what stands before a setting where a finding names its file.
const flagName = "--set "

// ofSettings returns the findings that are about settings, and not about a file.
func ofSettings(err error) (wrong pipeline.Findings) {
	var found pipeline.Findings
	errors.As(err, &found)
	for _, f := range found {
		if strings.HasPrefix(f.Pos.File, flagName) {
			wrong = append(wrong, f)
		}
	}
	return wrong
}
