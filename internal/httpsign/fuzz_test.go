package httpsign

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// What is parsed is bounded, and reads the same when it is written and parsed again; nothing that was made without
// the key is accepted.
func FuzzVerify(f *testing.F) {
	r := signed(f)
	f.Add(r.Header.Get(agentField), r.Header.Get(inputField), "sig1=:AAAA:")
	f.Add(`"https://a.example"`, `a=("@authority" "signature-agent");tag="web-bot-auth";created=1;expires=2;keyid="k";nonce="n", b=()`, "a=::, b=:AA==:")
	f.Add(`sig1=("a" b 1.5 ?1 @12 %"x");p`, `sig1=("x";key="y";sf "@path" "@query");tag="web-bot-auth"`, "sig1=:AAAA:;x=1")
	key := testKey(f)
	own := r.Header.Get(signatureField)
	f.Fuzz(func(t *testing.T, agents, input, value string) {
		header := http.Header{agentField: {agents}, inputField: {input}, signatureField: {value}}
		request := httptest.NewRequest(http.MethodGet, "http://a.example/page?q=1", nil)
		request.Header = header
		if _, err := verifierAt(noon, key.Public()).Verify(request); err == nil && value != own {
			t.Errorf("%q, %q, %q is accepted", agents, input, value)
		}
		s, err := parse(header)
		if err != nil {
			return
		}
		if len(s.input.List) > maxComponents || len(s.value) > maxField || len(input) > maxField {
			t.Errorf("%d components, %d bytes", len(s.input.List), len(s.value))
		}
		written := s.input.Serialize()
		again, err := parse(http.Header{inputField: {s.label + "=" + written}, signatureField: {value}})
		if err != nil {
			t.Fatalf("%q, written as %q: %v", input, written, err)
		}
		if twice := again.input.Serialize(); twice != written || string(again.value) != string(s.value) {
			t.Errorf("%q is written as %q, and then as %q", input, written, twice)
		}
	})
}

// A text that is a key is the same key when it is written and read again.
func FuzzParseKey(f *testing.F) {
	for _, text := range []string{testPEM, testJWK, testD, "{", "-----BEGIN"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		k, err := ParseKey(text)
		if err != nil {
			return
		}
		if again, err := ParseKey(k.Text()); err != nil || again.ID() != k.ID() {
			t.Errorf("%q: %v, %s and %s", text, err, again.ID(), k.ID())
		}
	})
}
