// Package otlp tells what happens to items as OpenTelemetry spans: one for a lease, and below it one for each
// call of a stage. It tells of a lease when that ends, whole or not at all.
//
// A [File] gets a line of OTLP JSON for each lease, which is what the file receiver of the OpenTelemetry
// Collector reads (otlpjsonfile). A [Collector] is sent them by OTLP over HTTP, as JSON, and is never waited
// for: what it does not take in time is left out, and counted.
package otlp

import (
	"crypto/rand"
	"encoding/hex"
	mathrand "math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
)

// mostSpans is how many stages' spans of one lease are told: a page may lead to thousands.
const mostSpans = 256

// Tracer follows a share of all leases. It may be used by many goroutines at once.
type Tracer struct {
	share float64
	to    []Sink
}

// Sink is where spans go: a [File] or a [Collector].
type Sink interface {
	take(lease []span) // which is not changed any more
}

var _ pipeline.Tracer = (*Tracer)(nil)

// New returns a tracer that follows a share of leases, from 0 to 1.
func New(share float64, to ...Sink) *Tracer { return &Tracer{share, to} }

// Lease follows one lease, or not.
func (t *Tracer) Lease(name string) pipeline.Trace {
	if mathrand.Float64() >= t.share {
		return nil
	}
	return &trace{tracer: t, pipeline: name, id: random(16), root: random(8), began: time.Now()}
}

// trace is a lease that is followed.
type trace struct {
	tracer   *Tracer
	pipeline string
	id, root string
	began    time.Time

	mu      sync.Mutex
	spans   []span
	left    int // spans that were too many
	failure string
	about   string // the URL that the lease is about
}

func (t *trace) Stage(stage string, it *pipeline.Item, began time.Time, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.about == "" {
		t.about, _ = codec.Fields(it.Value, "url")["url"].(string)
	}
	if len(t.spans) == mostSpans {
		t.left++
		return
	}
	t.spans = append(t.spans, span{
		TraceID: t.id, SpanID: random(8), Parent: t.root, Name: stage, Kind: internal,
		Start: nanos(began), End: nanos(began.Add(took)), Attributes: []attribute{text("webrace.stage", stage)},
	})
}

func (t *trace) Failed(stage string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failure == "" {
		t.failure = stage + ": " + err.Error()
	}
}

func (t *trace) End(o pipeline.Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	root := span{
		TraceID: t.id, SpanID: t.root, Name: t.pipeline, Kind: internal, Start: nanos(t.began), End: nanos(time.Now()),
		Attributes: []attribute{text("webrace.pipeline", t.pipeline)},
	}
	if t.left > 0 {
		root.Attributes = append(root.Attributes, text("webrace.spans_left_out", strconv.Itoa(t.left)))
	}
	if t.about != "" {
		root.Attributes = append(root.Attributes, text("url.full", t.about))
	}
	if t.failure == "" && o.Err != nil {
		t.failure = o.Err.Error()
	}
	if t.failure != "" {
		root.Status = &status{Code: failed, Message: t.failure}
	}
	spans := append([]span{root}, t.spans...)
	for _, sink := range t.tracer.to {
		sink.take(spans)
	}
}

// random returns so many random bytes in hexadecimal digits.
func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // which never fails
	return hex.EncodeToString(b)
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }
