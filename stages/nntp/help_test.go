package nntp

import (
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/testutil/newsserver"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/agent"
	"github.com/webrace/webrace/stages/internal/agent/agenttest"
)

func TestMain(m *testing.M) { agenttest.Main(m) }

const password = newsserver.Password

// certificate is one of 127.0.0.1, which the stage trusts.
func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	c, err := agenttest.Authority.Issue("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// result is what came of a visit.
type result struct{ *agenttest.Result }

// reader visits newsgroups.
type reader struct {
	t       *testing.T
	options Options
	secret  string // the name of the URD's; empty for none
	secrets agenttest.Secrets
}

func newReader(t *testing.T) *reader {
	o := Options{agent.Defaults}
	o.AllowNetworks = []string{"loopback"}
	o.Timeout = pipeline.Duration(20 * time.Second)
	return &reader{t, o, "", agenttest.Secrets{}}
}

// logsIn has the reader log in at a host.
func (r *reader) logsIn(host, password string, insecure bool) *reader {
	r.secret, r.secrets["news"] = "news", agenttest.Account(r.t, newsserver.User, password, host, insecure)
	return r
}

// visit visits a source; last is what came of it before.
func (r *reader) visit(url string, last *result) *result {
	r.t.Helper()
	request := r.request(url)
	if last != nil {
		request.Visit = &last.Visit
	}
	return &result{r.frontier().Visits(r.t, request)[0]}
}

func (r *reader) request(url string) webrace.Request {
	return webrace.Request{URL: url, Secret: r.secret, Reach: []webrace.Reach{{Crawl: "c"}}}
}

func (r *reader) frontier() agenttest.Frontier {
	r.t.Helper()
	if err := r.options.Validate(); err != nil {
		r.t.Fatal(err)
	}
	return agenttest.Frontier{Secrets: r.secrets, Hidden: password, Stage: func(g *pipeline.Graph) *pipeline.Stage { return g.Add("nntp", r.options) }}
}

// known is what came of a visit after which articles are new from a number on.
func known(next int64) *result {
	return &result{&agenttest.Result{Visit: webrace.Visit{State: state{Next: next}.write()}}}
}

// subjects are those of the documents of a visit, in order.
func (r *result) subjects() string {
	var all []string
	for _, d := range r.Documents {
		_, rest, _ := strings.Cut(string(d.Body), "Subject: ")
		subject, _, _ := strings.Cut(rest, "\r\n")
		all = append(all, subject)
	}
	return strings.Join(all, " ")
}
