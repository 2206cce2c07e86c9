package ask

import (
	"net/http"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/xmlschema"
)

// What forbids models is obeyed, unless the operator wants it otherwise.
func TestStatementsOfSitesAreObeyed(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	a := aci("a")
	a.Judgement.Forbidden = "Content-Usage: ai-use=n"
	r := try(t, s.quick(), nil, a)
	if j := judged(t, r); j.Answer != xmlschema.AnswerNone || len(s.asked()) > 0 || r.Counters["forbidden"] != 1 {
		t.Errorf("asked %d times: %+v", len(s.asked()), j)
	} else {
		mustSay(t, j.Reason, "models must not use the page: Content-Usage: ai-use=n")
	}
	o := s.quick()
	o.Question, o.Answer = "What is it?", summary
	page := func(header http.Header, body string) *webrace.Document {
		return &webrace.Document{URL: "http://a.org/", Outcome: webrace.Fetched, Status: 200, At: time.Now(), Header: header, Body: []byte(body), Text: text("x")}
	}
	for _, d := range []*webrace.Document{
		page(http.Header{"Content-Signal": {"ai-input=no"}}, ""), page(http.Header{"Content-Type": {"text/html"}}, `<head><meta name="tdm-reservation" content="1"></head>`),
	} {
		if try(t, o, nil, d); len(s.asked()) > 0 {
			t.Errorf("it is asked of what states %v", d.Header)
		}
	}
	dir, err := storage.Open(t.TempDir(), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	cache, err := dir.Objects()
	if err != nil {
		t.Fatal(err)
	}
	stored := page(http.Header{"Content-Usage": {"ai-use=n"}}, "x")
	durable := make(chan error, 1)
	put, err := cache.Put(stored, func(err error) { durable <- err })
	if err != nil {
		t.Fatal(err)
	}
	if err := <-durable; err != nil {
		t.Fatal(err)
	}
	resources := sameStates()
	pipeline.Provide(resources, dir)
	fresh := &webrace.Document{URL: stored.URL, Outcome: webrace.Fresh, Version: put.Number, Text: text("x")}
	if r := try(t, o, resources, fresh); len(s.asked()) > 0 || r.Counters["forbidden"] != 1 {
		t.Errorf("it is asked of what was stored with such a header: %v", r.Counters)
	}
	o = s.quick()
	o.ObeyUsage = false
	if j := judged(t, try(t, o, nil, a)); j.Answer != "yes" {
		t.Errorf("%+v", j)
	}
}
