package main

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// repeats sums up what is logged of the same error of the same stage, as of one that fails on every document: the
// first is logged as it is, and how often it came again every so often, and in the end. Errors that differ in URLs
// and numbers alone are the same, and so are all of a stage after the first few: what it was given stands in them
// mostly.
type repeats struct {
	every time.Duration // between two counts of one error

	mu   sync.Mutex
	seen map[repeated]*repetition
	of   map[repeated]int // how many errors a stage has logged with a message
}

// repeated is what records have in common that are summed up. An error that is empty is any.
type repeated struct{ stage, message, err string }

// repetition is how often a record came again since it was last told.
type repetition struct {
	handler slog.Handler
	level   slog.Level
	err     string // of the last
	times   int
	told    time.Time
}

const (
	// mostRepeated is how many errors are known at a time. Who has more has told all that came again.
	mostRepeated = 1000
	// shownErrors is how many errors of a stage are logged with a message before all others are the same.
	shownErrors = 3
)

func newRepeats(every time.Duration) *repeats {
	return &repeats{every: every, seen: make(map[repeated]*repetition), of: make(map[repeated]int)}
}

// isAgain reports whether a record has come before, and counts it then.
func (r *repeats) isAgain(of repeated, err string, h slog.Handler, level slog.Level, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	other := repeated{stage: of.stage, message: of.message}
	known := r.seen[of]
	if known == nil && r.of[other] < shownErrors {
		if len(r.seen) >= mostRepeated {
			r.tellAll(now, 0)
			clear(r.seen)
			clear(r.of)
		}
		r.seen[of] = &repetition{handler: h, level: level, told: now}
		r.of[other]++
		return false
	}
	if known == nil {
		if known = r.seen[other]; known == nil {
			known = &repetition{handler: h, level: level, told: now}
			r.seen[other] = known
		}
	}
	known.err = err
	if known.times++; now.Sub(known.told) >= r.every {
		known.tell(of.message, now)
	}
	return true
}

// flush tells of what came again and has not been told for as long.
func (r *repeats) flush(now time.Time, since time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tellAll(now, since)
}

// tellAll is flush; r.mu is held.
func (r *repeats) tellAll(now time.Time, since time.Duration) {
	for _, of := range slices.SortedFunc(maps.Keys(r.seen), repeated.compare) {
		if known := r.seen[of]; known.times > 0 && now.Sub(known.told) >= since {
			known.tell(of.message, now)
		}
	}
}

func (of repeated) compare(other repeated) int {
	return cmp.Or(strings.Compare(of.stage, other.stage), strings.Compare(of.message, other.message), strings.Compare(of.err, other.err))
}

func (n *repetition) tell(message string, now time.Time) {
	record := slog.NewRecord(now, n.level, message+", again", 0)
	record.AddAttrs(slog.String("error", n.err), slog.Int("times", n.times))
	n.handler.Handle(context.Background(), record) // a log that cannot be written cannot be told of
	n.times, n.told = 0, now
}

var numbers = regexp.MustCompile(`[0-9]+`)

// repeatHandler passes on records but those that are summed up: warnings and errors that tell what was wrong.
type repeatHandler struct {
	slog.Handler
	all   *repeats
	stage string
}

func (h repeatHandler) Handle(ctx context.Context, r slog.Record) error {
	of := repeated{stage: h.stage, message: r.Message}
	url := ""
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "error":
			of.err = a.Value.String()
		case "url":
			url = a.Value.String()
		}
		return true
	})
	if of.err == "" || r.Level < slog.LevelWarn {
		return h.Handler.Handle(ctx, r)
	}
	if url != "" {
		of.err = strings.ReplaceAll(of.err, url, "…")
	}
	err := of.err
	of.err = numbers.ReplaceAllString(of.err, "#")
	if h.all.isAgain(of, err, h.Handler, r.Level, r.Time) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h repeatHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		if a.Key == "stage" {
			h.stage = a.Value.String()
		}
	}
	h.Handler = h.Handler.WithAttrs(attrs)
	return h
}

func (h repeatHandler) WithGroup(name string) slog.Handler {
	h.Handler = h.Handler.WithGroup(name)
	return h
}
