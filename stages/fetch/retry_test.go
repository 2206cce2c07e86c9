package fetch

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/webrace/webrace"
)

// TestStatusesOfTheMoment: what may pass is asked for again, when the server asks for it or else at growing pauses, and
// the answer is what came of it if it is the last. Of what is asked by more than a GET it is so at once.
func TestStatusesOfTheMoment(t *testing.T) {
	t.Parallel()
	backoff := time.Duration(defaults.Backoff)
	for _, c := range []struct {
		status     int
		retryAfter string
		attempts   int
		wait       time.Duration // 0: not again
		hostWaits  bool
	}{
		{408, "", 0, backoff, false},
		{425, "", 1, backoff * backoffFactor, false},
		{500, "", 2, backoff * backoffFactor * backoffFactor, false},
		{502, "soon", 0, backoff, false},
		{504, "", 0, backoff, false},
		{500, "7", 0, 7 * time.Second, true},
		{502, "100000", 0, time.Hour, true},
		{501, "7", 0, 0, false},
		{404, "7", 0, 0, false},
	} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			if c.retryAfter != "" {
				w.Header().Set("Retry-After", c.retryAfter)
			}
			w.WriteHeader(c.status)
		})
		req := get(url + "/")
		req.Visit = &webrace.Visit{Attempts: c.attempts, Status: 200}
		before := time.Now()
		r, all := one(t, local(), req)
		after := time.Now()
		if again := c.wait > 0; errors.Is(r.outcome.Err, webrace.ErrAnswered) != again || r.outcome.RetryAt.IsZero() == again {
			t.Errorf("%+v: %+v", c, r.outcome)
		} else if at := r.outcome.RetryAt; again && (at.Before(before.Add(c.wait)) || at.After(after.Add(c.wait))) {
			t.Errorf("%+v: again at %v, asked at %v", c, at, before)
		}
		if r.visit.Status != c.status || r.visit.Error == "" || len(r.documents) != 0 {
			t.Errorf("%+v: learned %+v", c, r.visit)
		}
		if len(r.reports) != 1 || r.reports[0].NotBefore.Before(before.Add(c.wait)) == c.hostWaits {
			t.Errorf("%+v: reports %+v", c, r.reports)
		}
		if all.counters["status_"+strconv.Itoa(c.status)] != 1 || all.counters["network_failures"] != 0 {
			t.Errorf("%+v: counters %v", c, all.counters)
		}
	}
}

func TestTheStatusesOfTheMomentAreAnOption(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	o := local()
	o.Retry = slices.DeleteFunc(slices.Clone(o.Retry), func(status int) bool { return status == 500 })
	if r, _ := one(t, o, get(url)); r.outcome.Err != nil || r.visit.Status != 500 {
		t.Errorf("%+v", r)
	}
	o.Retry = []int{200}
	if err := o.Validate(); err == nil {
		t.Error("200 is taken for a status of an error")
	}
}
