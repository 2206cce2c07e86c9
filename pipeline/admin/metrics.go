package admin

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/webrace/webrace/pipeline"
)

// newMetrics returns what answers a scrape: what the pipelines count anyway, read at that moment. Nothing is
// counted for it.
func (h *Handler) newMetrics() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		metrics{h}, buildInfo(),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return promhttp.HandlerFor(byNode{registry, h}, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// metrics collects what the pipelines of a handler report.
type metrics struct{ h *Handler }

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("webrace_"+name, help, labels, nil)
}

// ofStage describes what every stage has.
func ofStage(name, help string, labels ...string) *prometheus.Desc {
	return describe("stage_"+name, help, append([]string{"pipeline", "stage", "type"}, labels...)...)
}

var (
	pipelineState   = describe("pipeline_state", "1 for the state that the pipeline is in, 0 for the others.", "pipeline", "state")
	pipelineSeconds = describe("pipeline_uptime_seconds", "Since the pipeline was started.", "pipeline")
	pipelineReloads = describe("pipeline_reloads_total", "Reloads of the pipeline while it ran, by how they ended.", "pipeline", "result")
	pipelineInForce = describe("pipeline_last_reload_successful", "1 if the pipeline is as its configuration was when it was last read, or 0.", "pipeline")

	memorySize    = describe("memory_limit_bytes", "What may be in flight, of all pipelines.")
	memoryUsed    = describe("memory_used_bytes", "What is in flight: bodies and texts.")
	memoryWaiting = describe("memory_waiting_items", "Items that wait for memory.")

	itemsIn      = ofStage("items_in_total", "Items that came to the stage.")
	itemsOut     = ofStage("items_out_total", "Items that it emitted.")
	itemsFailed  = ofStage("items_failed_total", "Items that it failed on: on_error, or its port errors, took them.")
	deadLetters  = ofStage("dead_letters_total", "Items that it failed on, kept as dead letters.")
	itemsRetried = ofStage("items_retried_total", "Items that went back to their queue for another attempt.")
	itemsDropped = ofStage("items_dropped_total", "Items that it emitted to ports that lead nowhere.")
	itemsWaiting = ofStage("waiting_items", "Items in front of it now.")
	capacity     = ofStage("waiting_items_limit", "Items that may wait in front of it.")
	itemsBusy    = ofStage("busy_items", "Items in work now.")
	workers      = ofStage("workers", "Items that can be in work at once.")
	processing   = ofStage("processing_seconds", "How long its calls took; of calls under 5 µs, one in 32 is counted. The sum is off by an eighth at most.")
	counted      = ofStage("events_total", "What the stage counts itself.", "name")
	levelOf      = ofStage("level", "What the stage says of its state itself.", "name")
	starving     = ofStage("starving_items", "Items in work that wait for memory.")
	starved      = ofStage("starved_seconds_total", "How long items in work have waited for memory.")
	lag          = ofStage("lag_entries", "Entries of the store that it follows, and has not dealt with.")
)

// Describe sends what may come.
func (metrics) Describe(descs chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		pipelineState, pipelineSeconds, pipelineReloads, pipelineInForce, itemsIn, itemsOut, itemsFailed, deadLetters, itemsRetried, itemsDropped,
		itemsWaiting, capacity, itemsBusy, workers, processing, counted, levelOf, starving, starved, lag, memorySize, memoryUsed, memoryWaiting,
	} {
		descs <- d
	}
}

// lagTimeout is how long all followers together have to report how far they are behind.
const lagTimeout = time.Second

// Collect reads everything once.
func (m metrics) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), lagTimeout)
	defer cancel()
	for i, run := range m.h.pipelines() {
		if memory := run.Memory().State(); i == 0 && memory.Size > 0 { // which they share
			out <- gauge(memorySize, float64(memory.Size))
			out <- gauge(memoryUsed, float64(memory.Used))
			out <- gauge(memoryWaiting, float64(memory.Waiting))
		}
		name, report, state := run.name, run.Snapshot(), run.state()
		for _, s := range states {
			out <- gauge(pipelineState, oneIf(s == state), name, s)
		}
		out <- gauge(pipelineSeconds, report.Duration.Seconds(), name)
		reloads := run.reloads(report.Reloads, report.FailedReloads)
		out <- counter(pipelineReloads, float64(reloads.Done), name, "done")
		out <- counter(pipelineReloads, float64(reloads.Failed), name, "failed")
		out <- gauge(pipelineInForce, oneIf(reloads.InForce()), name)
		types := make(map[string]string)
		for _, stage := range run.Graph().Stages {
			types[stage.Name] = stage.Spec.Type
		}
		for stage, r := range report.Stages {
			collectStage(out, r, name, stage, types[stage])
		}
		if state == ended {
			continue // what it followed may be closed
		}
		for stage, entries := range run.Lag(ctx) {
			out <- gauge(lag, float64(entries), name, stage, types[stage])
		}
	}
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func collectStage(out chan<- prometheus.Metric, r pipeline.StageReport, labels ...string) {
	for _, c := range []struct {
		desc  *prometheus.Desc
		value int64
	}{
		{itemsIn, r.In}, {itemsOut, r.Out}, {itemsFailed, r.Errors}, {deadLetters, r.Buried},
		{itemsRetried, r.Retried}, {itemsDropped, r.Dropped},
	} {
		out <- counter(c.desc, float64(c.value), labels...)
	}
	for _, g := range []struct {
		desc  *prometheus.Desc
		value int
	}{{itemsWaiting, r.Waiting}, {capacity, r.Capacity}, {itemsBusy, r.Busy}, {workers, r.Workers}, {starving, r.Starving}} {
		out <- gauge(g.desc, float64(g.value), labels...)
	}
	out <- counter(starved, r.Starved.Seconds(), labels...)
	out <- histogramOf(r.Latency, labels...)
	for name, value := range r.Counters {
		named := append(labels[:len(labels):len(labels)], name)
		if r.Levels[name] {
			out <- gauge(levelOf, float64(value), named...)
		} else {
			out <- counter(counted, float64(value), named...)
		}
	}
}

// histogramOf has buckets of powers of four from a microsecond to a minute, where the counts are exact.
func histogramOf(l *pipeline.Latency, labels ...string) prometheus.Metric {
	buckets := make(map[float64]uint64)
	for power := 10; power <= 36; power += 2 {
		bound := time.Duration(1) << power
		buckets[bound.Seconds()] = uint64(l.Below(bound))
	}
	return prometheus.MustNewConstHistogram(processing, uint64(l.Count()), l.Sum().Seconds(), buckets, readable(labels)...)
}

func counter(d *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.CounterValue, value, readable(labels)...)
}

func gauge(d *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, readable(labels)...)
}

// readable makes labels of any names, of which the format allows those in UTF-8 alone.
func readable(labels []string) []string {
	for i, label := range labels {
		if !utf8.ValidString(label) {
			labels = slices.Clone(labels)
			labels[i] = strings.ToValidUTF8(label, "\uFFFD")
		}
	}
	return labels
}
