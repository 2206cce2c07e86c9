package main

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/descriptors"
	"github.com/webrace/webrace/internal/terminal"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/diskspace"
)

// output is what a running session shows: one line that is written over on a terminal, log lines
// elsewhere.
type output struct {
	w       io.Writer
	logger  *slog.Logger
	repeats *repeats
	line    bool // on a terminal
	json    bool // log lines are JSON
	every   time.Duration
	started time.Time
	room    *diskspace.Watch // of the data directory; nil before it is watched

	mu    sync.Mutex // held to write to a terminal
	shown bool       // a progress line stands there
}

// newOutput shows progress on a terminal, and logs in a format elsewhere, from the levels on that are given
// as for --log-level; stages are those of the graphs.
func newOutput(w io.Writer, format, levels string, graphs ...*pipeline.Graph) (*output, error) {
	o := &output{w: w, started: time.Now(), every: 10 * time.Second, repeats: newRepeats(10 * time.Second)}
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
		handler = terminalHandler{w: lineWriter{o: o}, level: options.Level}
	case format == "json":
		handler = slog.NewJSONHandler(w, options)
	case format == "text" || format == "":
		handler = slog.NewTextHandler(w, options)
	default:
		return nil, cli.Wrongf("--log %s: it is text or json", format)
	}
	handler = repeatHandler{Handler: handler, all: o.repeats}
	o.logger, o.json = slog.New(newLevelHandler(handler, from)), format == "json"
	slog.SetDefault(o.logger) // libraries log there
	return o, nil
}

// lineWriter writes log lines above the progress line.
type lineWriter struct {
	o     *output
	exact bool // the terminal obeys what is written
}

func (l lineWriter) Write(p []byte) (int, error) {
	l.o.mu.Lock()
	defer l.o.mu.Unlock()
	l.o.clear()
	if l.exact {
		return cli.Exact(l.o.w).Write(p)
	}
	return l.o.w.Write(p)
}

// Exact returns what writes the sequences of the program itself above the progress line.
func (l lineWriter) Exact() io.Writer { return lineWriter{l.o, true} }

// Unwrap returns what it writes to.
func (l lineWriter) Unwrap() io.Writer { return l.o.w }

// clear removes the progress line. o.mu is held.
func (o *output) clear() {
	if o.shown {
		fmt.Fprint(cli.Exact(o.w), "\r\x1b[K")
		o.shown = false
	}
}

// progress shows how the runs get on.
func (o *output) progress(runs []*pipeline.Run, draining bool) {
	var t totals
	for _, run := range runs {
		t.add(run.Snapshot())
	}
	o.repeats.flush(time.Now(), o.repeats.every)
	documents := t.dealtWith()
	perSecond := float64(documents) / time.Since(o.started).Seconds()
	disk := o.disk()
	if !o.line {
		facts := []any{"documents", documents, "per_second", int(perSecond), "queued", t.queued, "not_due", t.notDue, "in_flight", t.inFlight,
			"errors", t.Errors, "alerts", t.Annotations, "draining", draining}
		if draining {
			facts = append(facts, "holding", cmp.Or(holding(runs), "the stores"))
		}
		if disk.Paused {
			facts = append(facts, "paused", disk.String())
		}
		o.logger.Info("progress", facts...)
		return
	}
	text := fmt.Sprintf("%d documents  %.0f/s  %d queued%s  %d in flight  %d errors  %d alerts", documents, perSecond, t.queued, t.waiting(), t.inFlight, t.Errors, t.Annotations)
	if draining {
		text += "  finishing: " + cmp.Or(holding(runs), "waiting for the disk")
	} else {
		text += t.idle(time.Now())
	}
	if disk.Paused {
		text = disk.String() + "  " + text
	}
	o.show(text)
}

// disk is how the disk of the data directory stands.
func (o *output) disk() diskspace.State {
	if o.room == nil {
		return diskspace.State{}
	}
	return o.room.State()
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

// paused reports that the disk is full, and that it is no more.
func (o *output) paused(disk diskspace.State) {
	if disk.Paused {
		o.logger.Warn(disk.String())
		return
	}
	o.logger.Info(disk.String())
}

// exhausted reports that a store cannot open a file, and waits until it can.
func (o *output) exhausted(err error) {
	o.logger.Warn("this process may have no more files open: a store waits until it may; give it more "+
		"(ulimit -n, or LimitNOFILE= of systemd)", "limit", descriptors.Limit(), "error", err)
}

// away reports that a server is waited for, and that it is back.
func (o *output) away(err error) {
	if err != nil {
		o.logger.Warn("paused: "+err.Error(), "hint", "it goes on by itself when the database is back")
		return
	}
	o.logger.Info("the database is back: it goes on")
}

// note writes something on the terminal, or in the log.
func (o *output) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !o.line {
		o.logger.Info(text)
		return
	}
	fmt.Fprintln(cli.Prose(lineWriter{o: o}), strings.ToUpper(text[:1])+text[1:]+".")
}

// lost reports whether there was a terminal, which has gone.
func (o *output) lost() bool { return o.line && !cli.IsTerminal(o.w) }

// end takes the progress line away, and tells of what came again.
func (o *output) end() {
	o.repeats.flush(time.Now(), 0)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.clear()
}
