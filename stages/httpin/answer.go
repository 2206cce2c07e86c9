package httpin

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/connections"
)

// reply is the answer to a request.
type reply struct {
	status   int
	after    int  // seconds until another attempt makes sense; 0: it does not say
	stranger bool // the sender has not shown that it may come

	Items  int           `json:"items"`
	Error  string        `json:"error,omitzero"`
	Failed []itemFailure `json:"failed,omitzero"`
}

// itemFailure describes what went wrong with an item of a request.
type itemFailure struct {
	Item  int    `json:"item"` // from 0
	Error string `json:"error"`
}

// gone stands for the answer to a sender that does not wait for it any more.
var gone = new(reply)

func refuse(status int, format string, args ...any) *reply {
	return &reply{status: status, Error: fmt.Sprintf(format, args...)}
}

// answer answers one request.
func (s *stage) answer(w http.ResponseWriter, r *http.Request) {
	s.env.Counter("requests").Add(1)
	a := s.take(http.NewResponseController(w), r)
	if a == gone {
		panic(http.ErrAbortHandler) // to return would answer 200
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	if a.status == http.StatusRequestTimeout || a.stranger {
		h.Set("Connection", "close") // and the rest of the body is not waited for
		_ = http.NewResponseController(w).SetReadDeadline(time.Now())
	}
	switch {
	case a.status == http.StatusUnsupportedMediaType:
		h.Set("Accept-Encoding", "gzip")
	case a.status == http.StatusMethodNotAllowed:
		h.Set("Allow", "POST, PUT")
	case a.status == http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	case a.after > 0:
		h.Set("Retry-After", strconv.Itoa(a.after))
	}
	w.WriteHeader(a.status)
	body, _ := json.Marshal(a)
	_, _ = w.Write(append(body, '\n')) // who does not read it does not want to know
	s.count(a.status)
}

func (s *stage) count(status int) {
	name := "failed"
	switch {
	case status < 300:
		name = "answered"
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		name = "refused"
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		name = "limited"
	case status < 500:
		name = "bad"
	case status == http.StatusGatewayTimeout:
		name = "late"
	}
	s.env.Counter(name).Add(1)
}

// take takes a request, and returns what to answer.
func (s *stage) take(w *http.ResponseController, r *http.Request) *reply {
	may := s.mayCome(r)
	if may {
		if a := s.signed(r); a != nil {
			a.stranger = true
			return a
		}
		connections.Admit(r)
	}
	if a := s.admit(r, may); a != nil {
		a.stranger = !may
		return a
	}
	select {
	case s.room <- struct{}{}:
	default:
		return &reply{status: http.StatusServiceUnavailable, after: 1, Error: fmt.Sprintf("%d requests are under way, and no more are taken at once", cap(s.room))}
	}
	level := s.env.Level("in_flight")
	level.Add(1)
	defer func() {
		level.Add(-1)
		<-s.room
	}()
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(s.options.Timeout))
	defer cancel()
	d, a := s.receive(ctx, w, r)
	if a != nil {
		return a
	}
	select {
	case s.arrived <- d:
	case <-s.ended:
		d.release()
		return ending()
	case <-ctx.Done():
		d.release()
		return late(r, "the pipeline has no room for it; nothing was taken")
	}
	if d.wrong != nil {
		return refuse(http.StatusBadRequest, "%v", d.wrong)
	}
	select {
	case <-d.emitted:
	case <-ctx.Done():
		return late(r, "the pipeline has no room for it; what of it was taken goes on")
	}
	if a := d.refused(); d.accepted && a != nil {
		return a
	}
	if d.accepted {
		return &reply{status: http.StatusAccepted, Items: len(d.values)}
	}
	select {
	case <-d.done:
		if s.env.Dry { // nothing has come of it, so that its sender has to send it again
			return &reply{status: http.StatusServiceUnavailable, after: 5, Error: "this is a dry run, which keeps nothing"}
		}
		return d.reply()
	case <-ctx.Done():
		return late(r, fmt.Sprintf("not dealt with in %v; it goes on", s.options.Timeout))
	}
}

// nameOf identifies the request: by its Idempotency-Key, if the sender gives it one, so that what is sent again is
// the same.
func (s *stage) nameOf(r *http.Request) string {
	name := r.Header.Get("Idempotency-Key")
	if name == "" {
		name = rand.Text()
	}
	return s.env.Pipeline + "/" + s.env.Stage + " " + name
}

// late is the answer to a request whose time is over.
func late(r *http.Request, why string) *reply {
	if r.Context().Err() != nil {
		return gone
	}
	return &reply{status: http.StatusGatewayTimeout, after: 1, Error: why}
}

func ending() *reply {
	return &reply{status: http.StatusServiceUnavailable, after: 5, Error: "the pipeline ends, and takes nothing more"}
}

