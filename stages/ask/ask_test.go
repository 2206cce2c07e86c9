package ask

import (
	"reflect"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/xmlschema"
)

// It is not parallel: other tests' goroutines would be taken for what it leaves behind.
func TestConformance(t *testing.T) {
	s := newServer(t)
	stagetest.Run(t, stagetest.Case{Type: "ask", Options: s.quick(), Inputs: []any{aci("a"), aci("b"), &xmlschema.ACI{ID: "c", URI: "http://a.org/"}}})
}

// What is answered yes is passed on with the reason, what is answered no leaves by a port of its own, and the request
// is what the API wants.
func TestAnAnnotationIsJudged(t *testing.T) {
	t.Parallel()
	s := newServer(t, writes(`{"reason":"May 3 became May 9.","answer":"yes"}`), writes(`{"answer":"no","reason":"another word"}`))
	before := aci("a")
	r := try(t, s.quick(), nil, before, aci("b"))
	want := &xmlschema.Judgement{Question: "Is a deadline moved?", Answer: "yes", Reason: "May 3 became May 9.", Model: "small:1b"}
	if got := judged(t, r); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if !before.Judgement.IsPending() {
		t.Error("the input is changed")
	}
	if no := r.Out["no"]; len(no) != 1 || no[0].(*xmlschema.ACI).ID != "b" || no[0].(*xmlschema.ACI).Judgement.Answer != "no" {
		t.Errorf("answered no: %+v", no)
	}
	q := s.asked()[0]
	if q.Path != "/v1/chat/completions" || q.Model != "small:1b" || *q.Temperature != 0 || q.MaxTokens != 400 || q.Stream || len(q.Messages) != 2 {
		t.Errorf("%+v", q)
	}
	if f := q.Format; f.Type != "json_schema" || f.Schema.Name == "" || !f.Schema.Strict || string(f.Schema.Schema) != yesNoSchema {
		t.Errorf("%+v", q.Format)
	}
	if q.Messages[0].Role != "system" || q.Messages[1].Role != "user" {
		t.Errorf("%+v", q.Messages)
	}
	mustSay(t, q.Messages[1].Content, "Question: Is a deadline moved?\n", "Title: Calls a\n", "Submit until [−May 3] «May 9» a\n")
	if c := r.Counters; c["asked"] != 2 || c["answered"] != 1 || c["answered_no"] != 1 || c["tokens"] != 200 {
		t.Errorf("%v", c)
	}
}

// What has no question is passed on as it is, and so is what another stage has judged.
func TestNothingIsAskedOfOthers(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	none, done := aci("a"), aci("b")
	none.Judgement = nil
	done.Judgement = &xmlschema.Judgement{Question: "q", Answer: "yes"}
	doc := &webrace.Document{URL: "http://a.org/", Text: text("x")}
	r := try(t, s.quick(), nil, none, done, doc)
	if len(r.Out[""]) != 3 || r.Out[""][0] != any(none) || r.Out[""][1] != any(done) || r.Out[""][2] != any(doc) || len(s.asked()) > 0 {
		t.Errorf("%v, asked %d times", r.Out, len(s.asked()))
	}
}
