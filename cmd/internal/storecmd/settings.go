package storecmd

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/finding"
)

// settingsFlag has a command consider options that a run was given beside the configuration.
func settingsFlag(c *cobra.Command, globals *cli.Globals) {
	c.Flags().StringArrayVar(&globals.Set, "set", nil, "an option as the run was given it: `STAGE.OPTION=VALUE`, as often as needed")
}

// checkSettings refuses what --set gives if none of the pipelines has such a stage, or it no such option or value.
func checkSettings(globals *cli.Globals, pipelines []string) error {
	if len(globals.Set) == 0 || len(pipelines) == 0 {
		return nil
	}
	_, err := globals.Load(config.LoadOptions{Run: pipelines, Set: globals.Set})
	if wrong := ofSettings(err); len(wrong) > 0 {
		return wrong
	}
	return nil // what else is wrong is said of each pipeline
}

// LoadWith reads the configuration of a pipeline with the settings that are about its stages.
func LoadWith(globals *cli.Globals, name string) (*config.Config, error) {
	set := globals.Set
	loaded, err := globals.Load(config.LoadOptions{Run: []string{name}, Set: set})
	if wrong := ofSettings(err); len(wrong) > 0 {
		set = slices.DeleteFunc(slices.Clone(set), func(s string) bool {
			return slices.ContainsFunc(wrong, func(f finding.Finding) bool { return f.Pos.File == flagName+s })
		})
		return globals.Load(config.LoadOptions{Run: []string{name}, Set: set})
	}
	return loaded, err
}

// flagName is what stands before a setting where a finding names its file.
const flagName = "--set "

// ofSettings returns the findings that are about settings, and not about a file.
func ofSettings(err error) (wrong finding.List) {
	var found finding.List
	errors.As(err, &found)
	for _, f := range found {
		if strings.HasPrefix(f.Pos.File, flagName) {
			wrong = append(wrong, f)
		}
	}
	return wrong
}
