package otlp

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// spansOf returns the spans of a line.
func spansOf(t *testing.T, line []byte) []span {
	t.Helper()
	var request struct {
		ResourceSpans []struct{ ScopeSpans []struct{ Spans []span } }
	}
	if err := json.Unmarshal(line, &request); err != nil {
		t.Fatal(err)
	}
	return request.ResourceSpans[0].ScopeSpans[0].Spans
}

func TestALeaseIsALineOfSpans(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	lease := New(1, NewFile(&out, "webrace")).Lease("webrace")
	began := time.Unix(7, 5)
	lease.Stage("fetch", &pipeline.Item{Value: map[string]any{"url": "http://a.example/"}}, began, time.Second)
	lease.Stage("index", &pipeline.Item{Value: "x"}, began, 0)
	lease.Failed("index", errors.New("no room"))
	lease.End(pipeline.Outcome{})
	if bytes.Count(out.Bytes(), []byte("\n")) != 1 {
		t.Fatalf("no single line: %q", out.String())
	}
	spans := spansOf(t, out.Bytes())
	if len(spans) != 3 {
		t.Fatalf("%d spans", len(spans))
	}
	root, fetch := spans[0], spans[1]
	if root.Name != "webrace" || root.Parent != "" || len(root.TraceID) != 32 || len(root.SpanID) != 16 || root.Status == nil || root.Status.Message != "index: no room" {
		t.Errorf("root: %+v", root)
	}
	if last := root.Attributes[len(root.Attributes)-1]; last != text("url.full", "http://a.example/") {
		t.Errorf("the lease is about %+v", last)
	}
	if fetch.Name != "fetch" || fetch.Parent != root.SpanID || fetch.TraceID != root.TraceID || fetch.Start != "7000000005" || fetch.End != "8000000005" {
		t.Errorf("fetch: %+v", fetch)
	}
	if fetch.SpanID == spans[2].SpanID {
		t.Error("two spans have one id")
	}
}

func TestAShareOfLeasesIsFollowed(t *testing.T) {
	t.Parallel()
	for share, possible := range map[float64][2]int{0: {0, 0}, 0.5: {300, 700}, 1: {1000, 1000}} {
		n, tracer := 0, New(share, NewFile(new(bytes.Buffer), "x"))
		for range 1000 {
			if tracer.Lease("p") != nil {
				n++
			}
		}
		if n < possible[0] || n > possible[1] {
			t.Errorf("of 1000 leases, %d are followed at a share of %v", n, share)
		}
	}
}

func TestALeaseThatMakesThousandsIsBounded(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	lease := New(1, NewFile(&out, "webrace")).Lease("p")
	for range 10 * mostSpans {
		lease.Stage("s", &pipeline.Item{Value: "x"}, time.Now(), 0)
	}
	lease.End(pipeline.Outcome{Err: errors.New("cancelled")})
	spans := spansOf(t, out.Bytes())
	if len(spans) != 1+mostSpans || spans[0].Attributes[1] != text("webrace.spans_left_out", "2304") || spans[0].Status.Message != "cancelled" {
		t.Errorf("%d spans, root %+v", len(spans), spans[0])
	}
}

type full struct{ writes int }

func (f *full) Write([]byte) (int, error) { f.writes++; return 0, errors.New("no space") }

func TestNothingIsWrittenAfterAFailure(t *testing.T) {
	t.Parallel()
	f := new(full)
	file := NewFile(f, "x")
	tracer := New(1, file)
	for range 3 {
		tracer.Lease("p").End(pipeline.Outcome{})
	}
	if f.writes != 1 || file.Err() == nil {
		t.Errorf("%d writes, error %v", f.writes, file.Err())
	}
}
