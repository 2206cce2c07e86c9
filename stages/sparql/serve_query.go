package sparql

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/sparql"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/quads"
)

// allowed are the methods of the endpoint.
const allowed = "GET, HEAD, POST, OPTIONS"

// What clients that are turned away wait for, in seconds.
const (
	busyAfter   = 1
	endingAfter = 5
)

// answerTime is how long the client may take to read the end of an answer.
const answerTime = 10 * time.Second

var (
	errBusy   = errors.New("as many queries run and wait as may: come again")
	errEnding = errors.New("the endpoint ends, and takes no queries any more")
)

// serve answers one request.
func (s *stage) serve(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path != s.options.Path:
		http.Error(w, "queries are answered at "+s.options.Path, http.StatusNotFound)
		return
	case r.Method == http.MethodOptions:
		w.Header().Set("Allow", allowed)
		w.Header().Set("Accept-Post", formType+", "+queryType)
		w.WriteHeader(http.StatusNoContent)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
		w.Header().Set("Allow", allowed)
		http.Error(w, "a query is sent by GET or POST, and not by "+r.Method, http.StatusMethodNotAllowed)
		return
	}
	ended, leave, ok := s.enter()
	if !ok {
		s.refuse(w, errEnding)
		return
	}
	defer leave()
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	default:
		s.refuse(w, errBusy)
		return
	}
	s.answer(w, r, ended)
}

// answer reads a request and answers it. It has a place.
func (s *stage) answer(w http.ResponseWriter, r *http.Request, ended <-chan struct{}) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.run, cancel)() // a run that is cancelled does not wait for queries

	began := time.Now()
	out := &holder{w: w, head: r.Method == http.MethodHead, chunked: r.ProtoAtLeast(1, 1)}
	a := &asked{out: out}
	a.err = s.ask(ctx, r, ended, a)
	status, aborted := s.finish(w, r, a)
	if a.question != nil && a.question.isQuery {
		select {
		case s.records <- a.record(status, time.Since(began)):
		default: // nobody waits for an answer because records do
			s.env.Counter("unrecorded").Add(1)
		}
	}
	if aborted {
		panic(http.ErrAbortHandler) // to return would tell the client that it has the whole
	}
}

// asked is what became of a request.
type asked struct {
	question *question
	query    *sparql.Query
	format   format
	out      *holder
	rows     int64
	kept     int64
	err      error
}

// ask reads the request, waits for its turn and writes the answer.
func (s *stage) ask(ctx context.Context, r *http.Request, ended <-chan struct{}, a *asked) (err error) {
	if a.question, err = read(r); err != nil {
		return err
	}
	if a.question.isQuery {
		at, err := s.at(r)
		if err != nil {
			return err
		}
		if a.query, err = sparql.Parse(a.question.text, at); err != nil {
			return refuse(http.StatusBadRequest, "%v", err)
		}
		a.query = a.query.WithDataset(a.question.defaults, a.question.named)
	}
	if a.format, err = negotiate(r.Header.Values("Accept"), offersOf(a.query)); err != nil {
		return err
	}
	done, err := s.turn(ctx, ended)
	if err != nil {
		return err
	}
	defer done()
	deadline := time.Now().Add(time.Duration(s.options.Timeout) + answerTime)
	if err := http.NewResponseController(a.out.w).SetWriteDeadline(deadline); err != nil {
		return err
	}
	now, err := s.quads.Snapshot()
	if err != nil {
		return err
	}
	defer now.Close()
	if err := a.checkState(r, now); err != nil {
		return err
	}
	if a.query == nil {
		return s.describe(ctx, r, now, a)
	}
	return a.write(ctx, now, s.options.limits())
}

// turn waits until fewer queries run than may.
func (s *stage) turn(ctx context.Context, ended <-chan struct{}) (done func(), err error) {
	waiting, running := s.env.Level("waiting"), s.env.Level("running")
	waiting.Add(1)
	defer waiting.Add(-1)
	select {
	case s.turns <- struct{}{}:
		running.Add(1)
		return func() {
			running.Add(-1)
			<-s.turns
		}, nil
	case <-ended:
		return nil, errEnding
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// write asks the query and writes the answer.
func (a *asked) write(ctx context.Context, d *quads.Snapshot, limits sparql.Limits) error {
	results, err := a.query.Run(ctx, d, limits)
	if err == nil {
		err = writeResults(a.out, a.format, results, &a.rows)
		a.kept = results.Kept()
	}
	var limit *sparql.LimitError
	if errors.As(err, &limit) {
		return fmt.Errorf("%w: ask for less, or raise the options timeout or memory of the stage", err)
	}
	return err
}

// finish ends the answer. It is aborted if a part of it is sent that is not followed by the rest.
func (s *stage) finish(w http.ResponseWriter, r *http.Request, a *asked) (status int, aborted bool) {
	if a.err == nil {
		a.err = a.out.finish()
	}
	count := func(name string) { s.env.Counter(name).Add(1) }
	switch {
	case errors.Is(a.err, errNotModified):
		a.err = nil
		count("unchanged")
		w.WriteHeader(http.StatusNotModified)
		return http.StatusNotModified, false
	case a.err == nil, errors.Is(a.err, errHead):
		a.err = nil
		count("answered")
		return http.StatusOK, false
	case r.Context().Err() != nil:
		count("gone")
		return 0, true
	case a.out.sent:
		count("cut")
		return http.StatusOK, true
	}
	return s.refuse(w, a.err), false
}

// refuse answers by an error. Nothing of another answer may have been written.
func (s *stage) refuse(w http.ResponseWriter, err error) (status int) {
	h := w.Header()
	for _, name := range []string{"ETag", "Content-Length"} {
		h.Del(name)
	}
	h.Set("Cache-Control", "no-store")
	status, counter := statusOf(err), "failed"
	switch {
	case errors.Is(err, errBusy):
		counter = "busy"
		h.Set("Retry-After", strconv.Itoa(busyAfter))
	case status == http.StatusServiceUnavailable:
		counter = "busy"
		h.Set("Retry-After", strconv.Itoa(endingAfter))
	case status < 500:
		counter = "wrong"
	}
	s.env.Counter(counter).Add(1)
	http.Error(w, err.Error(), status)
	return status
}

// statusOf returns the status for what is wrong: 400 of a query that is none, 500 of one that could not be
// answered (SPARQL 1.1 Protocol, section 2.1.7).
func statusOf(err error) int {
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		return refused.status
	case errors.Is(err, errBusy), errors.Is(err, errEnding), errors.Is(err, quads.ErrClosed), errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// record describes what became of a query.
func (a *asked) record(status int, took time.Duration) pipeline.Record {
	r := pipeline.Record{
		"query": beginning(a.question.text), "status": float64(status), "seconds": took.Seconds(), "rows": float64(a.rows), "bytes": float64(a.out.n),
		"kept": float64(a.kept),
	}
	if a.query != nil {
		r["form"], r["format"] = formNames[a.query.Form()], a.format.media
	}
	if a.err != nil {
		r["error"] = a.err.Error()
	}
	return r
}

// mostRecorded is how much of the text of a query its record has, in bytes.
const mostRecorded = 16 << 10

func beginning(text string) string {
	if len(text) <= mostRecorded {
		return text
	}
	return strings.ToValidUTF8(text[:mostRecorded], "") + "…"
}

var formNames = map[sparql.Form]string{sparql.Select: "select", sparql.Ask: "ask", sparql.Construct: "construct", sparql.Describe: "describe"}
