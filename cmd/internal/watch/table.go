package watch

import (
	"cmp"
	"slices"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/admin"
)

// Row is how a stage did between two snapshots, and where it stands.
type Row struct {
	Pipeline string  `json:"pipeline"`
	Stage    string  `json:"stage"`
	In       float64 `json:"in_per_s"`
	Out      float64 `json:"out_per_s"`
	Waiting  int     `json:"waiting"`
	Capacity int     `json:"capacity"`
	Working  int     `json:"working"` // items in work
	Workers  int     `json:"workers"`
	Busy     float64 `json:"busy"`     // the share of its workers' time that went into calls, 0 to 1
	Held     float64 `json:"held"`     // the share that they waited for the next stage to take what they had made
	Starving int     `json:"starving"` // items in work that wait for memory
	P50      float64 `json:"p50_ms"`
	P99      float64 `json:"p99_ms"`
	Errors   int64   `json:"errors"` // since the start
	New      int64   `json:"errors_new"`
	order    int
}

// Table is a pipeline's stages, in the order of its flow.
type Table struct {
	Name    string               `json:"name"`
	State   string               `json:"state"`
	Memory  pipeline.MemoryState `json:"memory"` // of all pipelines of the process
	For     time.Duration        `json:"-"`      // it has been running
	Seconds float64              `json:"seconds"`
	Rows    []Row                `json:"stages"`
}

// Compare makes tables of two successive snapshots. Of a pipeline or a stage that is not in the first, the
// figures are those since its start.
func Compare(before, after []admin.State) []Table {
	tables := make([]Table, 0, len(after))
	for _, now := range after {
		var was admin.State
		if i := slices.IndexFunc(before, func(s admin.State) bool { return s.Name == now.Name && s.Seconds <= now.Seconds }); i >= 0 {
			was = before[i]
		}
		tables = append(tables, compare(was, now))
	}
	return tables
}

func compare(was, now admin.State) Table {
	t := Table{Name: now.Name, State: now.State, Memory: now.Memory, Seconds: now.Seconds, For: time.Duration(now.Seconds * float64(time.Second))}
	seconds := now.Seconds - was.Seconds
	for name, s := range now.Stages {
		w := was.Stages[name]
		if w.In > s.In || w.Out > s.Out { // another stage of that name
			w = admin.StageState{}
		}
		row := Row{
			Pipeline: now.Name, Stage: name, Waiting: s.Waiting, Capacity: s.Capacity, Working: s.Busy, Workers: s.Workers, Starving: s.Starving,
			P50: s.P50, P99: s.P99, Errors: s.Errors, New: s.Errors - w.Errors, order: slices.Index(now.Flow, name),
		}
		if seconds > 0 {
			row.In, row.Out = float64(s.In-w.In)/seconds, float64(s.Out-w.Out)/seconds
			time := seconds * float64(max(s.Workers, 1))
			row.Held = share((s.Held - w.Held) / time)
			row.Busy = share((s.Spent-w.Spent-(s.Starved-w.Starved))/time - row.Held)
		}
		t.Rows = append(t.Rows, row)
	}
	slices.SortFunc(t.Rows, inFlow)
	return t
}

func inFlow(a, b Row) int {
	return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.Stage, b.Stage))
}

// share keeps a share between 0 and 1: a call that took long counts when it ends.
func share(s float64) float64 { return max(0, min(1, s)) }

// column is one of those that a table can be sorted by.
type column struct {
	name  string
	width int
	text  func(Row) string
	less  func(a, b Row) int // the largest first
}

// columns of a table after the stage's name, the most telling first: a narrow screen shows those that fit.
var columns = []column{
	{"in/s", 8, func(r Row) string { return rate(r.In) }, func(a, b Row) int { return cmp.Compare(b.In, a.In) }},
	{"out/s", 8, func(r Row) string { return rate(r.Out) }, func(a, b Row) int { return cmp.Compare(b.Out, a.Out) }},
	{"waiting", 10, func(r Row) string { return outOf(r.Waiting, r.Capacity) }, func(a, b Row) int { return cmp.Compare(fill(b.Waiting, b.Capacity), fill(a.Waiting, a.Capacity)) }},
	{"busy", 6, func(r Row) string { return percent(r.Busy) }, func(a, b Row) int { return cmp.Compare(b.Busy, a.Busy) }},
	{"held", 6, func(r Row) string { return percent(r.Held) }, func(a, b Row) int { return cmp.Compare(b.Held, a.Held) }},
	{"errors", 8, func(r Row) string { return count(r.Errors) }, func(a, b Row) int { return cmp.Compare(b.Errors, a.Errors) }},
	{"p50", 8, func(r Row) string { return milliseconds(r.P50) }, func(a, b Row) int { return cmp.Compare(b.P50, a.P50) }},
	{"p99", 8, func(r Row) string { return milliseconds(r.P99) }, func(a, b Row) int { return cmp.Compare(b.P99, a.P99) }},
	{"in work", 9, func(r Row) string { return outOf(r.Working, r.Workers) }, func(a, b Row) int { return cmp.Compare(fill(b.Working, b.Workers), fill(a.Working, a.Workers)) }},
	{"starving", 9, func(r Row) string { return count(int64(r.Starving)) }, func(a, b Row) int { return cmp.Compare(b.Starving, a.Starving) }},
}
