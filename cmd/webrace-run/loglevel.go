package main

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/pipeline"
)

// levels determines from which level on records are logged: those of a stage, of all stages of a type, and all
// others.
type levels struct {
	general slog.Level
	named   map[string]slog.Level // by stage or stage type; a stage's own name counts more
	types   map[string]string     // of stages, by their names
}

// parseLevels reads "warn", "fetch=debug" or "warn,fetch=debug,frontier=error". The general level is normal
// where nothing else is said; names must be those of stages in these graphs or of their types.
func parseLevels(text string, normal slog.Level, graphs []*pipeline.Graph) (levels, error) {
	l := levels{general: normal, named: make(map[string]slog.Level), types: make(map[string]string)}
	known := make(map[string]bool)
	for _, g := range graphs {
		for _, s := range g.Stages {
			l.types[s.Name] = s.Spec.Type
			known[s.Name], known[s.Spec.Type] = true, true
		}
	}
	if text == "" {
		return l, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, word, named := strings.Cut(strings.TrimSpace(part), "=")
		if !named {
			name, word = "", name
		}
		var level slog.Level
		if err := level.UnmarshalText([]byte(word)); err != nil {
			return l, cli.Wrongf("--log-level %s: %q is none of debug, info, warn, error", text, word)
		}
		switch {
		case !named:
			l.general = level
		case !known[name]:
			names := slices.Sorted(maps.Keys(known))
			hint := suggest.DidYouMean(suggest.Nearest(name, names))
			return l, cli.Wrongf("--log-level %s: there is no stage %q, nor a type of one%s", text, name, hint)
		default:
			l.named[name] = level
		}
	}
	return l, nil
}

// of returns the level of a stage.
func (l levels) of(stage string) slog.Level {
	if level, ok := l.named[stage]; ok {
		return level
	}
	if level, ok := l.named[l.types[stage]]; ok {
		return level
	}
	return l.general
}

// lowest is the level from which on anything is logged.
func (l levels) lowest() slog.Level {
	lowest := l.general
	for _, level := range l.named {
		lowest = min(lowest, level)
	}
	return lowest
}

// levelHandler passes on the records that are of a level high enough for the stage that they come from, which
// loggers of stages carry as the attribute "stage".
type levelHandler struct {
	slog.Handler
	levels levels
	level  slog.Level
}

func newLevelHandler(h slog.Handler, l levels) slog.Handler { return levelHandler{h, l, l.general} }

func (h levelHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

func (h levelHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	level := h.level
	for _, a := range attrs {
		if a.Key == "stage" {
			level = h.levels.of(a.Value.String())
		}
	}
	return levelHandler{h.Handler.WithAttrs(attrs), h.levels, level}
}

func (h levelHandler) WithGroup(name string) slog.Handler {
	return levelHandler{h.Handler.WithGroup(name), h.levels, h.level}
}
