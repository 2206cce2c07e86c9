package httpsign

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// OpenSSL makes a key that is read here, and verifies what is signed with it, over a base that the test puts
// together.
func TestOpenSSLAgrees(t *testing.T) {
	t.Parallel()
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("openssl is not installed")
	}
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	run := func(args ...string) string {
		t.Helper()
		said, err := exec.Command(openssl, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("openssl %s: %v: %s", args, err, said)
		}
		return string(said)
	}
	run("genpkey", "-algorithm", "ed25519", "-out", in("key.pem"))
	text, err := os.ReadFile(in("key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := ParseKey(string(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSigner(key, agent)
	if err != nil {
		t.Fatal(err)
	}
	header := make(http.Header)
	s.Sign(header, "https", "A.example:443", noon)
	params := strings.TrimPrefix(header.Get(inputField), "sig1=")
	base := "\"@authority\": a.example\n\"signature-agent\";key=\"sig1\": \"https://crawler.example\"\n\"@signature-params\": " + params
	value, err := base64.StdEncoding.DecodeString(strings.Trim(strings.TrimPrefix(header.Get(signatureField), "sig1="), ":"))
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"base": []byte(base), "signature": value, "public.pem": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})} {
		if err := os.WriteFile(in(name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if said := run("pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", in("public.pem"), "-sigfile", in("signature"), "-in", in("base")); !strings.Contains(said, "Verified Successfully") {
		t.Errorf("openssl: %s", said)
	}
}
