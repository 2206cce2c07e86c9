package ask

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/xmlschema"
)

// Whatever a server does, the alert is passed on: judged if it comes to answer as it should, and otherwise with why
// not.
func TestWhateverTheServerDoesNothingIsLost(t *testing.T) {
	t.Parallel()
	const yes = `{"reason":"r","answer":"yes"}`
	const noSchema, noJSON, noCompletion = "does not meet the schema", "no JSON", "no chat completion"
	for name, c := range map[string]struct {
		script []http.HandlerFunc
		asked  int
		why    string // empty: it is judged in the end
	}{
		"right":                       {nil, 1, ""},
		"in a fence":                  {[]http.HandlerFunc{writes("```json\n" + yes + "\n```")}, 1, ""},
		"429, and then right":         {[]http.HandlerFunc{status(429, "slow down", "Retry-After", "1")}, 2, ""},
		"500 twice, and then right":   {[]http.HandlerFunc{status(500, ""), status(502, "")}, 3, ""},
		"hangs up, and then right":    {[]http.HandlerFunc{hangUp}, 2, ""},
		"wrong JSON, then right":      {[]http.HandlerFunc{writes("Yes, it is.")}, 2, ""},
		"429 for ever":                {[]http.HandlerFunc{status(429, ""), status(429, ""), status(429, "")}, 3, "status 429 (asked 3 times)"},
		"500 for ever":                {[]http.HandlerFunc{status(500, ""), status(500, ""), status(500, "")}, 3, "status 500 (asked 3 times)"},
		"wrong JSON for ever":         {[]http.HandlerFunc{writes("{"), writes(""), writes(yes + yes)}, 3, noJSON},
		"an array":                    {[]http.HandlerFunc{writes("[]"), writes("[" + yes + "]"), writes("[1]")}, 3, noJSON + " object"},
		"null":                        {[]http.HandlerFunc{writes("null"), writes("3"), writes(`"yes"`)}, 3, noJSON + " object"},
		"another answer":              {[]http.HandlerFunc{writes(`{"reason":"r","answer":"maybe"}`), writes(`{"reason":"r","answer":"YES"}`), writes(`{"reason":"r","answer":true}`)}, 3, noSchema},
		"too few fields":              {[]http.HandlerFunc{writes(`{"answer":"yes"}`), writes(`{}`), writes(`{"reason":"r"}`)}, 3, noSchema},
		"too many fields":             {[]http.HandlerFunc{writes(`{"reason":"r","answer":"yes","url":"http://evil.example/"}`), writes(`{"reason":"r","answer":"yes","x":1}`), writes(`{"reason":"r","answer":"yes","":1}`)}, 3, noSchema},
		"reason is no string":         {[]http.HandlerFunc{writes(`{"reason":["r"],"answer":"yes"}`), writes(`{"reason":null,"answer":"yes"}`), writes(`{"reason":{},"answer":"yes"}`)}, 3, noSchema},
		"no completion":               {[]http.HandlerFunc{status(200, "<html>"), status(200, `{"choices":[]}`), status(200, ``)}, 3, noCompletion},
		"another type":                {[]http.HandlerFunc{status(200, `{"choices":{}}`), status(200, `{"choices":[{"message":{"content":7}}]}`), status(200, `[]`)}, 3, noCompletion},
		"a redirect":                  {[]http.HandlerFunc{status(307, "", "Location", "http://127.0.0.1:1/")}, 1, "redirects (307)"},
		"a redirect to itself":        {[]http.HandlerFunc{status(302, "", "Location", "/v1/chat/completions")}, 1, "redirects (302)"},
		"an unknown model":            {[]http.HandlerFunc{status(404, `{"error":"model not found <script>"}`)}, 1, "refuses with status 404"},
		"a wrong key":                 {[]http.HandlerFunc{status(401, "")}, 1, "refuses with status 401"},
		"a wrong request":             {[]http.HandlerFunc{status(400, repeated("x", 1<<20))}, 1, "refuses with status 400"},
		"a huge answer":               {[]http.HandlerFunc{writes(repeated("x", 2<<20)), writes(repeated("x", 2<<20)), writes(repeated("x", 2<<20))}, 3, "more than 1048576 bytes"},
		"an answer that does not end": {[]http.HandlerFunc{endless(repeated("x", 1<<16)), endless(repeated(`\n`, 1<<10)), endless("{")}, 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, c.script...)
			o := s.quick()
			if name == "an answer that does not end" {
				c.why = "asked 3 times"
				o.Timeout = pipeline.Duration(2 * time.Second)
			}
			r := try(t, o, nil, aci("a"))
			j := judged(t, r)
			if n := len(s.asked()); n != c.asked {
				t.Errorf("asked %d times, want %d", n, c.asked)
			}
			switch {
			case c.why == "" && (j.Answer != "yes" || j.Model != "small:1b"):
				t.Errorf("%+v", j)
			case c.why != "" && (j.Answer != xmlschema.AnswerNone || j.Model != "" || r.Counters["unjudged"] != 1 || r.Counters["failed"] != 1):
				t.Errorf("%+v, %v", j, r.Counters)
			}
			mustSay(t, j.Reason, c.why)
			if strings.ContainsAny(j.Reason, "<>{}") {
				t.Errorf("words of the server are shown: %s", j.Reason)
			}
		})
	}
}

// A server that is slow, or writes slowly and without an end, is left after the timeout.
func TestASlowModelIsLeft(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{"says nothing": never, "writes without an end": trickle} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, answer, answer)
			o := s.quick()
			o.Attempts, o.Timeout = 2, pipeline.Duration(50*time.Millisecond)
			j := judged(t, try(t, o, nil, aci("a")))
			if len(s.asked()) != 2 || j.Answer != xmlschema.AnswerNone {
				t.Errorf("asked %d times: %+v", len(s.asked()), j)
			}
			mustSay(t, j.Reason, "does not answer in 50ms (ask.timeout) (asked 2 times)")
		})
	}
}

// While a model is away nothing waits for it: it is not asked again before its time.
func TestAModelThatIsAwayIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	o := s.quick()
	o.Away = pipeline.Duration(time.Hour)
	s.Close()
	r := try(t, o, nil, aci("a"), aci("b"), aci("c"))
	if len(r.Out[""]) != 3 || r.Counters["asked"] != 3 || r.Counters["away"] != 2 || r.Counters["unjudged"] != 3 {
		t.Errorf("%v", r.Counters)
	}
	for _, v := range r.Out[""] {
		mustSay(t, v.(*xmlschema.ACI).Judgement.Reason, "cannot be reached")
	}
}

// Another server is not reached through one that is admitted, nor one on loopback that is not.
func TestAPrivateAddressNeedsAdmission(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	o := s.quick()
	o.AllowNetworks, o.URL = nil, strings.Replace(o.URL, "127.0.0.1", "localhost", 1) // a name: where it leads is known late
	j := judged(t, try(t, o, nil, aci("a")))
	if len(s.asked()) > 0 || j.Answer != xmlschema.AnswerNone {
		t.Errorf("asked %d times: %+v", len(s.asked()), j)
	}
	mustSay(t, j.Reason, "address is not admitted")
	elsewhere := newServer(t)
	s.script = []http.HandlerFunc{status(308, "", "Location", elsewhere.URL+"/v1/chat/completions")}
	judged(t, try(t, s.quick(), nil, aci("a")))
	if len(elsewhere.asked()) > 0 {
		t.Error("the redirect is followed")
	}
}
