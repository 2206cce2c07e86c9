package ask

import (
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline"
)

func TestBadOptions(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for name, c := range map[string]struct {
		change func(*Options)
		says   string
	}{
		"no url":         {func(o *Options) { o.URL = "" }, "url: is not set"},
		"no http":        {func(o *Options) { o.URL = "ftp://a.org/" }, "url: is no http or https URL"},
		"a password":     {func(o *Options) { o.URL = "http://a:b@a.org/" }, "url: holds a password"},
		"no model":       {func(o *Options) { o.Model = "" }, "model: "},
		"model of lines": {func(o *Options) { o.Model = "a\nb" }, "model: "},
		"no schema":      {func(o *Options) { o.Question, o.Answer = "q", fields }, "schema: is not set"},
		"schema of yes":  {func(o *Options) { o.Schema = "{}" }, `schema: goes with answer = "fields"`},
		"schema no JSON": {func(o *Options) { o.Question, o.Answer, o.Schema = "q", fields, "{" }, "schema: is no JSON Schema"},
		"schema of list": {func(o *Options) { o.Question, o.Answer, o.Schema = "q", fields, `{"type":"array"}` }, "schema: is not one of an object"},
		"schema, name": {func(o *Options) {
			o.Question, o.Answer, o.Schema = "q", fields, `{"type":"object","properties":{"a b":{}}}`
		}, `property "a b"`},
		"schema elsewhere": {func(o *Options) {
			o.Question, o.Answer, o.Schema = "q", fields, `{"type":"object","properties":{"a":{"$ref":"http://127.0.0.1/x"}}}`
		}, "schema: cannot be used"},
		"schema, type": {func(o *Options) {
			o.Question, o.Answer, o.Schema = "q", fields, `{"type":"object","properties":{"a":{"type":"nmber"}}}`
		}, `did you mean "number"?`},
		"no question":   {func(o *Options) { o.Answer = summary }, "question: is not set"},
		"a question":    {func(o *Options) { o.Question = "a\x00b" }, "question: "},
		"text":          {func(o *Options) { o.Text = 0 }, "text: 0 is not between"},
		"answer_tokens": {func(o *Options) { o.AnswerTokens = 0 }, "answer_tokens: "},
		"tokens_a_day":  {func(o *Options) { o.TokensADay = -1 }, "tokens_a_day: -1 is negative"},
		"attempts":      {func(o *Options) { o.Attempts = 0 }, "attempts: "},
		"timeout":       {func(o *Options) { o.Timeout = 0 }, "timeout: "},
		"keep":          {func(o *Options) { o.Keep = 0 }, "keep: "},
		"backoff":       {func(o *Options) { o.MaxBackoff = 0 }, "max_backoff: "},
		"away":          {func(o *Options) { o.Away = -1 }, "away: "},
		"networks":      {func(o *Options) { o.AllowNetworks = []string{"home"} }, "allow_networks: "},
		"admission":     {func(o *Options) { o.AllowNetworks = nil }, `allow_networks = ["127.0.0.1"] does`},
		"metadata":      {func(o *Options) { o.URL = "http://[fd00::1]:80/v1" }, `allow_networks = ["fd00::1"] does`},
	} {
		o := s.quick()
		c.change(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	if err := s.quick().Validate(); err != nil {
		t.Error(err)
	}
	o := s.quick()
	o.URL = "https://api.example.com/v1"
	made, err := newStage(o, pipeline.NewEnv("p", "ask", sameStates()))
	if err != nil {
		t.Fatal(err)
	}
	if err := made.(*stage).Open(t.Context()); err == nil || !strings.Contains(err.Error(), "is an example") {
		t.Errorf("%v", err)
	}
}
