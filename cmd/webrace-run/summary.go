package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
)

// summarize tells a person what a session did and where to look next.
func summarize(w io.Writer, dir *storage.Dir, reports []*pipeline.Report) {
	for _, r := range reports {
		var t totals
		t.add(r)
		fmt.Fprintf(w, "%s: %s in %s\n", r.Pipeline, t.sentence(), r.Duration.Round(time.Millisecond))
		for _, line := range t.remarks() {
			fmt.Fprintln(w, "  "+line)
		}
		listFailures(w, dir, r.Pipeline)
	}
}

// sentence says what came of a pipeline.
func (t *totals) sentence() string {
	switch {
	case t.documents() > 0:
	case t.read > 0:
		return strings.Join([]string{cli.Count(t.read, "document") + " read", cli.Count(t.Annotations, "annotation"), cli.Count(t.Errors, "error")}, ", ")
	case t.indexed > 0:
		return cli.Count(t.indexed, "document") + " indexed"
	case t.Errors > 0:
		return cli.Count(t.items, "item") + ", " + cli.Count(t.Errors, "error")
	case t.items > 0:
		return cli.Count(t.items, "item")
	default:
		return "nothing new"
	}
	s := fmt.Sprintf("%s (%s)", cli.Count(t.Pages, "page"), size(t.Bytes))
	if t.NotModified > 0 {
		s += fmt.Sprintf(", %d not modified", t.NotModified)
	}
	if t.Fresh > 0 {
		s += fmt.Sprintf(", %d from the store", t.Fresh)
	}
	return strings.Join([]string{s, cli.Count(t.Links, "link"), cli.Count(t.Annotations, "annotation"), cli.Count(t.Errors, "error")}, ", ")
}

func (t *totals) remarks() []string {
	var remarks []string
	if t.Deferred > 0 {
		remarks = append(remarks, cli.Count(t.Deferred, "URL")+" left for the next run, which goes on from here")
	}
	if t.failed > 0 {
		remarks = append(remarks, cli.Count(t.failed, "item")+" could not be processed; webrace-store dlq list shows what was kept of them")
	}
	if t.broken > 0 {
		remarks = append(remarks, cli.Count(t.broken, "broken record")+" passed over; the log says where")
	}
	if t.Fresh > t.Pages+t.NotModified {
		remarks = append(remarks, "a document validated a moment ago is not asked for again; --set frontier.fresh=0s asks for all")
	}
	return remarks
}

// idle says when the next round is due, while nothing is being done.
func (t *totals) idle(now time.Time) string {
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

// listFailures shows some of the URLs that gave no document.
func listFailures(w io.Writer, dir *storage.Dir, pipeline string) {
	store, err := dir.Frontier()
	if err != nil {
		return
	}
	failures, total, err := store.Failures(context.Background(), pipeline, shownFailures)
	if err != nil || total == 0 {
		return
	}
	fmt.Fprintf(w, "  %s gave no document:\n", cli.Count(total, "URL"))
	for _, f := range failures {
		fmt.Fprintf(w, "    %s: %s\n", f.URL, f.Visit.Error)
	}
	if total > len(failures) {
		fmt.Fprintln(w, "    … webrace-store frontier failed lists them all")
	}
}

// size writes a number of bytes for a person.
func size(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, prefix := float64(n)/unit, 0
	for value >= unit && prefix < 3 {
		value /= unit
		prefix++
	}
	return fmt.Sprintf("%.1f %ciB", value, "KMGT"[prefix])
}
