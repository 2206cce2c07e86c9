package storecmd

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage/frontier"
)

// print shows to a person what is known of a URL.
func (a *answer) print(w io.Writer, now time.Time) {
	with := ""
	if a.Secret != "" {
		with = " (with credentials " + a.Secret + ")"
	}
	fmt.Fprintf(w, "%s%s: %s\n", a.Pipeline, with, a.Because)
	for _, line := range a.lines(now) {
		fmt.Fprintf(w, "  %s\n", line)
	}
}

func (a *answer) lines(now time.Time) (lines []string) {
	add := func(when bool, format string, args ...any) {
		if when {
			lines = append(lines, fmt.Sprintf(format, args...))
		}
	}
	for _, c := range a.Crawls {
		lines = append(lines, c.sentence())
	}
	add(a.Lister != "", "listed by %s", a.Lister)
	if a.At != nil {
		lines = append(lines, a.lastAnswer())
	}
	if a.Attempts > 0 {
		line := fmt.Sprintf("failed %s in a row", wording.Count(a.Attempts, "time"))
		if s := frontier.State(a.State); s != frontier.Delayed && s != frontier.Failed { // else it is said why
			line += ": " + wording.WithoutURL(a.Error, a.URL)
		}
		lines = append(lines, line)
	}
	if d := a.Document; d != nil {
		add(d.Truncated && d.Undecoded == "", "a limit cut what is stored (fetch.max_body)")
		add(d.Undecoded != "", "its body is not all decoded: %s", d.Undecoded)
		add(d.Unread != "", "its text was not read, or not whole: %s", d.Unread)
		add(d.Canonical != "", "it declares %s to be its canonical URL", d.Canonical)
		for _, line := range d.Usage.Lines() {
			add(true, "its owner states %s", line)
		}
	}
	if len(a.Redirects) > 0 && !strings.HasPrefix(a.Error, frontier.InACircle) {
		lines = append(lines, "it leads to "+a.chain())
	}
	add(a.Paused, "its host is paused: webrace-store frontier resume")
	if a.HostAt != nil && a.HostAt.After(now) {
		add(a.HostWhy == "", "its host may be asked again at %s", wording.Moment(*a.HostAt))
		add(a.HostWhy != "", "its host may be asked again at %s: %s", wording.Moment(*a.HostAt), a.HostWhy)
	}
	seen := a.State != string(frontier.Unseen)
	waits := a.State == string(frontier.Queued) || a.State == string(frontier.Delayed)
	gated := a.gated
	add(seen && gated && waits, "it is dropped when its turn comes: %s", a.Refusal)
	add(seen && gated && !waits, "it is not accepted any more: %s", a.Refusal)
	if r := a.Rule; r != nil {
		add(!gated, "rule %d, %q, decides about it", r.Number, r.Rule)
		add(r.Comment != "", "of rule %d is said: %s", r.Number, r.Comment)
	}
	return lines
}

// chain describes where the redirects lead.
func (a *answer) chain() string {
	way, last := a.Redirects[:len(a.Redirects)-1], a.Redirects[len(a.Redirects)-1]
	if last == a.URL || slices.Contains(way, last) {
		last = "back to " + last
	}
	return strings.Join(append(slices.Clone(way), last), ", then ")
}

func (c cameFrom) sentence() string {
	start := cmp.Or(c.Start, "crawl "+c.Crawl)
	s := fmt.Sprintf("at level %d of the crawl from %s", c.Level, start)
	if c.Landing != "" {
		s += ", whose start leads to " + c.Landing
	}
	switch {
	case c.Waiting:
		s += ", which waits for it"
	case !c.Current:
		s += ", in an earlier round"
	}
	return s
}

func (a *answer) lastAnswer() string {
	s := fmt.Sprintf("last answer at %s", wording.Moment(*a.At))
	if a.Status != 0 { // as all servers of the web send one
		s += fmt.Sprintf(": status %d", a.Status)
	}
	switch d := a.Document; {
	case d != nil && d.Stored:
		s += fmt.Sprintf("; version %d is stored", d.Version)
	case d != nil:
		s += fmt.Sprintf("; version %d was stored, and is removed", d.Version)
	}
	return s
}
