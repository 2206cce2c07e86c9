package httpsign

import (
	"bufio"
	"crypto/ed25519"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// testKey is test-key-ed25519 of RFC 9421, appendix B.1.4.
const (
	testPEM = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF\n-----END PRIVATE KEY-----\n"
	testJWK = `{"kty":"OKP","crv":"Ed25519","kid":"test-key-ed25519","d":"n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}`
	testD   = "n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU"
	testX   = "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"
	testID  = "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U" // as the draft's test vectors name it
)

func testKey(t testing.TB) Key {
	t.Helper()
	k, err := ParseKey(testD)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// received reads a request as a server does.
func received(t testing.TB, text string) *http.Request {
	t.Helper()
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(strings.ReplaceAll(text, "\n", "\r\n"))))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// RFC 9421, appendix B.2.6: the signature base is the one that the RFC prints, the signature verifies, and signing
// the base anew gives its bytes, since Ed25519 is deterministic.
func TestRFC9421B26(t *testing.T) {
	t.Parallel()
	const (
		params = `("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"`
		value  = "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=="
		base   = `"date": Tue, 20 Apr 2021 02:07:55 GMT
"@method": POST
"@path": /foo
"@authority": example.com
"content-type": application/json
"content-length": 18
"@signature-params": ` + params
	)
	r := received(t, `POST /foo?param=Value&Pet=dog HTTP/1.1
Host: example.com
Date: Tue, 20 Apr 2021 02:07:55 GMT
Content-Type: application/json
Content-Length: 18
Signature-Input: sig-b26=`+params+`
Signature: sig-b26=:`+value+`:

{"hello": "world"}`)
	s := signatureOf(t, r, "sig-b26")
	got, err := s.base(r)
	if err != nil || got != base {
		t.Fatalf("the base is\n%s\n%v", got, err)
	}
	if err := s.verify(r, testKey(t).Public()); err != nil {
		t.Error(err)
	}
	if signed := testKey(t).sign([]byte(base)); string(signed) != string(s.value) {
		t.Error("signing the base gives another signature")
	}
	r.Method = http.MethodPut
	if err := s.verify(r, testKey(t).Public()); err != ErrSignature {
		t.Errorf("by another method: %v", err)
	}
}

// signatureOf returns the signature of a label, whatever its tag.
func signatureOf(t *testing.T, r *http.Request, label string) *signature {
	t.Helper()
	inputs, err := readDictionary(r.Header, inputField)
	if err != nil {
		t.Fatal(err)
	}
	values, err := readDictionary(r.Header, signatureField)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSignature(label, inputs, values)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The test vectors of draft-ietf-webbotauth-httpsig-protocol: Signature-Agent as a dictionary and, as older drafts
// have it, as a string. The first holds for a century, which a verifier refuses, so that it is verified without
// its time.
func TestVectorsOfTheDraft(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"dictionary": `Signature-Agent: agent2="https://signature-agent.test"
Signature-Input: sig2=("@authority" "signature-agent";key="agent2");created=1735689600;keyid="` + testID + `";alg="ed25519";expires=4889289600;nonce="n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA==";tag="web-bot-auth"
Signature: sig2=:RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==:
`,
		"string": `Signature-Agent: "https://signature-agent.test"
Signature-Input: sig2=("@authority" "signature-agent");created=1735689600;keyid="` + testID + `";alg="ed25519";expires=1735693200;nonce="e8N7S2MFd/qrd6T2R3tdfAuuANngKI7LFtKYI/vowzk4lAZYadIX6wW25MwG7DCT9RUKAJ0qVkU0mEeLElW1qg==";tag="web-bot-auth"
Signature: sig2=:jdq0SqOwHdyHr9+r5jw3iYZH6aNGKijYp/EstF4RQTQdi5N5YYKrD+mCT1HA1nZDsi6nJKuHxUi/5Syp3rLWBA==:
`,
	} {
		r := received(t, "GET /path/to/resource HTTP/1.1\nHost: example.com\n"+text+"\n")
		s, err := parse(r.Header)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := s.coversEnough(r.Header); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.verify(r, testKey(t).Public()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name == "string" {
			v := NewVerifier(testKey(t).Public())
			v.now = func() time.Time { return time.Unix(1735689700, 0) }
			if id, err := v.Verify(r); id != testID || err != nil {
				t.Errorf("%s: %s, %v", name, id, err)
			}
		}
	}
}

// RFC 7638, section 3.1, and RFC 8037, appendix A.3.
func TestThumbprints(t *testing.T) {
	t.Parallel()
	rsa := map[string]string{
		"kty": "RSA", "e": "AQAB",
		"n": "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw",
	}
	if got := thumbprint(rsa); got != "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs" {
		t.Errorf("RFC 7638: %s", got)
	}
	k, err := ParseKey("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A")
	if err != nil || encoding.EncodeToString(k.Public()) != "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" || k.ID() != "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k" {
		t.Errorf("RFC 8037: %s, %v", k.ID(), err)
	}
	if id := testKey(t).ID(); id != testID {
		t.Errorf("the draft: %s", id)
	}
}

// The directory of the test key is that of the draft's signed directory, and holds no private part.
func TestDirectory(t *testing.T) {
	t.Parallel()
	var got, want any
	directory := Directory(testKey(t).Public())
	if err := json.Unmarshal(directory, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(`{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"`+testID+`","x":"`+testX+`","use":"sig"}]}`), &want); err != nil {
		t.Fatal(err)
	}
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if string(g) != string(w) {
		t.Errorf("%s", directory)
	}
	if strings.TrimSpace(strings.Join(strings.Fields(string(Directory())), "")) != `{"keys":[]}` {
		t.Errorf("without keys: %s", Directory())
	}
	public, err := ParsePublic(testX)
	if err != nil || !public.Equal(testKey(t).Public()) || len(public) != ed25519.PublicKeySize {
		t.Errorf("%v, %v", public, err)
	}
}
