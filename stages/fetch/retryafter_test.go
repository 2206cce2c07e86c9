package fetch

import (
	"net/http"
	"testing"
	"time"
)

func TestRetryAfterIsASecondCountOrADate(t *testing.T) {
	t.Parallel()
	now := time.Date(2006, 1, 2, 15, 4, 5, 0, time.UTC)
	kept := func(d time.Duration) askedBack { return askedBack{wait: d} }
	cut, ignored := askedBack{wait: time.Hour, cut: true}, askedBack{ignored: true}
	for _, c := range []struct {
		value, date string
		want        askedBack
	}{
		{"7", "", kept(7 * time.Second)}, {" 7\t", "", kept(7 * time.Second)}, {"3600", "", kept(time.Hour)}, {"007", "", kept(7 * time.Second)},
		{"3601", "", cut}, {"99999999999999999999999", "", cut}, {"9223372036854775807", "", cut}, {"9223372037", "", cut},
		{"Mon, 02 Jan 2006 15:04:15 GMT", "", kept(10 * time.Second)},
		{"Monday, 02-Jan-06 15:04:15 GMT", "", kept(10 * time.Second)},
		{"Mon Jan  2 15:04:15 2006", "", kept(10 * time.Second)},
		{"Mon, 02 Jan 2106 15:04:00 GMT", "", cut},
		{"Mon, 02 Jan 2006 15:04:00 GMT", "", ignored},
		// the host's clock is a day behind, an hour ahead, or stopped
		{"Sun, 01 Jan 2006 15:04:15 GMT", "Sun, 01 Jan 2006 15:04:05 GMT", kept(10 * time.Second)},
		{"Mon, 02 Jan 2006 16:04:15 GMT", "Mon, 02 Jan 2006 16:04:05 GMT", kept(10 * time.Second)},
		{"Mon, 02 Jan 2006 15:04:15 GMT", "Mon, 02 Jan 2006 15:04:15 GMT", ignored},
		{"Mon, 02 Jan 2006 15:04:15 GMT", "Thu, 01 Jan 1970 00:00:00 GMT", cut},
		{"Mon, 02 Jan 2006 15:04:15 GMT", "today", kept(10 * time.Second)},
		{"7", "Thu, 01 Jan 1970 00:00:00 GMT", kept(7 * time.Second)},
		{"", "", ignored}, {"0", "", ignored}, {"00", "", ignored}, {"-1", "", ignored}, {"+1", "", ignored}, {"1.5", "", ignored},
		{"soon", "", ignored}, {"7s", "", ignored}, {"Mon, 32 Jan 2006 15:04:15 GMT", "", ignored}, {"7, 8", "", ignored},
	} {
		header := http.Header{"Retry-After": {c.value}}
		if c.date != "" {
			header.Set("Date", c.date)
		}
		if got := retryAfter(header, now, time.Hour); got != c.want {
			t.Errorf("%q at %q: %+v, want %+v", c.value, c.date, got, c.want)
		}
	}
	if got := retryAfter(http.Header{}, now, time.Hour); got != (askedBack{}) {
		t.Errorf("without the field: %+v", got)
	}
}

func TestRetryAfterIsCounted(t *testing.T) {
	t.Parallel()
	for value, counter := range map[string]string{
		"5": "retry_after", "0": "retry_after_ignored", "-5": "retry_after_ignored", "soon": "retry_after_ignored", "86400": "retry_after_cut",
	} {
		for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", value)
				w.WriteHeader(status)
			})
			r, all := one(t, local(), get(url+"/"))
			sum := int64(0)
			for _, name := range []string{"retry_after", "retry_after_ignored", "retry_after_cut"} {
				sum += all.counters[name]
			}
			if sum != 1 || all.counters[counter] != 1 || r.outcome.RetryAt.IsZero() {
				t.Errorf("%d, %s: counters %v", status, value, all.counters)
			}
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"120", "Fri, 31 Dec 1999 23:59:59 GMT", "", "99999999999999999999", "-5"} {
		f.Add(s, "Fri, 31 Dec 1999 23:59:00 GMT", int64(time.Hour))
	}
	f.Fuzz(func(t *testing.T, s, date string, limit int64) {
		now := time.Date(2006, 1, 2, 15, 4, 5, 0, time.UTC)
		most := time.Duration(max(0, limit))
		got := retryAfter(http.Header{"Retry-After": {s}, "Date": {date}}, now, most)
		if got.wait < 0 || got.wait > most || got.ignored && got != (askedBack{ignored: true}) || got.cut && got.wait != most {
			t.Errorf("%q at %q, at most %v: %+v", s, date, most, got)
		}
	})
}

// TestABusyRobotsTxtIsComeBackFor: a host that has too much to do has not allowed everything.
func TestABusyRobotsTxtIsComeBackFor(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"429": http.StatusTooManyRequests, "503": http.StatusServiceUnavailable} {
		url := site(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(status)
		})
		before := time.Now()
		r, all := one(t, obedient(), get(url+"/"))
		if r.outcome.RetryAt.Before(before.Add(30*time.Second)) || len(r.reports) != 1 || r.reports[0].NotBefore.Before(before.Add(30*time.Second)) ||
			all.counters["pages"] != 0 || all.counters["retry_after"] != 1 || all.counters["status_"+name] != 1 {
			t.Errorf("%s: %+v, counters %v", name, r, all.counters)
		}
	}
}
