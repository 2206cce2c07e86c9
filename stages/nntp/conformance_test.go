package nntp

import (
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/testutil/newsserver"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
)

// TestWhatEachStageOwes, over TLS with an account: a group, one that is not there, one that is known, and one that
// another visit has answered for.
func TestWhatEachStageOwes(t *testing.T) {
	s, source := boats(t, newsserver.Options{Security: newsserver.STARTTLS, Account: true})
	receives(t, s, 0, 9)
	r := newReader(t).logsIn(s.Address, password, false)
	resources := new(pipeline.Resources)
	pipeline.Provide[credentials.Open](resources, func() (credentials.Source, error) { return r.secrets, nil })
	request := webrace.Request{URL: source, Secret: "news", Reach: []webrace.Reach{{Crawl: "c"}}}
	none, known, stored := request, request, request
	none.URL += ".none"
	known.Visit = &webrace.Visit{State: state{Next: 5}.write()}
	stored.Stored = true
	stagetest.Run(t, stagetest.Case{Type: "nntp", Options: r.options, Resources: resources, Inputs: []any{request, none, known, stored}})
}
