package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/terminal"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/stages/writefile"
	"github.com/webrace/webrace/storage/frontier"
)

// summarize tells a person what a session did and where to look next; after a dry run there is nothing to look at. Why
// starts were not answered is in the error of the command.
func summarize(w io.Writer, sessions []*session, loaded *config.Config, reports []*pipeline.Report, unanswered unansweredStarts, dry bool) {
	w = cli.Prose(w)
	if dry {
		fmt.Fprintln(w, "This was a dry run: nothing was stored, sent or written.")
	}
	for _, r := range reports {
		var t totals
		t.add(r)
		fmt.Fprintf(w, "%s: %s in %s\n", r.Pipeline, t.sentence(), r.Duration.Round(time.Millisecond))
		if r.Drained != "" {
			fmt.Fprintln(w, "  ended: "+r.Drained)
		}
		remarks, more := append(t.remarks(), filesOf(loaded, r)...), ": webrace-store frontier failed"
		if dry {
			remarks, more = nil, ""
		}
		if t.lacksURDs() {
			remarks = append(remarks, "there is no URD to crawl for: webrace-store urd add stores one, and --urds FILE imports some")
		}
		if r.Lost > 0 {
			remarks = append(remarks, wording.Count(r.Lost, "item")+" in flight had a source that does not wait for their end: what it does not read again is lost")
		}
		for _, line := range remarks {
			fmt.Fprintln(w, "  "+line)
		}
		listFailures(w, sessions, r.Pipeline, unanswered.has(r.Pipeline), more)
	}
}

// sentence describes what came of a pipeline.
func (t *totals) sentence() string {
	switch {
	case t.read > 0:
		return strings.Join([]string{wording.Count(t.read, "document") + " read", wording.Count(t.Annotations, "annotation"), wording.Count(t.Errors, "error")}, ", ")
	case t.documents() > 0:
	case t.indexed > 0:
		return wording.Count(t.indexed, "document") + " indexed"
	case t.collects:
		return wording.Count(t.removed, "version") + " removed, " + terminal.Size(t.freed) + " given back"
	case t.Errors > 0:
		return wording.Count(t.items, "item") + ", " + wording.Count(t.Errors, "error")
	case t.items > 0:
		return wording.Count(t.items, "item")
	default:
		return "nothing new"
	}
	s := fmt.Sprintf("%s (%s)", wording.Count(t.Pages, "page"), terminal.Size(t.Bytes))
	if t.NotModified > 0 {
		s += fmt.Sprintf(", %d not modified", t.NotModified)
	}
	if t.Fresh > 0 {
		s += fmt.Sprintf(", %d from the store", t.Fresh)
	}
	return strings.Join([]string{s, wording.Count(t.Links, "link"), wording.Count(t.Annotations, "annotation"), wording.Count(t.Errors, "error")}, ", ")
}

func (t *totals) remarks() []string {
	var remarks []string
	if t.Deferred > 0 {
		remarks = append(remarks, wording.Count(t.Deferred, "URL")+" left for the next run, which goes on from here")
	}
	if t.failed > 0 {
		remark := wording.Count(t.failed, "item") + " could not be processed"
		if t.buried > 0 {
			remark += "; webrace-store dlq list shows what was kept of them"
		}
		remarks = append(remarks, remark)
	}
	if t.Fresh > t.Pages+t.NotModified {
		remarks = append(remarks, "a document validated a moment ago is not asked for again; --set frontier.fresh=0s asks for all")
	}
	return remarks
}

// lacksURDs reports whether nothing was crawled, because there was no URD and no other source to crawl for.
func (t *totals) lacksURDs() bool { return t.noURDs && t.items+t.documents() == 0 }

// filesOf lists which files a pipeline wrote to.
func filesOf(loaded *config.Config, r *pipeline.Report) (lines []string) {
	graph, err := loaded.Graph(r.Pipeline)
	if err != nil {
		return nil
	}
	for _, stage := range graph.Stages {
		to, isFile := stage.Options.(writefile.Options)
		if counted := r.Stages[stage.Name]; isFile && counted.In > counted.Errors {
			lines = append(lines, wording.Count(counted.In-counted.Errors, "item")+" written to "+to.Path)
		}
	}
	return lines
}

// waiting tells how many URLs are queued that are not due yet.
func (t *totals) waiting() string {
	if t.notDue == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d not due)", t.notDue)
}

// idle tells what is waited for while nothing is being done: a URD, or when the next round is due.
func (t *totals) idle(now time.Time) string {
	if t.lacksURDs() && t.inFlight == 0 {
		return "  waiting for a URD to crawl for"
	}
	wait := time.UnixMilli(t.next).Sub(now)
	if t.next == 0 || t.inFlight > 0 || wait <= 0 {
		return ""
	}
	unit := time.Second
	if wait > time.Minute {
		unit = time.Minute
	}
	wait = (wait + unit - 1).Truncate(unit)
	text := wait.String()
	if unit == time.Minute {
		text = strings.TrimSuffix(text, "0s")
	}
	return "  next round in " + text
}

// shownFailures is how many failed URLs a summary lists.
const shownFailures = 5

// listFailures shows some of the URLs that gave no document in the run: the starts first, for what was wanted of the
// run began there, unless they are told of elsewhere. All is where the others are to be found.
func listFailures(w io.Writer, sessions []*session, pipeline string, startsTold bool, all string) {
	first, total := lastFailures(sessions, pipeline)
	var lines []string
	started, said := make(map[string]bool), make(map[string]bool)
	for start, err := range lastStarts(sessions, pipeline) {
		if err != nil {
			return
		}
		url := start.Crawl.Start
		if start.Failed == "" || started[url] {
			continue
		}
		started[url], said[start.Failed] = true, true
		if !startsTold {
			lines = append(lines, url+": "+wording.WithoutURL(start.Failed, url))
		}
		if !slices.ContainsFunc(first, func(f frontier.Failure) bool { return f.URL == url }) {
			total++ // it was refused, or is tried again in the next run
		}
	}
	slices.SortFunc(first, func(a, b frontier.Failure) int { return strings.Compare(a.URL, b.URL) })
	for _, f := range first {
		switch {
		case started[f.URL]:
		case said[f.Visit.Error] && f.Visit.Answer() < 400: // a start leads there, and says so
			total--
		default:
			lines = append(lines, f.URL+": "+wording.WithoutURL(f.Visit.Error, f.URL))
		}
	}
	told := 0
	if startsTold {
		told = len(started)
	}
	shown := lines[:min(len(lines), shownFailures)]
	switch total = max(total, told+len(lines)); {
	case total == 0:
		return
	case len(shown) == 0:
		fmt.Fprintf(w, "  %s gave no document\n", wording.Count(total, "URL"))
	default:
		fmt.Fprintf(w, "  %s gave no document:\n", wording.Count(total, "URL"))
	}
	for _, line := range shown {
		fmt.Fprintln(w, "    "+line)
	}
	if more := total - told - len(shown); more > 0 {
		fmt.Fprintf(w, "    … and %d more%s\n", more, all)
	}
}

// lastFailures returns some of the URLs that gave no document in a pipeline's last run, and how many there are.
func lastFailures(sessions []*session, pipeline string) (first []frontier.Failure, total int) {
	for _, s := range sessions {
		store, err := s.dir.Frontier()
		if err != nil {
			continue // which the run has told of
		}
		some, n := store.LastFailures(pipeline)
		first, total = append(first, some...), total+n
	}
	return first, total
}