// admit refuses a request that is not for us, or not from one of ours.
func (s *stage) admit(r *http.Request, may bool) *reply {
	switch {
	case r.URL.Path != s.options.Path:
		return refuse(http.StatusNotFound, "requests are taken at %s", s.options.Path)
	case !may && s.options.Token.IsZero():
		return refuse(http.StatusForbidden, "without a token, requests are taken from programs of this machine, and not from pages that a browser shows")
	case !may:
		return refuse(http.StatusUnauthorized, "a token is needed: Authorization: Bearer TOKEN")
	case r.Method != http.MethodPost && r.Method != http.MethodPut:
		return refuse(http.StatusMethodNotAllowed, "%s brings nothing: send it by POST", r.Method)
	case r.ContentLength > int64(s.options.MaxBody):
		return s.tooLarge()
	}
	select {
	case <-s.ended:
		return ending()
	default:
	}
	if wait := s.rate.take(time.Now()); wait > 0 {
		return &reply{status: http.StatusTooManyRequests, after: int(wait/time.Second) + 1, Error: fmt.Sprintf("more than %d requests a second", s.options.Rate)}
	}
	return nil
}

func (s *stage) tooLarge() *reply {
	return refuse(http.StatusRequestEntityTooLarge, "the body is larger than %s", s.options.MaxBody)
}

// mayCome reports whether a request knows the token. Without one, it must not come from a page of another site,
// which a browser tells by the field Origin, nor by a name of such a site that leads here, unless it has to be
// signed: that is looked at later.
func (s *stage) mayCome(r *http.Request) bool {
	if token := s.options.Token.Reveal(); token != "" {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1
	}
	if s.verifier != nil {
		return true
	}
	if r.Header.Get("Origin") != "" {
		return false
	}
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	own, _, _ := net.SplitHostPort(s.options.Listen)
	return err == nil && address.IsLoopback() || err != nil && (host == "localhost" || host == own)
}

// delivery is what a request brings.
type delivery struct {
	wrong       error  // why the only value is the whole body, which is left out; nil: it is not
	values      []any  // that are not given yet: what is, is the pipeline's alone, which may be done with it before the rest
	name        string // of the request
	accepted    bool   // it is answered when its items are in the pipeline: nobody waits for their end
	contentType string
	release     func() // of the bytes of the body, which are the items' from then on

	emitted chan struct{} // closed when all are in the pipeline, or none more will be
	done    chan struct{} // closed when all that are have been dealt with

	mu     sync.Mutex
	left   int
	failed []itemFailure
	gone   bool // the run has ended, or will not have it
}

func newDelivery(values []any, name, contentType string, release func()) *delivery {
	d := &delivery{
		values: values, name: name, contentType: contentType, release: release,
		emitted: make(chan struct{}), done: make(chan struct{}), left: len(values),
	}
	if len(values) == 0 {
		close(d.done)
	}
	return d
}

// emit gives the items to the pipeline. What is not given any more has not been dealt with.
func (d *delivery) emit(ctx context.Context, out pipeline.Emitter) error {
	defer close(d.emitted)
	d.release()
	if d.wrong != nil {
		return pipeline.Reject(ctx, out, d.item(0), d.wrong)
	}
	for i := range d.values {
		if err := out.Emit(ctx, d.item(i)); err != nil {
			first := i + 1
			if d.accepted {
				first = i
			}
			for rest := first; rest < len(d.values); rest++ {
				d.end(rest, pipeline.Outcome{Err: context.Canceled})
			}
			return err
		}
	}
	return nil
}

// item takes a value out.
func (d *delivery) item(i int) *pipeline.Item {
	end := func(o pipeline.Outcome) { d.end(i, o) }
	if d.accepted { // nobody waits for it
		end = nil
	}
	it := pipeline.NewItem(d.values[i], end).From(d.name, uint64(i))
	d.values[i] = nil
	if d.contentType != "" {
		it.Meta = map[string]string{"content_type": d.contentType}
	}
	return it
}

// end notes what became of an item.
func (d *delivery) end(i int, o pipeline.Outcome) {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := o.Err
	switch {
	case errors.Is(err, context.Canceled):
		d.gone = true
	case err == nil:
		err = o.Failed
	}
	if err != nil {
		d.failed = append(d.failed, itemFailure{i, err.Error()})
	}
	if d.left--; d.left == 0 {
		close(d.done)
	}
}

// refused is the answer where the run has not taken all; nil if it has.
func (d *delivery) refused() *reply {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.gone {
		return nil
	}
	return ending()
}

// reply is the answer when all has ended.
func (d *delivery) reply() *reply {
	a := &reply{status: http.StatusOK, Items: len(d.values)}
	if len(d.failed) > 0 {
		a.status, a.Failed = http.StatusInternalServerError, d.failed
		a.Error = d.failed[0].Error
	}
	if d.gone {
		a.status, a.after = http.StatusServiceUnavailable, 5
		a.Error = "the pipeline has ended before it was dealt with"
	}
	return a
}

// bucket lets requests pass at a rate, a second's worth of them at once (a token bucket). A nil one has no limit.
type bucket struct {
	interval time.Duration
	most     time.Duration // how far ahead the next may be

	mu   sync.Mutex
	next time.Time // when the next would pass if all came evenly
}

func newBucket(rate int) *bucket {
	if rate == 0 {
		return nil
	}
	return &bucket{interval: time.Second / time.Duration(rate), most: time.Second}
}

// take returns 0 if a request may pass now, else how long it would have to wait.
func (b *bucket) take(now time.Time) time.Duration {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next.Before(now) {
		b.next = now
	}
	if ahead := b.next.Add(b.interval).Sub(now); ahead > b.most {
		return ahead - b.most
	}
	b.next = b.next.Add(b.interval)
	return 0
}
