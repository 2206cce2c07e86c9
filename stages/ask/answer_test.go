package ask

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/visible"
	"github.com/webrace/webrace/xmlschema"
)

// Fields and summaries become values of annotations, and meta of documents.
func TestFieldsAndSummaries(t *testing.T) {
	t.Parallel()
	s := newServer(t,
		writes(`{"price": 12.50, "currency": "EUR", "sizes": ["s", "m\u0007"], "left": null, "sold": 12345678901234567891}`), writes(`{"price": "12"}`),
		writes(`{"summary": "Two\n\nlines."}`))
	o := s.quick()
	o.Question, o.Answer, o.Attempts = "What does it cost?", fields, 1
	o.Schema = `{"type": "object", "properties": {"price": {"type": "number"}, "currency": {"type": "string"}, "sizes": {"type": "array"}, "left": {}, "sold": {"type": "integer"}}, "required": ["price"]}`
	plain := aci("a")
	plain.Judgement, plain.Values = nil, map[string]string{"x": "y"}
	other := aci("b")
	other.Judgement = nil
	r := try(t, o, nil, plain, other)
	got := r.Out[""][0].(*xmlschema.ACI)
	want := map[string]string{"x": "y", "ask.price": "12.50", "ask.sold": "12345678901234567891", "ask.currency": "EUR", "ask.sizes": `["s","m"]`, "ask.left": "null", "ask.model": "small:1b"}
	if !reflect.DeepEqual(got.Values, want) || got.Validate() != nil || len(plain.Values) != 1 {
		t.Errorf("%v, %v", got.Values, got.Validate())
	}
	if v := r.Out[""][1].(*xmlschema.ACI).Values; len(v) != 1 || !strings.Contains(v["ask.unjudged"], "does not meet the schema") {
		t.Errorf("%v", v)
	}
	mustSay(t, s.asked()[0].Messages[1].Content, "Question: What does it cost?", "a summary")

	o.Answer, o.Schema = summary, ""
	r = try(t, o, nil, &webrace.Document{URL: "http://a.org/", Title: "A page", Text: text("first", "second")})
	if len(r.Out[""]) != 1 {
		t.Fatalf("%+v", r)
	}
	mustSay(t, s.asked()[2].Messages[1].Content, "Title: A page\nfirst\nsecond\n---")
}

// What a reply lacks, or what stands before the answer, is told or left out.
func TestAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	const yes = `{\"reason\":\"r\",\"answer\":\"yes\"}`
	reply := func(choice string) http.HandlerFunc {
		usage := `{"total_tokens":9}`
		if strings.Contains(choice, "uint uint") {
			usage = `{"completion_tokens":400,"prompt_tokens":67,"total_tokens":467}`
		}
		return status(200, `{"choices":[{"index":0,`+choice+`}],"usage":`+usage+`}`)
	}
	for name, c := range map[string]struct{ choice, why string }{
		"it thinks aloud":      {`"finish_reason":"stop","message":{"role":"assistant","content":"<think>\nIs it?\n{}</think>\n\n` + yes + `"}`, ""},
		"it thinks apart":      {`"finish_reason":"stop","message":{"role":"assistant","reasoning_content":"Is it?","content":"` + yes + `"}`, ""},
		"cut off as it thinks": {`"finish_reason":"length","message":{"role":"assistant","content":null}`, "is cut off at 400 tokens, with what it thinks (ask.answer_tokens)"},
		"cut off":              {`"finish_reason":"length","message":{"role":"assistant","content":"{\"reason\":\"r r r r"}`, "(ask.answer_tokens)"},
		"cut off, called stop": {`"finish_reason":"stop","message":{"role":"assistant","content":"{\"reason\":\"uint uint"}`, "(ask.answer_tokens)"},
		"whole, at the limit":  {`"finish_reason":"length","message":{"role":"assistant","content":"` + yes + `"}`, ""},
		"it declines":          {`"finish_reason":"stop","message":{"role":"assistant","content":null,"refusal":"I'm sorry."}`, "declines to answer"},
		"it is filtered":       {`"finish_reason":"content_filter","message":{"role":"assistant","content":""}`, "declines to answer"},
		"never ends to think":  {`"finish_reason":"stop","message":{"role":"assistant","content":"<think>` + yes + `"}`, "no JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, reply(c.choice))
			o := s.quick()
			o.Attempts = 1
			j := judged(t, try(t, o, nil, aci("a")))
			if (c.why == "") != (j.Answer == xmlschema.AnswerYes) {
				t.Errorf("%+v", j)
			}
			mustSay(t, j.Reason, c.why)
		})
	}
}

// FuzzReply reads what servers send. Whatever it is, an answer meets the schema, and can be stored and shown.
func FuzzReply(f *testing.F) {
	for _, content := range []string{`{"reason":"r","answer":"yes"}`, `{"answer":"no","reason":"\u202e\u0000é"}`, "```\n{}\n```", "[]", `{"reason":"` + repeated("x", 600) + `","answer":"no"}`} {
		body, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"message": map[string]any{"content": content}}}, "usage": map[string]any{"total_tokens": 9}})
		f.Add(body)
	}
	f.Add([]byte(`{"choices":[{}],"usage":{"total_tokens":-1}}`))
	form := yesNoForm()
	f.Fuzz(func(t *testing.T, body []byte) {
		p := &prompt{question: &question{text: "q", form: form}, answerTokens: 9, tokens: 100}
		a, tokens, failure := p.read(body)
		if (a == nil) != (failure != nil) || tokens < 1 || tokens > mostCounted*p.tokens {
			t.Fatalf("%v, %d tokens, %v", a, tokens, failure)
		}
		if a == nil {
			return
		}
		j := p.judgement(a, "m")
		if j.Answer != "yes" && j.Answer != "no" || len([]rune(j.Reason)) > longestReason || visible.Line(j.Reason, longestReason) != j.Reason {
			t.Errorf("%+v", j)
		}
		if err := (&xmlschema.ACI{URI: "http://a.org/", Judgement: j}).Validate(); err != nil {
			t.Errorf("%q: %v", j.Reason, err)
		}
	})
}
