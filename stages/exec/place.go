package exec

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// place is where processes of the program run: by its prefix, a command that is given the program's command as its
// last arguments. Without a prefix they run here.
type place struct {
	options Options
	prefix  string
}

// places returns where the program runs.
func (o Options) places() []place {
	if len(o.On) == 0 {
		return []place{{options: o}}
	}
	places := make([]place, len(o.On))
	for i, prefix := range o.On {
		places[i] = place{o, prefix}
	}
	return places
}

// command returns what is started: the prefix and the command. ssh joins the words that it is given and has a shell
// there part them again, so they are quoted for that.
func (p place) command() []string {
	words := strings.Fields(p.prefix)
	if len(words) == 0 || filepath.Base(words[0]) != "ssh" {
		return append(words, p.options.Command...)
	}
	for _, word := range p.options.Command {
		words = append(words, quote(word))
	}
	return words
}

var plainWord = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// quote writes a word so that a POSIX shell reads it as one.
func quote(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// named puts the program, as it is started at this place, in front of an error.
func (p place) named(err error) error {
	return fmt.Errorf("%s: %w", strings.Join(slices.Concat(strings.Fields(p.prefix), p.options.Command), " "), err)
}

// option is the one that names the program that is started.
func (p place) option() string {
	if len(strings.Fields(p.prefix)) > 0 {
		return "on"
	}
	return "command"
}

// title is what logs and counters call the place.
func (p place) title() string {
	if title := strings.Join(strings.Fields(p.prefix), " "); title != "" {
		return title
	}
	return "this machine"
}

// countAt adds one to a counter of the stage, and to that of the place if there are places.
func (s *programs) countAt(p place, name string) {
	s.env.Counter(name).Add(1)
	if len(s.options.On) > 0 {
		s.env.Counter(name + " on " + p.title()).Add(1)
	}
}

// loggerAt returns a logger that names the place if there are places.
func (s *programs) loggerAt(p place) *slog.Logger {
	if len(s.options.On) == 0 {
		return s.env.Logger
	}
	return s.env.Logger.With("place", p.title())
}
