package admin

import (
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/webrace/webrace/pipeline"
)

// busy returns a handler with a pipeline that something has gone through.
func busy(t *testing.T) (*Handler, *pipeline.Run) {
	t.Helper()
	run := start(t, busyGraph("toy", toyOptions{}))
	awaitFlow(t, run)
	h := New()
	h.Show(map[string]*pipeline.Run{"toy": run})
	return h, run
}

func TestMetricsAreWhatPrometheusReads(t *testing.T) {
	t.Parallel()
	h, run := busy(t)
	run.Drain()
	if _, err := run.Wait(); err != nil { // then the numbers stand still
		t.Fatal(err)
	}
	status, body := ask(t, h, http.MethodGet, "/metrics")
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	if status != http.StatusOK || err != nil {
		t.Fatalf("status %d, %v", status, err)
	}
	for name, want := range map[string]dto.MetricType{
		"webrace_pipeline_state": dto.MetricType_GAUGE, "webrace_pipeline_uptime_seconds": dto.MetricType_GAUGE,
		"webrace_pipeline_reloads_total": dto.MetricType_COUNTER, "webrace_pipeline_last_reload_successful": dto.MetricType_GAUGE,
		"webrace_stage_items_in_total": dto.MetricType_COUNTER, "webrace_stage_items_out_total": dto.MetricType_COUNTER,
		"webrace_stage_items_failed_total": dto.MetricType_COUNTER, "webrace_stage_dead_letters_total": dto.MetricType_COUNTER,
		"webrace_stage_items_retried_total": dto.MetricType_COUNTER, "webrace_stage_items_dropped_total": dto.MetricType_COUNTER,
		"webrace_stage_waiting_items": dto.MetricType_GAUGE, "webrace_stage_waiting_items_limit": dto.MetricType_GAUGE,
		"webrace_stage_busy_items": dto.MetricType_GAUGE, "webrace_stage_workers": dto.MetricType_GAUGE,
		"webrace_stage_processing_seconds": dto.MetricType_HISTOGRAM, "webrace_stage_events_total": dto.MetricType_COUNTER,
		"webrace_stage_level": dto.MetricType_GAUGE, "webrace_build_info": dto.MetricType_GAUGE,
		"go_goroutines": dto.MetricType_GAUGE,
	} {
		if f := families[name]; f == nil || f.GetType() != want {
			t.Errorf("%s is %v, want a %v", name, f, want)
		}
	}
	report := run.Snapshot().Stages
	if got := value(families["webrace_stage_items_in_total"], "work").GetCounter().GetValue(); got != float64(report["work"].In) || got == 0 {
		t.Errorf("%v items came to work, want %d", got, report["work"].In)
	}
	if got := value(families["webrace_stage_events_total"], "queue").GetCounter().GetValue(); got != float64(report["queue"].Counters["handed_out"]) {
		t.Errorf("the queue counts %v, want %d", got, report["queue"].Counters["handed_out"])
	}
	if got := value(families["webrace_stage_level"], "queue").GetGauge().GetValue(); got != 1234 {
		t.Errorf("the level is %v", got)
	}
	histogram := value(families["webrace_stage_processing_seconds"], "work").GetHistogram()
	if histogram.GetSampleCount() != uint64(report["work"].Latency.Count()) || histogram.GetSampleCount() == 0 || histogram.GetSampleSum() <= 0 {
		t.Errorf("the histogram is %v", histogram)
	}
	last := uint64(0)
	for _, b := range histogram.GetBucket() {
		if b.GetCumulativeCount() < last || math.IsInf(b.GetUpperBound(), 1) && b.GetCumulativeCount() != histogram.GetSampleCount() {
			t.Errorf("bucket %v after %d", b, last)
		}
		last = b.GetCumulativeCount()
	}
	for _, m := range families["webrace_pipeline_state"].GetMetric() {
		if want := oneIf(labelOf(m, "state") == "ended"); m.GetGauge().GetValue() != want {
			t.Errorf("state %v", m)
		}
	}
	if families["webrace_stage_lag_entries"] != nil {
		t.Error("a pipeline that has ended is asked for its lag")
	}
}

// value returns the metric of a stage.
func value(f *dto.MetricFamily, stage string) *dto.Metric {
	for _, m := range f.GetMetric() {
		if labelOf(m, "stage") == stage && labelOf(m, "pipeline") == "toy" {
			return m
		}
	}
	return nil
}

func labelOf(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

func TestMetricsKeepPrometheusConventions(t *testing.T) {
	t.Parallel()
	h, _ := busy(t)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(metrics{h}, buildInfo())
	problems, err := testutil.GatherAndLint(registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	if n := testutil.CollectAndCount(metrics{h}, "webrace_stage_lag_entries"); n != 1 {
		t.Errorf("%d stages tell their lag, want 1", n)
	}
}

func TestMetricsTakeNamesThatAreNoText(t *testing.T) {
	t.Parallel()
	run := start(t, busyGraph("no \xff text", toyOptions{}))
	h := New()
	h.Show(map[string]*pipeline.Run{"no \xff text": run})
	status, body := ask(t, h, http.MethodGet, "/metrics")
	if status != http.StatusOK || !strings.Contains(body, `pipeline="no � text"`) {
		t.Errorf("status %d: %.300s", status, body)
	}
}

// BenchmarkScrape measures what a scrape of a pipeline costs.
func BenchmarkScrape(b *testing.B) {
	run, err := busyGraph("toy", toyOptions{}).Start(b.Context(), pipeline.RunOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { run.Cancel(); <-run.Done() }()
	registry := prometheus.NewRegistry()
	h := New()
	h.Show(map[string]*pipeline.Run{"toy": run})
	registry.MustRegister(metrics{h})
	for b.Loop() {
		if _, err := registry.Gather(); err != nil {
			b.Fatal(err)
		}
	}
}
