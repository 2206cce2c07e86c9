package main

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
)

// logged returns what is logged by the stages of a pipeline, and by none of them, at every level.
func logged(t *testing.T, text string) string {
	t.Helper()
	loaded, err := config.Parse("p", []byte("version = 1\n[pipeline.p]\nflow = [\"lines > drop, other\"]\n[pipeline.p.stage.other]\ntype = \"drop\"\n"), config.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	graph, err := loaded.Graph("p")
	if err != nil {
		t.Fatal(err)
	}
	from, err := parseLevels(text, slog.LevelInfo, []*pipeline.Graph{graph})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	root := slog.New(newLevelHandler(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: from.lowest()}), from))
	for name, logger := range map[string]*slog.Logger{
		"none": root, "lines": root.With("pipeline", "p").With("stage", "lines"), "drop": root.With("stage", "drop"), "other": root.WithGroup("g").With("stage", "other"),
	} {
		for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
			logger.Log(t.Context(), level, name+"-"+strings.ToLower(level.String()))
		}
	}
	return b.String()
}

func TestStagesAreLoggedFromTheirLevelsOn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]map[string]string{ // the lowest level of each that is logged
		"":                            {"none": "info", "lines": "info", "drop": "info", "other": "info"},
		"error":                       {"none": "error", "lines": "error", "drop": "error", "other": "error"},
		"lines=debug":                 {"none": "info", "lines": "debug", "drop": "info", "other": "info"},
		"warn, drop=debug":            {"none": "warn", "lines": "warn", "drop": "debug", "other": "debug"},
		"drop=error,other=DEBUG,warn": {"none": "warn", "lines": "warn", "drop": "error", "other": "debug"},
	} {
		got := logged(t, text)
		for name, lowest := range want {
			on := false
			for _, level := range []string{"debug", "info", "warn", "error"} {
				on = on || level == lowest
				if there := strings.Contains(got, name+"-"+level); there != on {
					t.Errorf("--log-level %q: %s of %s is logged: %v", text, level, name, there)
				}
			}
		}
	}
}

func TestLevelsThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	graph := pipeline.NewGraph("p")
	graph.Add("lines", nil)
	for text, want := range map[string]string{
		"loud":       `--log-level loud: "loud" is none of debug, info, warn, error`,
		"lins=debug": `--log-level lins=debug: there is no stage "lins", nor a type of one (did you mean lines?)`,
		"lines=":     `--log-level lines=: "" is none of debug, info, warn, error`,
	} {
		_, err := parseLevels(text, slog.LevelInfo, []*pipeline.Graph{graph})
		var wrong *cli.Error
		if err == nil || err.Error() != want || !errors.As(err, &wrong) || wrong.Status != cli.Usage {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestADrainThatTakesTooLongIsCutShortAndNamesWhoHoldsItems(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	arrived, letGo := slowSite(w.site, 2)
	t.Cleanup(letGo)
	p := w.start(these(w.asks("ann", "/", depth(2), about("tea"))), "--drain-limit", "50ms")
	await(t, arrived, 2)
	p.signal(os.Interrupt)
	p.mustExit(cli.Interrupted) // while no page has been served
	mustSay(t, p.said(), "stopping after 50ms (--drain-limit), with items in fetch", "the next run goes on from here")
}
