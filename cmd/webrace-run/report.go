package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline"
)

// totals are the figures of a run that concern documents rather than stages.
type totals struct {
	Pages       int64 `json:"pages"`        // documents fetched
	NotModified int64 `json:"not_modified"` // confirmed by a 304
	Fresh       int64 `json:"fresh"`        // answered without a request
	Errors      int64 `json:"errors"`       // visits of this run that gave no document, and items that stages failed on
	Deferred    int64 `json:"deferred"`     // left for the next run: their hosts were not ready, or it was interrupted
	Bytes       int64 `json:"bytes"`        // of bodies fetched, decompressed
	Links       int64 `json:"links"`        // found on fetched documents, and what the quads of all documents lead to
	Annotations int64 `json:"annotations"`  // new ones
	Extractor   steps `json:"extractor"`

	items    int64 // that sources gave
	noURDs   bool  // a stage that starts the crawls of URDs found none
	failed   int64 // that stages failed on, or sources could not read
	buried   int64 // of these, that were kept as dead letters
	read     int64 // documents of archives
	indexed  int64
	collects bool  // garbage
	removed  int64 // versions, by that
	freed    int64 // bytes on disk
	queued   int64 // that may be handed out, as far as that is known
	notDue   int64 // that wait for their time
	inFlight int64
	next     int64 // when the next round is due, in milliseconds since 1970; 0 if none is
}

// steps are what became of the references on documents, in the order of the papers' extractor (004, section
// 4.2).
type steps struct {
	Candidates          int64 `json:"candidates"`           // references found
	IgnoredTypes        int64 `json:"ignored_types"`        // of what is no document: by scheme, by extension, by the media type of the answer
	Normalized          int64 `json:"normalized"`           // made URLs, repetitions on one document included
	FailedNormalization int64 `json:"failed_normalization"` // that are no URL: the log failed-links has them
	BlockedByRule       int64 `json:"blocked_by_rule"`      // by rules and by lists of what is blocked
	Traps               int64 `json:"traps"`                // that look like those of a trap
	BlockedByRobots     int64 `json:"blocked_by_robots"`    // by robots.txt
	New                 int64 `json:"new"`                  // accepted by the frontier
}

func (s *steps) add(c map[string]int64) {
	s.Candidates += c["candidates"]
	s.IgnoredTypes += c["ignored_scheme"] + c["refused_ignored_type"] + c["ignored_types"]
	s.Normalized += c["links"] + c["repeated"]
	s.FailedNormalization += c["invalid"]
	s.BlockedByRule += c["refused_rule"] + c["refused_blocked_domain"] + c["refused_blocked_url"]
	s.BlockedByRobots += c["robots_refused"]
	s.New += c["accepted"]
	for name, n := range c {
		if strings.HasPrefix(name, "refused_trap_") {
			s.Traps += n
		}
	}
}

// documents counts what came back, however.
func (t *totals) documents() int64 { return t.Pages + t.NotModified + t.Fresh }

// dealtWith counts the documents of a run, each once: those that came back, those that archives had, or, where
// nothing but followers runs, those that were indexed.
func (t *totals) dealtWith() int64 {
	if n := t.documents() + t.read; n > 0 {
		return n
	}
	return t.indexed
}

// add adds the figures of a pipeline. They are the counters of the shipped stages, under the names that
// those give them; a stage of another module may use the same names.
func (t *totals) add(r *pipeline.Report) {
	for _, s := range r.Stages {
		c := s.Counters
		t.Pages += c["pages"]
		t.NotModified += c["not_modified"]
		t.Fresh += c["fresh"]
		t.Errors += c["failures"] + s.Errors
		t.failed += s.Errors
		t.buried += s.Buried
		if s.In == 0 {
			t.items += s.Out
		}
		if n, counted := c["urds"]; counted {
			t.noURDs = t.noURDs || n == 0
		}
		t.Deferred += c["deferred"]
		t.Bytes += c["bytes"]
		t.Links += c["links"] + c["sitemap_urls"] + c["quad_links"]
		t.Annotations += c["annotations"]
		t.Extractor.add(c)
		t.indexed += c["indexed"]
		if freed, collects := c["freed"]; collects {
			t.collects, t.removed, t.freed = true, t.removed+c["removed"], t.freed+freed
		}
		t.read += c["documents"]
		t.queued += c["queued"] - c["not_due"]
		t.notDue += c["not_due"]
		if next := c["next_round"]; next > 0 && (t.next == 0 || next < t.next) {
			t.next = next
		}
		t.inFlight += int64(s.Busy + s.Waiting)
	}
}

// stageReport is a stage in the file that --report writes.
type stageReport struct {
	In       int64            `json:"in"`
	Out      int64            `json:"out"`
	Errors   int64            `json:"errors"`
	Dropped  int64            `json:"dropped"`
	Retried  int64            `json:"retried"`
	P50      float64          `json:"p50_ms"`
	P99      float64          `json:"p99_ms"`
	Counters map[string]int64 `json:"counters,omitempty"`
}

// runReport is a pipeline in that file.
type runReport struct {
	Pipeline string  `json:"pipeline"`
	Duration float64 `json:"duration_s"`
	Ended    string  `json:"ended,omitempty"` // why a stage ended the run before there was nothing left to do
	Dry      bool    `json:"dry,omitempty"`   // nothing of it was stored, sent or written
	totals
	Stages map[string]stageReport `json:"stages"`
}

func reportOf(r *pipeline.Report) runReport {
	out := runReport{Pipeline: r.Pipeline, Duration: r.Duration.Seconds(), Ended: r.Drained, Stages: make(map[string]stageReport)}
	out.add(r)
	for name, s := range r.Stages {
		out.Stages[name] = stageReport{
			In: s.In, Out: s.Out, Errors: s.Errors, Dropped: s.Dropped, Retried: s.Retried,
			P50: milliseconds(s.P50), P99: milliseconds(s.P99), Counters: s.Counters,
		}
	}
	return out
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// mustBeWritable refuses a place where no report can be written, before there is one.
func mustBeWritable(path string) error {
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return cli.Wrongf("--report: %w", err)
	}
	return file.Close()
}

// summed adds up the reports of sessions that ran the same pipelines, to one of each.
func summed(reports []*pipeline.Report) (sums []*pipeline.Report) {
	for _, r := range reports {
		i := slices.IndexFunc(sums, func(sum *pipeline.Report) bool { return sum.Pipeline == r.Pipeline })
		if i < 0 {
			sums = append(sums, r)
			continue
		}
		sums[i] = sums[i].Plus(r)
	}
	return sums
}

// writeReport writes one pipeline as an object, and several as a list; nothing without a path.
func writeReport(path string, reports []*pipeline.Report, dry bool) error {
	if path == "" {
		return nil
	}
	all := make([]runReport, len(reports))
	for i, r := range reports {
		all[i] = reportOf(r)
		all[i].Dry = dry
	}
	var value any = all
	if len(all) == 1 {
		value = all[0]
	}
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
