package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/storage"
)

// runningProcess is the process that has a data directory, asked through its socket. It is a [watch.Source].
type runningProcess struct {
	*admin.Client
	data string
}

func findRunning(globals *cli.Globals) (*runningProcess, error) {
	data, err := globals.DataDir()
	if err != nil {
		return nil, err
	}
	return &runningProcess{admin.NewClient(filepath.Join(data, storage.SocketName)), data}, nil
}

// states returns the pipelines that run, at least one.
func (r *runningProcess) states(ctx context.Context) ([]admin.State, error) {
	states, err := r.Pipelines(ctx)
	if errors.Is(err, admin.ErrNobody) || err == nil && len(states) == 0 {
		return nil, fmt.Errorf("no pipeline runs over the data directory %s\nstart one: webrace-run webrace --data %s", r.data, r.data)
	}
	if err != nil {
		return nil, fmt.Errorf("ask the process that has %s open: %w", r.data, err)
	}
	return states, nil
}

// Tap watches a stage for as long as ctx allows.
func (r *runningProcess) Tap(ctx context.Context, name, stage string, show func(pipeline.Tapped)) (string, error) {
	end, err := r.Client.Tap(ctx, name, admin.TapQuery{Stage: stage, Body: -1}, func() {}, func(item pipeline.Tapped) error {
		show(item)
		return nil
	})
	return end.Reason, err
}

// pipelineOf returns the pipeline that is meant where none is named: the only one, or the only one that has
// the stage.
func pipelineOf(states []admin.State, stage string) (string, error) {
	var have, stages []string
	for _, s := range states {
		stages = slices.AppendSeq(stages, maps.Keys(s.Stages))
		if _, ok := s.Stages[stage]; ok || len(states) == 1 {
			have = append(have, s.Name)
		}
	}
	switch len(have) {
	case 1:
		return have[0], nil
	case 0:
		slices.Sort(stages)
		meant := ""
		if near := suggest.Nearest(stage, slices.Compact(stages)); near != "" {
			meant = fmt.Sprintf(" (did you mean %s?)", near)
		}
		return "", fmt.Errorf("none of the pipelines that run has a stage %q%s: they are %s", stage, meant, strings.Join(namesOf(states), ", "))
	}
	return "", cli.Wrongf("%s have a stage %s: it has to be said which is meant, as webrace-run tap %s %s", strings.Join(have, " and "), stage, have[0], stage)
}

// mustRun refuses the name of a pipeline that does not run.
func mustRun(states []admin.State, name string) error {
	names := namesOf(states)
	if slices.Contains(names, name) {
		return nil
	}
	message := fmt.Sprintf("pipeline %q does not run", name)
	if near := suggest.Nearest(name, names); near != "" {
		message += fmt.Sprintf(" (did you mean %s?)", near)
	}
	return fmt.Errorf("%s; these do: %s", message, suggest.Choices(name, names))
}

func namesOf(states []admin.State) (names []string) {
	for _, s := range states {
		names = append(names, s.Name)
	}
	return names
}

// untilInterrupted returns a context that Ctrl-C ends: to stop watching is no failure.
func untilInterrupted(c *cobra.Command) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
}
