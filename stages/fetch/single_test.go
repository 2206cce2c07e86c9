package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
)

func getSingle(ctx context.Context, o Options, url string) (*webrace.Document, error) {
	a, err := NewSingle(o, nil)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	return a.Get(ctx, webrace.Request{URL: url})
}

func TestOneDocumentIsFetchedOutsideAnyPipeline(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/from":
			http.Redirect(w, r, "/to", http.StatusFound)
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, strings.Repeat("x", 2000))
		}
	})
	o := local()
	o.MaxBody = 1000
	d, err := getSingle(t.Context(), o, url+"/from")
	if err != nil {
		t.Fatal(err)
	}
	if d.URL != url+"/to" || d.MediaType != "text/html" || len(d.Body) != 1000 || !d.Truncated || d.Status != 200 {
		t.Errorf("document %+v", d)
	}
}

func TestADocumentThatCannotBeHadIsAnErrorThatSaysWhy(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /private")
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		case "/astray":
			http.Redirect(w, r, "/private", http.StatusFound)
		case "/busy":
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			http.NotFound(w, r)
		}
	})
	o := local()
	o.Robots = true
	stranger := o
	stranger.AllowNetworks = nil
	for _, c := range []struct {
		o          Options
		path, want string
		answer     *NoDocumentError
	}{
		{o, "/gone", "/gone gave no document: 404 Not Found", &NoDocumentError{URL: "/gone", Status: 404}},
		{o, "/private", "refused by robots.txt: Disallow: /private", &NoDocumentError{URL: "/private"}},
		{o, "/astray", "/private gave no document: refused by robots.txt", &NoDocumentError{URL: "/private"}},
		{o, "/busy", "503 Service Unavailable", &NoDocumentError{URL: "/busy", Status: 503}},
		{o, "/round", "more than 10 redirects in a row", nil},
		{stranger, "/", "allow_networks=loopback", &NoDocumentError{URL: "/"}},
		{Options{}, "/", "must be more than 0", nil},
	} {
		_, err := getSingle(t.Context(), c.o, url+c.path)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.path, err, c.want)
		}
		var answer *NoDocumentError
		if is := errors.As(err, &answer); is != (c.answer != nil) || is && (answer.URL != url+c.answer.URL || answer.Status != c.answer.Status) {
			t.Errorf("%s: %+v, want %+v", c.path, answer, c.answer)
		}
	}
}

func TestAHostThatARedirectLeadsBackToIsLeftItsPause(t *testing.T) {
	t.Parallel()
	const pause = 300 * time.Millisecond
	var asked []time.Time
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nCrawl-delay: 0.3")
		case "/from":
			asked = append(asked, time.Now())
			http.Redirect(w, r, "/to", http.StatusFound)
		case "/to":
			asked = append(asked, time.Now())
		}
	})
	o := local()
	o.Robots = true
	if _, err := getSingle(t.Context(), o, url+"/from"); err != nil {
		t.Fatal(err)
	}
	if len(asked) != 2 || asked[1].Sub(asked[0]) < pause {
		t.Errorf("asked at %v", asked)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := getSingle(ctx, o, url+"/from"); err != context.Canceled {
		t.Errorf("after the end: %v", err)
	}
}

// A host that gave a document is left its pause before it gives the next one.
func TestAHostRestsBetweenDocumentsThatAreAskedForOneByOne(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 10)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/robots.txt" {
			asked <- r.URL.Path
		}
		w.Header().Set("Content-Type", "text/html")
	})
	o := local()
	o.Delay, o.DelayAdmitted = pipeline.Duration(time.Hour), true
	a, err := NewSingle(o, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	get := func(path string, within time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		_, err := a.Get(ctx, webrace.Request{URL: url + path})
		return err
	}
	first, second := get("/first", time.Minute), get("/second", 200*time.Millisecond)
	if len(asked) != 1 || first != nil || !errors.Is(second, context.DeadlineExceeded) {
		t.Errorf("%d documents were asked for: %v, %v", len(asked), first, second)
	}
}
