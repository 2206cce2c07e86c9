package imap

import (
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/testutil/imapserver"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/agent"
	"github.com/webrace/webrace/stages/internal/agent/agenttest"
)

func TestMain(m *testing.M) { agenttest.Main(m) }

const password = imapserver.Password

type secrets = agenttest.Secrets

// account is the secret of an account at a host.
func account(t *testing.T, host, password string, insecure bool) credentials.Secret {
	t.Helper()
	return agenttest.Account(t, "eleni", password, host, insecure)
}

// newServer starts a server with a certificate.
func newServer(t *testing.T, security imapserver.Security) *imapserver.Server {
	t.Helper()
	certificate, err := agenttest.Authority.Issue("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	return imapserver.New(t, security, certificate)
}

// result is what came of a visit.
type result struct{ *agenttest.Result }

// reader visits mailboxes, one after the other, and remembers the visits.
type reader struct {
	t       *testing.T
	options Options
	secrets secrets
}

func newReader(t *testing.T, s secrets) *reader {
	o := Options{agent.Defaults}
	o.AllowNetworks = []string{"loopback"}
	o.Timeout = pipeline.Duration(20 * time.Second)
	return &reader{t, o, s}
}

// visit visits a source; last is what came of it before.
func (r *reader) visit(url string, last *result) *result {
	r.t.Helper()
	return r.visits([]string{url}, last, nil)[0]
}

// visits visits sources in one run, one after the other. What is to happen before each is done by before.
func (r *reader) visits(urls []string, last *result, before func(i int)) (all []*result) {
	r.t.Helper()
	if err := r.options.Validate(); err != nil {
		r.t.Fatal(err)
	}
	var requests []webrace.Request
	for _, url := range urls {
		requests = append(requests, webrace.Request{URL: url, Secret: "mail", Reach: []webrace.Reach{{Crawl: "c"}}})
	}
	if last != nil {
		requests[0].Visit = &last.Visit
	}
	f := agenttest.Frontier{Stage: func(g *pipeline.Graph) *pipeline.Stage { return g.Add("imap", r.options) }, Secrets: r.secrets, Hidden: password, Before: before}
	for _, came := range f.Visits(r.t, requests...) {
		all = append(all, &result{came})
	}
	return all
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
