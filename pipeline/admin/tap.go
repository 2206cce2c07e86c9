package admin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/expression"
)

// TapQuery determines what to watch, and how much of it. As the query of an address its names are stage, port,
// where, limit, rate and body; once=1 is limit=1.
type TapQuery struct {
	Stage string // STAGE, STAGE.PORT or STAGE:in, see [pipeline.ParseTapPoint]
	Port  string // where Stage names none
	Where string // a condition; empty for everything
	Limit int    // items; 0 has no limit
	Rate  int    // items a second; 0 is 20
	Body  int    // the most bytes of a body; 0 is 4096, -1 is none
}

// TapEnd is the last line of a tap.
type TapEnd struct {
	Reason string `json:"end"`
	Passed int64  `json:"passed"` // items, since the tap was opened
	Shown  int64  `json:"shown"`
	Missed int64  `json:"missed"`           // items that were not read in time, or on which the condition took too long
	Failed bool   `json:"failed,omitempty"` // the condition could not be evaluated
}

// tapPatience is how long a line may take to be read. Only the reader waits meanwhile.
const tapPatience = time.Minute

// conditionTime is how long a condition may take on an item, which is missed then.
const conditionTime = 50 * time.Millisecond

// largest that may be asked for.
const (
	mostRate = 1000
	mostBody = 1 << 20
)

// tap shows items as they pass, until the reader goes away or the tap ends: as lines of JSON, or as
// server-sent events for a client that accepts these. An item is an event "item", the last line an event "end".
func (h *Handler) tap(w http.ResponseWriter, r *http.Request, run namedRun) {
	q, err := parseTapQuery(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	options, err := q.options(run.Run)
	if err != nil {
		http.Error(w, err.Error(), statusOf(err))
		return
	}
	tap, err := run.Tap(r.Context(), options)
	if err != nil {
		http.Error(w, err.Error(), statusOf(err))
		return
	}
	lines := newLines(w, r)
	end := TapEnd{}
	for item := range tap.C {
		var text []byte
		gone := tap.Work(r.Context(), func() { text, err = lines.encode("item", item) })
		if gone != nil || err != nil || lines.write(text) != nil {
			return // the reader is gone, and with it the context
		}
		end.Shown++
	}
	err = tap.Err()
	end.Reason, end.Passed, end.Missed, end.Failed = err.Error(), tap.Passed(), tap.Missed(), failed(err)
	if text, err := lines.encode("end", end); err == nil {
		lines.write(text)
	}
}

// failed tells an end that the client did not want.
func failed(err error) bool {
	for _, wanted := range []error{pipeline.ErrTapLimit, pipeline.ErrTapRunEnded, pipeline.ErrTapReplaced, context.Canceled} {
		if errors.Is(err, wanted) {
			return false
		}
	}
	return true
}

// statusOf tells what is not there, or too much, from what is asked for wrongly.
func statusOf(err error) int {
	if nowhere := (*pipeline.TapError)(nil); errors.As(err, &nowhere) {
		return http.StatusNotFound
	}
	if errors.Is(err, pipeline.ErrTapsFull) {
		return http.StatusTooManyRequests
	}
	return http.StatusBadRequest
}

func parseTapQuery(v url.Values) (q TapQuery, err error) {
	q = TapQuery{Stage: v.Get("stage"), Port: v.Get("port"), Where: v.Get("where")}
	for _, n := range []struct {
		name        string
		to          *int
		least, most int
	}{{"limit", &q.Limit, 0, 1 << 30}, {"rate", &q.Rate, 0, mostRate}, {"body", &q.Body, -1, mostBody}} {
		text := v.Get(n.name)
		if text == "" {
			continue
		}
		if *n.to, err = strconv.Atoi(text); err != nil || *n.to < n.least || *n.to > n.most {
			return q, fmt.Errorf("%s=%s: it is a number from %d to %d", n.name, text, n.least, n.most)
		}
	}
	if once := v.Get("once"); once != "" && once != "0" {
		q.Limit = 1
	}
	return q, nil
}

// values is what parseTapQuery reads.
func (q TapQuery) values() url.Values {
	v := url.Values{}
	for name, text := range map[string]string{"stage": q.Stage, "port": q.Port, "where": q.Where} {
		if text != "" {
			v.Set(name, text)
		}
	}
	for name, n := range map[string]int{"limit": q.Limit, "rate": q.Rate, "body": q.Body} {
		if n != 0 {
			v.Set(name, strconv.Itoa(n))
		}
	}
	return v
}

func (q TapQuery) options(run *pipeline.Run) (pipeline.TapOptions, error) {
	stage, port, err := pipeline.ParseTapPoint(q.Stage)
	if err != nil {
		return pipeline.TapOptions{}, fmt.Errorf("stage: %w", err)
	}
	o := pipeline.TapOptions{Stage: stage, Port: cmp.Or(port, q.Port), Limit: q.Limit, Rate: q.Rate, MaxBody: q.Body}
	if q.Where == "" {
		return o, nil
	}
	kinds, err := run.TapKinds(o.Stage, o.Port)
	if err != nil {
		return o, err
	}
	where, err := expression.CompileLimited(conditionTime, q.Where, kinds...)
	if err != nil {
		return o, err
	}
	o.Where = func(it *pipeline.Item) (bool, error) {
		wanted, err := where.Bool(it.Value, it.Meta)
		if errors.Is(err, expression.ErrTakesTooLong) {
			err = pipeline.ErrTapTooLong
		}
		return wanted, err
	}
	return o, nil
}

// lines writes values as lines of JSON or as server-sent events, each at once.
type lines struct {
	w       http.ResponseWriter
	control *http.ResponseController
	events  bool
}

func newLines(w http.ResponseWriter, r *http.Request) *lines {
	l := &lines{w: w, control: http.NewResponseController(w), events: strings.Contains(r.Header.Get("Accept"), "text/event-stream")}
	kind := "application/x-ndjson"
	if l.events {
		kind = "text/event-stream"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK)
	l.control.Flush() // so that the reader knows that there is a tap before anything passes
	return l
}

func (l *lines) encode(event string, value any) ([]byte, error) {
	var text bytes.Buffer
	if l.events {
		fmt.Fprintf(&text, "event: %s\ndata: ", event)
	}
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil { // ends the line, of which there is one
		return nil, err
	}
	if l.events {
		text.WriteByte('\n')
	}
	return text.Bytes(), nil
}

func (l *lines) write(text []byte) error {
	l.control.SetWriteDeadline(time.Now().Add(tapPatience)) // where that is not supported, the server's own limits hold
	if _, err := l.w.Write(text); err != nil {
		return err
	}
	return l.control.Flush()
}
