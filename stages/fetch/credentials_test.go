package fetch

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/pipeline"
)

const hush = "hush-6f1d-hush"

// vault is a source of one secret, which all crawls are made with that begin at a URL.
type vault struct {
	secret credentials.Secret
	start  string
}

func (v vault) Secret(_ context.Context, name string) (credentials.Secret, error) {
	if name != "bank" {
		return credentials.Secret{}, credentials.ErrNotFound
	}
	return v.secret, nil
}
func (v vault) SecretVersion(string) uint64                     { return 0 }
func (v vault) StartOf(context.Context, string) (string, error) { return v.start, nil }

// with gives the stage a secret, for the host at which the crawl begins.
func with(t *testing.T, o Options, kind credentials.Kind, user, value, start string) func(*stage) {
	t.Helper()
	secret, err := credentials.NewSecret(kind, user, value)
	if err != nil {
		t.Fatal(err)
	}
	v := vault{secret.Within(credentials.Bounds{Insecure: true}), start}
	broker := credentials.NewBroker(v, credentials.Limits{Refusals: o.MaxUnauthorized, Pause: time.Duration(o.UnauthorizedPause)})
	return func(s *stage) { s.broker = func() (*credentials.Broker, error) { return broker, nil } }
}

// secretly is a request with credentials.
func secretly(url string) webrace.Request {
	r := get(url)
	r.Secret = "bank"
	return r
}

// door lets in who sends the password, gives them a session, and repeats to every client what it said.
type door struct {
	mu    sync.Mutex
	heard []string // path, Authorization and Cookie of each request
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	d.heard = append(d.heard, strings.TrimSpace(r.URL.Path+" "+r.Header.Get("Authorization")+" "+r.Header.Get("Cookie")))
	d.mu.Unlock()
	for name, values := range r.Header {
		w.Header()["X-Echo-"+name] = values
	}
	w.Header().Set("Set-Cookie", "session=s3ss10n-"+hush)
	w.Header().Set("ETag", `"1"`)
	switch _, password, _ := r.BasicAuth(); {
	case r.URL.Path == "/away":
		w.Header().Set("Location", "http://evil.example/?password="+password)
		w.WriteHeader(http.StatusFound)
	case r.URL.Path == "/forbidden":
		w.WriteHeader(http.StatusForbidden)
	case password != hush:
		w.Header().Set("WWW-Authenticate", `Digest realm="vault"`)
		w.WriteHeader(http.StatusUnauthorized)
	default:
		fmt.Fprint(w, "welcome")
	}
}

func (d *door) server(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(d)
	t.Cleanup(s.Close)
	return s.URL
}

func TestCredentialsOpenPagesAndLeaveNoTrace(t *testing.T) {
	t.Parallel()
	var d, other door
	here, elsewhere := d.server(t), other.server(t)
	o := local()
	all := runWith(t, o, with(t, o, credentials.KindBasic, "eleni", hush, here+"/"),
		secretly(here+"/"), secretly(here+"/away"), secretly(here+"/forbidden"), secretly(elsewhere+"/"), get(here+"/open"))
	opened := all.byRequest[0]
	if len(opened.documents) != 1 || opened.bodies[0] != "welcome" || opened.documents[0].Secret != "bank" {
		t.Errorf("the page is %+v", opened)
	}
	if e := all.byRequest[2].visit.Error; e != "403 Forbidden: with secret bank (basic) this may not be seen" {
		t.Errorf("of a forbidden page: %q", e)
	}
	if e := all.byRequest[4].visit.Error; !strings.Contains(e, "(Digest)") || !strings.Contains(e, "secret") {
		t.Errorf("of a page that wants credentials: %q", e)
	}
	for _, heard := range other.heard {
		if heard != "/" {
			t.Errorf("another host heard %q", heard)
		}
	}
	if i := slices.Index(d.heard, "/open"); i < 0 {
		t.Errorf("a request without credentials is not among %q", d.heard)
	}
	mustCount(t, all, map[string]int64{"credentials_withheld": 1, "unauthorized": 1, "pages": 1, "bad_redirects": 1})
	mustHide(t, all, hush, "ZWxlbmk6")
}

// mustHide fails if what came out of a run holds any of these, other than in the body of a page.
func mustHide(t *testing.T, all *results, secrets ...string) {
	t.Helper()
	said := all.log + fmt.Sprintf("%+v", all.report)
	for _, r := range all.byRequest {
		for _, part := range []any{r.visit, r.documents, r.links, r.reports} {
			text, err := json.Marshal(part)
			if err != nil {
				t.Fatal(err)
			}
			said += string(text)
		}
		said += fmt.Sprintf("%+v", r.outcome)
	}
	for _, secret := range secrets {
		if i := strings.Index(said, secret); i >= 0 {
			t.Errorf("a secret shows in …%s…", said[max(0, i-200):min(len(said), i+50)])
		}
	}
}

