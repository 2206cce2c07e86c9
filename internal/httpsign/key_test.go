package httpsign

import (
	"encoding/pem"
	"fmt"
	"strings"
	"testing"
)

func TestAKeyIsReadHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	for _, text := range []string{testPEM, testJWK, testD, " " + testD + "\n", strings.TrimSpace(testPEM)} {
		k, err := ParseKey(text)
		if err != nil || k.ID() != testID || k.Text() != testD {
			t.Errorf("%q: %s, %v", text, k.ID(), err)
		}
	}
	a, b := NewKey(), NewKey()
	again, err := ParseKey(a.Text())
	if err != nil || again.ID() != a.ID() || a.ID() == b.ID() {
		t.Errorf("%s, %s, %s, %v", a.ID(), again.ID(), b.ID(), err)
	}
}

func TestWhatIsNoKeyIsRefusedAndNotQuoted(t *testing.T) {
	t.Parallel()
	block := func(kind, hex string) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: []byte(hex)}))
	}
	for _, text := range []string{
		"", "hush-6f1d-hush", testD[:42], testD + "A", testD[:42] + "V", // the last with bits that are not zero
		strings.Replace(testD, "_", "/", 1), testPEM + testPEM, block("PRIVATE KEY", "hush-6f1d-hush"), "-----BEGIN hush-6f1d-hush",
		strings.Replace(testJWK, "Ed25519", "X25519", 1), strings.Replace(testJWK, "OKP", "EC", 1), "{hush-6f1d-hush", "{}",
		strings.Replace(testJWK, `"d":"n4N`, `"d":"n4O`, 1), // of another key than x
		strings.Replace(testJWK, `"d"`, `"e"`, 1),
	} {
		k, err := ParseKey(text)
		switch {
		case err == nil:
			t.Errorf("%q is key %s", text, k.ID())
		case strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "n4"):
			t.Errorf("%v", err)
		}
	}
	for _, x := range []string{"", testX[:42], testX + "A", "hush"} {
		if k, err := ParsePublic(x); err == nil {
			t.Errorf("%q is %v", x, k)
		}
	}
}

// However a key or what holds it is printed, its private part is not in it.
func TestAKeyIsNotPrinted(t *testing.T) {
	t.Parallel()
	k := testKey(t)
	s, err := NewSigner(k, "https://crawler.example")
	if err != nil {
		t.Fatal(err)
	}
	secret := k.seed()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d", "%q"} {
		for _, v := range []any{k, &k, *s, s, []any{s}, struct{ k Key }{k}} {
			text := fmt.Sprintf(verb, v)
			for _, part := range []string{testD, fmt.Sprintf("%x", secret[:8]), strings.Trim(fmt.Sprint(secret[:8]), "[]"), string(secret[:8])} {
				if strings.Contains(text, part) {
					t.Errorf("%s shows the key: %s", verb, text)
				}
			}
		}
	}
}

func TestAnAgentIsAnOrigin(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{"https://crawler.example", "https://crawler.example/", "https://crawler.example:8443", "https://[2001:db8::1]"} {
		if err := CheckAgent(agent); err != nil {
			t.Errorf("%s: %v", agent, err)
		}
	}
	for _, agent := range []string{
		"", "crawler.example", "http://crawler.example", "https://", "https:///", "https://crawler.example//", "https://crawler.example/keys",
		"https://crawler.example?x", "https://crawler.example#x", "https://me@crawler.example", "https://crawler.example\"", `https://a\b`, "https://a b",
		"https://crawler.example\r\nX: y", "https://crawlér.example", "https:crawler.example", "HTTPS://crawler.example",
	} {
		if err := CheckAgent(agent); err == nil {
			t.Errorf("%q is an origin", agent)
		}
	}
}
