package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/pipeline"
)

// redirectsOfOne is how many redirects in a row are followed for one document.
const redirectsOfOne = 10

// One asks for one document as the stage does, with all that it guarantees, but outside any pipeline:
// redirects are followed, a host that one leads back to is left its pause, and nothing is tried again. It
// returns the document with a body of its own, at the URL where it was found.
func One(ctx context.Context, o Options, url string) (*webrace.Document, error) {
	env := pipeline.NewEnv("one", "fetch", nil)
	if err := o.Validate(); err != nil {
		return nil, err
	}
	made, err := newStage(o, env)
	if err != nil {
		return nil, err
	}
	s := made.(*stage)
	defer s.Close()
	pauses := make(map[string]time.Time) // until when hosts rest
	for range redirectsOfOne + 1 {
		host, _ := scope.Host(url)
		if err := sleepUntil(ctx, pauses[host]); err != nil {
			return nil, err
		}
		document, next, report, err := s.ask(ctx, url)
		if errors.Is(err, webrace.ErrNotAsked) { // the host rests from its robots.txt
			next, err = url, nil
		}
		if err != nil || document != nil {
			return document, err
		}
		pauses[host], url = report.NotBefore, next
	}
	return nil, fmt.Errorf("more than %d redirects in a row, the last to %s", redirectsOfOne, url)
}

// ask makes one request. It returns the document, or where a redirect leads.
func (s *stage) ask(ctx context.Context, url string) (document *webrace.Document, next string, report webrace.HostReport, err error) {
	end := pipeline.ProcessAlone(ctx, s, webrace.Request{URL: url}, func(port string, value any) error {
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
	case end.Err != nil:
		return nil, "", report, end.Err
	case document != nil || next != "":
		return document, next, report, nil
	}
	return nil, "", report, fmt.Errorf("%s gave no document: %s", url, learned(end).Error)
}

// learned returns the visit as it is after a request.
func learned(end pipeline.Alone) (v webrace.Visit) {
	for _, what := range end.Learned {
		if learn, ok := what.(webrace.Learned); ok {
			learn(&v)
		}
	}
	return v
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
