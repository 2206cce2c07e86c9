package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/httpclient"
)

// redirectsOfOne is how many redirects in a row are followed for one document.
const redirectsOfOne = 10

// Single asks for single documents as the stage does, with all that it guarantees, but outside any pipeline:
// redirects are followed, a host that is asked more than once is left its pauses, and nothing is tried again. It
// is not safe for concurrent use, but for subresources.
type Single struct {
	*stage
	pauses map[string]time.Time // until when hosts rest
}

var _ httpclient.SubresourceFetcher = (*Single)(nil)

// NewSingle makes one, which has to be closed. Where secrets are stored it finds among what is lent, as the stage
// does; nil lends nothing.
func NewSingle(o Options, lent *pipeline.Resources) (*Single, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o.Retry = nil
	made, err := newStage(o, pipeline.NewEnv("one", "fetch", lent))
	if err != nil {
		return nil, err
	}
	s := made.(*stage)
	s.limiter.shared.Store(true)
	return &Single{s, make(map[string]time.Time)}, nil
}

// NoDocumentError is the answer of a server that is no document, or why it was not asked.
type NoDocumentError struct {
	URL    string // to which redirects may have led
	Status int    // of the answer; 0 if there was none
	Err    error
}

func (e *NoDocumentError) Error() string { return e.Err.Error() }

func (e *NoDocumentError) Unwrap() error { return e.Err }

// Get returns the document that a request leads to, at the URL where it was found, with a body of its own. That there
// is none is a [NoDocumentError], unless the context ended, or redirects led nowhere.
func (a *Single) Get(ctx context.Context, r webrace.Request) (*webrace.Document, error) {
	for range redirectsOfOne + 1 {
		host, _ := scope.Host(r.URL)
		if err := sleepUntil(ctx, a.pauses[host]); err != nil {
			return nil, err
		}
		document, next, report, err := a.ask(ctx, r)
		if errors.Is(err, webrace.ErrNotAsked) { // the host rests from its robots.txt
			next, err = r.URL, nil
		}
		a.rest(host, report.NotBefore)
		if err != nil || document != nil {
			return document, err
		}
		r.URL = next
	}
	return nil, fmt.Errorf("more than %d redirects in a row, the last to %s", redirectsOfOne, r.URL)
}

// rest notes until when a host is not asked again.
func (a *Single) rest(host string, until time.Time) {
	maps.DeleteFunc(a.pauses, func(_ string, over time.Time) bool { return over.Before(time.Now()) })
	if !until.IsZero() {
		a.pauses[host] = until
	}
}

// Withheld reports whether a host was asked without the credentials of a request, because they are not for it.
func (a *Single) Withheld() bool { return a.env.Counter("credentials_withheld").Load() > 0 }

// ask makes one request. It returns the document, or where a redirect leads.
func (a *Single) ask(ctx context.Context, r webrace.Request) (document *webrace.Document, next string, report webrace.HostReport, err error) {
	end := pipeline.ProcessOne(ctx, a.stage, r, func(port string, value any) error {
		switch v := value.(type) {
		case *webrace.Document:
			own := *v
			own.Body = bytes.Clone(v.Body)
			document = &own
		case *webrace.Links:
			if port == portRedirects {
				next = v.URLs[0]
			}
		}
		return nil
	})
	report, _ = end.Note.(webrace.HostReport)
	switch {
	case end.Err != nil && (ctx.Err() != nil || errors.Is(end.Err, webrace.ErrNotAsked)):
		return nil, "", report, end.Err
	case end.Err != nil:
		var busy busyStatus
		errors.As(end.Err, &busy)
		return nil, "", report, &NoDocumentError{r.URL, int(busy), end.Err}
	case document != nil || next != "":
		return document, next, report, nil
	}
	var visit webrace.Visit
	visit.Learn(end.Learned)
	return nil, "", report, &NoDocumentError{r.URL, visit.Status, fmt.Errorf("%s gave no document: %s", r.URL, visit.Error)}
}

func sleepUntil(ctx context.Context, at time.Time) error {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