func mustCount(t *testing.T, all *results, want map[string]int64) {
	t.Helper()
	for counter, n := range want {
		if all.counters[counter] != n {
			t.Errorf("%s is %d, want %d", counter, all.counters[counter], n)
		}
	}
}

func TestASecretThatIsRefusedIsNotTriedOnAndOn(t *testing.T) {
	t.Parallel()
	var d door
	here := d.server(t)
	o := local()
	o.MaxUnauthorized = 2
	var requests []webrace.Request
	for i := range 8 {
		requests = append(requests, secretly(fmt.Sprintf("%s/%d", here, i)))
	}
	all := runWith(t, o, with(t, o, credentials.KindBasic, "eleni", "wrong-password", here+"/"), requests...)
	if len(d.heard) != 2 {
		t.Errorf("the server was asked %d times", len(d.heard))
	}
	mustCount(t, all, map[string]int64{"unauthorized": 2, "secrets_paused": 1, "secret_paused": 6})
	refused, paused := 0, 0
	for _, r := range all.byRequest {
		if r.outcome.Err != nil {
			t.Errorf("it is to be tried again: %v", r.outcome.Err)
		}
		switch e := r.visit.Error; {
		case strings.HasPrefix(e, "401 Unauthorized: ") && strings.Contains(e, "does not accept secret bank (basic) and asks for Digest: webrace-store secret set bank"):
			refused++
		case strings.HasPrefix(e, "secret bank is not sent to ") && strings.Contains(e, "webrace-store secret set bank"):
			paused++
		}
	}
	if refused != 2 || paused != 6 {
		t.Errorf("of 8 pages %d say that they were refused, and %d that the secret is paused", refused, paused)
	}
	mustHide(t, all, "wrong-password")
}

func TestARequestWhoseCredentialsAreMissingIsNotMadeWithout(t *testing.T) {
	t.Parallel()
	var d door
	here := d.server(t)
	o := local()
	other := secretly(here + "/")
	other.Secret = "shop"
	all := runWith(t, o, with(t, o, credentials.KindBasic, "eleni", hush, here+"/"), other)
	if e := all.byRequest[0].visit.Error; len(d.heard) > 0 || !strings.Contains(e, "no secret is named shop") {
		t.Errorf("heard %q, said %q", d.heard, e)
	}
	mustCount(t, all, map[string]int64{"secret_refused": 1})
	// Where there is no store of secrets at all, it is the run that is wrong.
	if r, _ := one(t, o, secretly(here+"/")); r.outcome.Err == nil || len(d.heard) > 0 {
		t.Errorf("without a data directory: %v, heard %q", r.outcome.Err, d.heard)
	}
}

func TestASecretForHTTPSIsNotSentByPlainHTTP(t *testing.T) {
	t.Parallel()
	var d door
	here := d.server(t)
	secret, err := credentials.NewSecret(credentials.KindBearer, "", hush)
	if err != nil {
		t.Fatal(err)
	}
	broker := credentials.NewBroker(vault{secret, here + "/"}, credentials.Limits{Refusals: 3, Pause: time.Hour})
	all := runWith(t, local(), func(s *stage) { s.broker = func() (*credentials.Broker, error) { return broker, nil } }, secretly(here+"/"))
	if e := all.byRequest[0].visit.Error; len(d.heard) > 0 || !strings.Contains(e, "--insecure") {
		t.Errorf("heard %q, said %q", d.heard, e)
	}
	mustHide(t, all, hush)
}

func TestCookiesAreKeptWhenAskedForEachHostsApart(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		var d, other door
		here, elsewhere := d.server(t), other.server(t)
		o := local()
		o.Cookies = keep
		single, err := NewSingle(o, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, url := range []string{here + "/1", here + "/2", elsewhere + "/1"} {
			_, _ = single.Get(t.Context(), webrace.Request{URL: url}) // one after the other; the server refuses each
		}
		if err := single.Close(); err != nil {
			t.Error(err)
		}
		want := []string{"/1", "/2"}
		if keep {
			want[1] = "/2  session=s3ss10n-" + hush
		}
		if !slices.Equal(d.heard, want) || !slices.Equal(other.heard, want[:1]) {
			t.Errorf("cookies=%v: heard %q and %q, want %q", keep, d.heard, other.heard, want)
		}
	}
}

func TestOptionsOfCredentialsAreChecked(t *testing.T) {
	t.Parallel()
	for option, change := range map[string]func(*Options){
		"max_unauthorized":   func(o *Options) { o.MaxUnauthorized = 0 },
		"unauthorized_pause": func(o *Options) { o.UnauthorizedPause = pipeline.Duration(0) },
	} {
		o := local()
		change(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), option) {
			t.Errorf("%s: %v", option, err)
		}
	}
}
