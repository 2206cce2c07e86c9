package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/httpclient"
	"github.com/webrace/webrace/xmlschema/httprequest"
)

// known is the request of the one crawl there is.
type known struct{ request *httprequest.Request }

func (k known) RequestOf(_ context.Context, crawl string) (*httprequest.Request, error) {
	if crawl != "c" {
		return nil, credentials.ErrNotFound
	}
	return k.request, nil
}

// asks gives the stage the request with which the crawl begins.
func asks(r *httprequest.Request) func(*stage) {
	return func(s *stage) { s.requests = func() (httprequest.Source, error) { return known{r}, nil } }
}

func both(changes ...func(*stage)) func(*stage) {
	return func(s *stage) {
		for _, change := range changes {
			change(s)
		}
	}
}

// marked asks for a URL by a request.
func marked(url string, r *httprequest.Request) webrace.Request {
	return get(urlnorm.Marked(url, r.Mark()))
}

// ear is a server that notes what it is told, and sends some paths elsewhere.
type ear struct {
	mu    sync.Mutex
	heard []string // method, path, Content-Type, X-Key and body
	away  string   // where /away and /there lead
}

func (e *ear) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	e.mu.Lock()
	defer e.mu.Unlock()
	said := []string{r.Method, r.URL.RequestURI()}
	for _, part := range []string{r.Header.Get("Content-Type"), r.Header.Get("X-Key"), r.Header.Get("Authorization"), string(body)} {
		if part != "" {
			said = append(said, part)
		}
	}
	e.heard = append(e.heard, strings.Join(said, " "))
	for path, redirect := range map[string]struct {
		to     string
		status int
	}{
		"/see": {"/result", 303}, "/found": {"/result", 302}, "/again": {"/result", 307}, "/moved": {"/result", 308}, "/away": {e.away + "/result", 307},
		"/there": {e.away + "/result", 302},
	} {
		if r.URL.Path == path {
			w.Header().Set("Location", redirect.to)
			w.WriteHeader(redirect.status)
			return
		}
	}
	w.Header().Set("ETag", `"1"`)
	w.Header().Set("X-Echo", r.Header.Get("X-Key"))
	fmt.Fprintf(w, "%s %d", r.Method, len(body))
}

func (e *ear) said() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := e.heard
	e.heard = nil
	slices.Sort(all)
	return all
}

