package fetch

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
)

func TestFreshnessIsWhatTheServerSays(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	hour := http.Header{"Expires": {"Sat, 21 Nov 2026 13:00:00 GMT"}, "Date": {"Sat, 21 Nov 2026 12:00:00 GMT"}}
	with := func(more ...string) http.Header {
		h := hour.Clone()
		for i := 0; i < len(more); i += 2 {
			h.Add(more[i], more[i+1])
		}
		return h
	}
	for _, c := range []struct {
		name   string
		header http.Header
		want   time.Duration
	}{
		{"nothing", http.Header{}, 0},
		{"Expires", hour, time.Hour},
		{"by the clock of the server", http.Header{"Expires": {"Sat, 21 Nov 2026 23:00:00 GMT"}, "Date": {"Sat, 21 Nov 2026 22:50:00 GMT"}}, 10 * time.Minute},
		{"without a clock", http.Header{"Expires": {"Sat, 21 Nov 2026 12:30:00 GMT"}}, 30 * time.Minute},
		{"expired", http.Header{"Expires": {"Sat, 21 Nov 2026 11:30:00 GMT"}}, 0},
		{"Expires: 0", http.Header{"Expires": {"0"}}, 0},
		{"Expires: far away", http.Header{"Expires": {"Sat, 21 Nov 2099 11:30:00 GMT"}}, longestLifetime},
		{"max-age goes before Expires", with("Cache-Control", "public, Max-Age=60"), time.Minute},
		{"max-age=0, too", with("Cache-Control", "max-age=0"), 0},
		{"max-age in quotes", with("Cache-Control", `max-age="60"`), time.Minute},
		{"the shorter one", with("Cache-Control", "max-age=90", "Cache-Control", "max-age=60, max-age=70"), time.Minute},
		{"one that is no number", with("Cache-Control", "max-age=soon"), 0},
		{"one below zero", with("Cache-Control", "max-age=-5"), 0},
		{"one without end", with("Cache-Control", "max-age=99999999999999999999"), longestLifetime},
		{"no-cache", with("Cache-Control", "max-age=60, no-cache"), 0},
		{"no-store", with("Cache-Control", "NO-STORE", "Cache-Control", "max-age=60"), 0},
		{"names within quotes are none", with("Cache-Control", `x="no-store, \"no-cache", max-age=60`), time.Minute},
		{"what is for others", with("Cache-Control", "s-maxage=5, must-revalidate, immutable"), time.Hour},
		{"it is old already", with("Age", "600"), 50 * time.Minute},
		{"too old", with("Age", "7200"), 0},
		{"it varies by all", with("Vary", "*"), 0},
	} {
		want := time.Time{}
		if c.want > 0 {
			want = at.Add(c.want)
		}
		if got := expiry(c.header, at); !got.Equal(want) {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
	}
}

// The visit knows until when what it found is fresh; what is not a whole document never is.
func TestAVisitKnowsUntilWhenItsDocumentIsFresh(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		switch {
		case r.Header.Get("If-None-Match") != "":
			w.WriteHeader(http.StatusNotModified)
		case r.URL.Path == "/gone":
			w.WriteHeader(http.StatusGone)
		case r.URL.Path == "/moved":
			http.Redirect(w, r, "/", http.StatusMovedPermanently)
		default:
			_, _ = w.Write([]byte(strings.Repeat("x", 100)))
		}
	})
	o := local()
	o.MaxBody = 50
	cut, _ := one(t, o, get(url+"/"))
	if !cut.visit.Expires.IsZero() {
		t.Errorf("cut: %v", cut.visit.Expires)
	}
	stored := webrace.Visit{Version: 1, ETag: `"1"`, Expires: time.Unix(1e9, 0)}
	for path, fresh := range map[string]bool{"/": true, "/gone": false, "/moved": false} {
		req := get(url + path)
		if !fresh {
			req.Visit = &webrace.Visit{Version: 1, Expires: time.Unix(1e9, 0)}
		}
		r, _ := one(t, local(), req)
		if got := !r.visit.Expires.IsZero(); got != fresh || fresh && !r.visit.Expires.Equal(r.visit.At.Add(10*time.Minute)) {
			t.Errorf("%s: %v after %v", path, r.visit.Expires, r.visit.At)
		}
	}
	again := get(url + "/")
	again.Visit = &stored
	if r, _ := one(t, local(), again); r.visit.Status != 304 || !r.visit.Expires.Equal(r.visit.At.Add(10*time.Minute)) {
		t.Errorf("confirmed: %+v", r.visit)
	}
}

func FuzzFreshness(f *testing.F) {
	f.Add("max-age=60", "Sat, 21 Nov 2026 13:00:00 GMT", "5")
	f.Add(`x="a,b\"", no-cache="y"`, "0", "-1")
	f.Fuzz(func(t *testing.T, control, expires, age string) {
		at := time.Unix(1e9, 0)
		h := http.Header{"Cache-Control": {control}, "Expires": {expires}, "Age": {age}}
		until := expiry(h, at)
		if !until.IsZero() && (!until.After(at) || until.After(at.Add(longestLifetime))) {
			t.Fatalf("fresh from %v until %v", at, until)
		}
		h.Add("Cache-Control", "no-store")
		if quotes := strings.Count(control, `"`); quotes == 0 && !expiry(h, at).IsZero() {
			t.Fatal("fresh though it may not be stored")
		}
	})
}
