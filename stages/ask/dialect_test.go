package ask

import (
	"net/http"
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/xmlschema"
)

// Replies by which servers refuse a parameter, as OpenAI, llama.cpp, Mistral, DeepSeek and vLLM word them.
var (
	refusesMaxTokens = status(400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",`+
		`"type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`)
	refusesTemperature = status(400, `{"error":{"message":"Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",`+
		`"type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}`)
	refusesSchema = status(400, `{"error":{"message":"This response_format type is unavailable now","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`)
	refusesType   = status(500, `{"error":{"code":500,"message":"response_format type must be one of \"text\" or \"json_object\", but got: json_schema","type":"server_error"}}`)
	refusesExtra  = status(422, `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","response_format"],"msg":"Extra inputs are not permitted"}]}}`)
	tooLong       = status(400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}`)
)

// A model that does not take all parameters is asked without those that its server names, and so from then on.
func TestAModelIsAskedWithoutWhatItRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refusals    []http.HandlerFunc
		temperature bool
		tokens      int
		format      string
	}{
		"nothing":                  {nil, true, 400, "json_schema"},
		"temperature":              {[]http.HandlerFunc{refusesTemperature}, false, 400, "json_schema"},
		"max_tokens":               {[]http.HandlerFunc{refusesMaxTokens}, true, 0, "json_schema"},
		"both, by reasoning ones":  {[]http.HandlerFunc{refusesMaxTokens, refusesTemperature}, false, 0, "json_schema"},
		"a schema":                 {[]http.HandlerFunc{refusesSchema}, true, 400, "json_object"},
		"a schema, by 500":         {[]http.HandlerFunc{refusesType}, true, 400, "json_object"},
		"any form, by 422":         {[]http.HandlerFunc{refusesExtra, refusesExtra}, true, 400, ""},
		"all of it, one at a time": {[]http.HandlerFunc{refusesExtra, refusesTemperature, refusesSchema, refusesMaxTokens}, false, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, c.refusals...)
			r := try(t, s.quick(), nil, aci("a"), aci("b"))
			asked := s.asked()
			if len(asked) != len(c.refusals)+2 || r.Counters["answered"] != 2 || r.Counters["asked"] != 2 || r.Counters["tokens"] != 200 || r.Counters["repeated"] != 0 {
				t.Fatalf("asked %d times: %v", len(asked), r.Counters)
			}
			for _, q := range asked[len(c.refusals):] {
				if (q.Temperature != nil) != c.temperature || q.MaxTokens != c.tokens || q.Completion != 400-c.tokens || q.Format.Type != c.format {
					t.Errorf("%+v", q)
				}
				mustSay(t, q.Messages[0].Content, yesNoSchema)
			}
		})
	}
}

// What a server refuses all the same, or for another reason, is told as it was, and nothing is learned of it.
func TestARefusalThatNamesNothingStays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script []http.HandlerFunc
		asked  int
		why    string
	}{
		"too long a text":       {[]http.HandlerFunc{tooLong}, 1, "refuses with status 400"},
		"the same again":        {[]http.HandlerFunc{refusesTemperature, refusesTemperature}, 2, "refuses with status 400"},
		"another status":        {[]http.HandlerFunc{status(404, "temperature")}, 1, "refuses with status 404"},
		"the whole is repeated": {repeatedly(status(400, `temperature max_tokens response_format`), 5), 5, "refuses with status 400"},
		"and then it is away":   {[]http.HandlerFunc{refusesSchema, status(503, ""), status(503, ""), status(503, "")}, 4, "status 503 (asked 3 times)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, c.script...)
			r := try(t, s.quick(), nil, aci("a"), aci("b"))
			asked := s.asked()
			if len(r.Out[""]) != 2 || len(asked) != c.asked+1 || r.Counters["unjudged"] != 1 || r.Counters["answered"] != 1 {
				t.Fatalf("asked %d times, %v", len(asked), r.Counters)
			}
			mustSay(t, r.Out[""][0].(*xmlschema.ACI).Judgement.Reason, c.why)
			if q := asked[c.asked]; q.Temperature == nil || q.MaxTokens == 0 || q.Format.Type != "json_schema" {
				t.Errorf("learned of what was refused: %+v", q)
			}
		})
	}
}

// What the server wrote as it refused is in the log for the operator, on one line, and not in the alert.
func TestTheLogTellsWhatTheServerWrote(t *testing.T) {
	t.Parallel()
	for _, answer := range []http.HandlerFunc{tooLong, status(429, `{"error":{"message":"the request exceeds the available context size, try`+"\n"+`increasing it"}}`)} {
		s := newServer(t, answer, answer, answer)
		log := new(strings.Builder)
		resources := sameStates()
		env := pipeline.NewEnv("p", "ask", resources)
		env.Logger = textLogger(log)
		made, err := newStage(s.quick(), env)
		if err != nil {
			t.Fatal(err)
		}
		q, err := made.(*stage).subject.of(pipeline.NewItem(aci("a"), nil))
		if err != nil {
			t.Fatal(err)
		}
		_, err = made.(*stage).answer(t.Context(), q)
		if err == nil || strings.Contains(err.Error(), "context size") {
			t.Errorf("%v", err)
		}
		mustSay(t, log.String(), "a question is not answered", "the request exceeds the available context size, try")
		if strings.Count(log.String(), "\n") != 1 {
			t.Errorf("%s", log)
		}
	}
}

// FuzzRefusal reads what servers write as they refuse: however they go on, all that can be left out is so after four.
func FuzzRefusal(f *testing.F) {
	f.Add("temperature max_tokens response_format")
	f.Add(`{"error":{"param":"temperature","message":"schema"}}`)
	f.Add(`{"error":{"param":7}}`)
	f.Add(`{"error":"grammar"}`)
	f.Fuzz(func(t *testing.T, refusal string) {
		d, again, times := dialect{}, true, 0
		for ; again; times++ {
			before := d
			if d, again = d.without(refusal); again == (d == before) || times > 4 {
				t.Fatalf("%+v after %+v, %d times", d, before, times)
			}
		}
	})
}