func mustHear(t *testing.T, e *ear, want ...string) {
	t.Helper()
	if got := e.said(); !slices.Equal(got, want) {
		t.Errorf("the host heard\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestRequestIsMadeAsItSaysAndItsSecretsLeaveNoTrace(t *testing.T) {
	t.Parallel()
	e := &ear{}
	here := serve(t, e.ServeHTTP)
	o := local()
	r := &httprequest.Request{
		Method: http.MethodPost, Type: "application/json", Header: []httprequest.Field{{Name: "x-key", Value: "k ${secret:bank}"}}, Body: `{"token":"${secret:bank}"}`,
	}
	document := marked(here+"/search?q=1", r)
	document.Secret = "bank"
	document.Visit = &webrace.Visit{Version: 3, ETag: `"1"`}
	plain := get(here + "/search?q=1")
	plain.Visit = document.Visit
	all := runWith(t, o, both(with(t, o, credentials.KindBearer, "", hush, here+"/"), asks(r)), document, plain)
	mustHear(t, e, "GET /search?q=1", "POST /search?q=1 application/json k "+hush+` {"token":"`+hush+`"}`)
	got := all.byRequest[0]
	if len(got.documents) != 1 || got.documents[0].URL != document.URL || got.documents[0].Secret != "bank" || got.bodies[0] != fmt.Sprintf("POST %d", len(`{"token":""}`)+len(hush)) {
		t.Errorf("%+v %q", got.documents, got.bodies)
	}
	mustHide(t, all, hush)
}

func TestRequestIsRepeatedWhereARedirectSaysSoAndOfNoOtherOrigin(t *testing.T) {
	t.Parallel()
	e, other := &ear{}, &ear{}
	here := serve(t, e.ServeHTTP)
	e.away = serve(t, other.ServeHTTP)
	post := &httprequest.Request{Method: http.MethodPost, Header: []httprequest.Field{{Name: "X-Key", Value: hush}}, Body: "b"}
	field := &httprequest.Request{Method: http.MethodGet, Header: post.Header}
	for _, c := range []struct {
		request *httprequest.Request
		path    string
		to      string // with a mark if it ends in #
	}{
		{post, "/see", here + "/result"}, {post, "/found", here + "/result"}, {post, "/again", here + "/result#"}, {post, "/moved", here + "/result#"},
		{post, "/away", ""}, {post, "/there", e.away + "/result"}, {field, "/see", here + "/result"}, {field, "/found", here + "/result#"},
		{field, "/away", e.away + "/result"},
	} {
		got := runWith(t, local(), asks(c.request), marked(here+c.path, c.request)).byRequest[0]
		want := c.to
		if to, ok := strings.CutSuffix(c.to, "#"); ok {
			want = urlnorm.Marked(to, c.request.Mark())
		}
		switch {
		case want == "" && (len(got.links) != 0 || !strings.Contains(got.visit.Error, "another origin") || strings.Contains(got.visit.Error, hush)):
			t.Errorf("%s %s: %+v %q", c.request.Method, c.path, got.links, got.visit.Error)
		case want != "" && (len(got.links) != 1 || got.links[0].URLs[0] != want):
			t.Errorf("%s %s leads to %+v, want %s", c.request.Method, c.path, got.links, want)
		}
	}
	mustHear(t, other)
}

func TestRequestThatCannotBeMadeIsRefusedWithItsReason(t *testing.T) {
	t.Parallel()
	e := &ear{}
	here := serve(t, e.ServeHTTP)
	o := local()
	named := &httprequest.Request{Method: http.MethodPost, Header: []httprequest.Field{{Name: "X-Key", Value: "${secret:bank}"}}, Body: "b"}
	unknown := &httprequest.Request{Method: http.MethodPost, Header: []httprequest.Field{{Name: "X-Key", Value: "${secret:other}"}}, Body: "b"}
	for _, c := range []struct {
		has, wants *httprequest.Request
		start, why string
	}{
		{nil, named, here, "no URD asks for it so any more"},
		{unknown, named, here, "no URD asks for it so any more"},
		{unknown, unknown, here, "no secret is named other"},
		{named, named, "http://elsewhere.example", "secret bank, which is not for"},
	} {
		got := runWith(t, o, both(with(t, o, credentials.KindBearer, "", hush, c.start+"/"), asks(c.has)), marked(here+"/", c.wants)).byRequest[0]
		if len(got.documents) != 0 || !strings.Contains(got.visit.Error, c.why) {
			t.Errorf("want %q, it is %q", c.why, got.visit.Error)
		}
	}
	mustHear(t, e)
}

// field is the value of an option headers.
var field = pipeline.NewSecret

func TestRequestFieldsByHost(t *testing.T) {
	t.Parallel()
	e, other := &ear{}, &ear{}
	here, elsewhere := serve(t, e.ServeHTTP), serve(t, other.ServeHTTP)
	o := local()
	o.Robots = true
	o.Headers = map[string]map[string]pipeline.Secret{
		strings.TrimPrefix(here, "http://"): {"x-key": field("narrow")}, "127.0.0.0/8": {"X-Key": field("wide")}, "*": {"X-Key": field("all"), "Authorization": field("any")},
		"*.example.org": {"X-Key": field("never")},
	}
	run(t, o, get(here+"/a"), get(elsewhere+"/b"))
	mustHear(t, e, "GET /a narrow any", "GET /robots.txt narrow any")
	mustHear(t, other, "GET /b wide any", "GET /robots.txt wide any")
}

func TestRequestFieldsThatCannotBeSentAreRefused(t *testing.T) {
	t.Parallel()
	o := local()
	o.Headers = map[string]map[string]pipeline.Secret{
		"a.example": {"Host": field("x"), "Connection": field("close"), "x-a": field("1"), "X-A": field("2"), "X-B": field("hush\n"), "X-C": field("${secret:hush}")},
		"a b":       {"X": field("y")},
	}
	err := o.Validate()
	for _, part := range []string{"headers.a.example.Host: ", "headers.a.example.Connection: ", "headers.a.example.x-a: ", "headers.a.example.X-B: ", "headers.a.example.X-C: secrets are named by", "headers.a b: "} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not name %s", err, part)
		}
	}
	if strings.Contains(err.Error(), "hush") {
		t.Error(err)
	}
}

// twoSecrets has two, for the host at which the crawl begins.
type twoSecrets struct{ vault }

func (v twoSecrets) Secret(context.Context, string) (credentials.Secret, error) { return v.secret, nil }

// Two requests that each hold the secret that the other one waits for go back to the queue, and not on waiting for
// ever.
func TestRequestsThatWaitForEachOthersSecretsGoBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := local()
		s := newTestStage(t, o)
		secret, err := credentials.NewSecret(credentials.KindBearer, "", hush)
		if err != nil {
			t.Fatal(err)
		}
		broker := credentials.NewBroker(twoSecrets{vault{secret, "https://a.example/"}}, credentials.Limits{Refusals: 1, Pause: time.Hour})
		s.broker = func() (*credentials.Broker, error) { return broker, nil }
		target, err := httpclient.ParseTarget("https://a.example/")
		if err != nil {
			t.Fatal(err)
		}
		exchanges := map[string]*exchange{}
		for _, name := range []string{"a", "b"} {
			x := &exchange{stage: s, req: get(target.URL), target: target}
			x.req.Secret = name
			if err := x.authorize(t.Context()); err != nil || x.grant == nil {
				t.Fatal(x.grant, err)
			}
			exchanges[name] = x
		}
		failed := make(chan error, 2)
		go func() { _, err := exchanges["a"].lend(t.Context(), "b"); failed <- err }()
		go func() { _, err := exchanges["b"].lend(t.Context(), "a"); failed <- err }()
		for range 2 {
			if err := <-failed; !errors.Is(err, httpclient.ErrResting) {
				t.Error(err)
			}
		}
		exchanges["b"].closeGrants()
		if value, err := exchanges["a"].lend(t.Context(), "b"); value != hush || err != nil {
			t.Errorf("%q, %v", value, err)
		}
		exchanges["a"].closeGrants()
	})
}
