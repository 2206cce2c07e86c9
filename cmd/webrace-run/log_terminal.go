package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/terminal"
)

// terminalHandler writes log records as lines for a person: how bad it is, of which stage, what it is about, what was
// done, what was wrong, and in brackets what else there is to know.
type terminalHandler struct {
	w     io.Writer
	level slog.Leveler
	attrs []slog.Attr
	group string // before the names of attributes; empty without one
}

func (h terminalHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= h.level.Level()
}

func (h terminalHandler) Handle(_ context.Context, r slog.Record) error {
	named := map[string]string{}
	var others []string
	add := func(a slog.Attr) {
		value := terminal.Line(a.Value.Resolve().String())
		switch a.Key {
		case "stage", "url", "error":
			named[a.Key] = value
		case "pipeline": // its stages have names of their own
		default:
			others = append(others, a.Key+" "+value)
		}
	}
	for _, a := range h.attrs {
		add(a)
	}
	r.Attrs(func(a slog.Attr) bool {
		a.Key = h.group + a.Key
		add(a)
		return true
	})
	said := []string{levelWord(r.Level)}
	if named["stage"] != "" {
		said = append(said, "stage "+named["stage"])
	}
	said = append(said, named["url"], terminal.Line(r.Message), named["error"])
	said = slices.DeleteFunc(said, func(part string) bool { return part == "" })
	_, err := fmt.Fprintln(cli.Prose(h.w), strings.Join(said, ": ")+inBrackets(strings.Join(others, ", ")))
	return err
}

// levelWord is how lines of a level begin, also where a command ends with an error.
func levelWord(level slog.Level) string {
	if level == slog.LevelWarn {
		return "warning"
	}
	return strings.ToLower(level.String())
}

func (h terminalHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.attrs = slices.Clone(h.attrs)
	for _, a := range attrs {
		a.Key = h.group + a.Key
		h.attrs = append(h.attrs, a)
	}
	return h
}

func (h terminalHandler) WithGroup(name string) slog.Handler {
	h.group += name + "."
	return h
}
