package main

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/terminal"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/room"
)

// output is what a running session shows: one line that is written over on a terminal, log lines
// elsewhere.
type output struct {
	w       io.Writer
	logger  *slog.Logger
	line    bool // on a terminal
	json    bool // log lines are JSON
	every   time.Duration
	started time.Time
	room    *room.Watch

	mu    sync.Mutex // held to write to a terminal
	shown bool       // a progress line stands there
}

// newOutput shows progress on a terminal, and logs in a format elsewhere, from the levels on that are given
// as for --log-level; stages are those of the graphs.
func newOutput(w io.Writer, format, levels string, graphs ...*pipeline.Graph) (*output, error) {
	o := &output{w: w, started: time.Now(), every: 10 * time.Second}
	normal := slog.LevelInfo
	if format == "" && cli.IsTerminal(w) {
		o.line, o.every, normal = true, 200*time.Millisecond, slog.LevelWarn
	}
	from, err := parseLevels(levels, normal, graphs)
	if err != nil {
		return nil, err
	}
	options := &slog.HandlerOptions{Level: from.lowest()}
	var handler slog.Handler
	switch {
	case o.line:
		options.ReplaceAttr = withoutTime
		handler = slog.NewTextHandler(lineWriter{o}, options)
	case format == "json":
		handler = slog.NewJSONHandler(w, options)
	case format == "text" || format == "":
		handler = slog.NewTextHandler(w, options)
	default:
		return nil, cli.Wrongf("--log %s: it is text or json", format)
	}
	o.logger, o.json = slog.New(newLeveled(handler, from)), format == "json"
	slog.SetDefault(o.logger) // libraries log there
	return o, nil
}

// withoutTime leaves out what somebody at a terminal can see for themselves.
func withoutTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// lineWriter writes log lines above the progress line.
type lineWriter struct{ o *output }

func (l lineWriter) Write(p []byte) (int, error) {
	l.o.mu.Lock()
	defer l.o.mu.Unlock()
	if l.o.shown {
		fmt.Fprint(cli.Exact(l.o.w), "\r\x1b[K")
	}
	return l.o.w.Write(p)
}

// progress shows how the runs get on.
func (o *output) progress(runs []*pipeline.Run, draining bool) {
	var t totals
	for _, run := range runs {
		t.add(run.Snapshot())
	}
	seconds := time.Since(o.started).Seconds()
	perSecond := float64(t.documents()) / seconds
	if !o.line {
		facts := []any{"documents", t.documents(), "per_second", int(perSecond), "queued", t.queued, "in_flight", t.inFlight,
			"errors", t.Errors, "alerts", t.Annotations, "draining", draining}
		if draining {
			facts = append(facts, "holding", holding(runs))
		}
		o.logger.Info("progress", facts...)
		return
	}
	text := fmt.Sprintf("%d documents  %.0f/s  %d queued  %d in flight  %d errors  %d alerts", t.documents(), perSecond, t.queued, t.inFlight, t.Errors, t.Annotations)
	if draining {
		text += "  finishing: " + holding(runs)
	} else {
		text += t.idle(time.Now())
	}
	if disk := o.room.State(); disk.Paused {
		text = disk.String() + "  " + text
	}
	o.show(text)
}

// show replaces the progress line, cut to the terminal's width.
func (o *output) show(text string) {
	text = terminal.Line(text)
	if width := cli.Width(o.w); len(text) >= width && width > 1 {
		text = text[:width-1]
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	fmt.Fprint(cli.Exact(o.w), "\r\x1b[K", text)
	o.shown = true
}

// paused says that the disk is full, and that it is no more.
func (o *output) paused(disk room.State) {
	if disk.Paused {
		o.logger.Warn(disk.String())
		return
	}
	o.logger.Info(disk.String())
}

// note says something to whoever is there.
func (o *output) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !o.line {
		o.logger.Info(text)
		return
	}
	fmt.Fprintln(lineWriter{o}, strings.ToUpper(text[:1])+text[1:]+".")
}

// lost reports whether there was a terminal, which has gone.
func (o *output) lost() bool { return o.line && !cli.IsTerminal(o.w) }

// end takes the progress line away.
func (o *output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.shown {
		fmt.Fprint(cli.Exact(o.w), "\r\x1b[K")
		o.shown = false
	}
}
