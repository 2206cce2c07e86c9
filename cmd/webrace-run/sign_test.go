package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/testutil/npm"
	"github.com/webrace/webrace/xmlschema"
)

// signatureInput is the field that the program sends, of which the parameters are signed.
var signatureInput = regexp.MustCompile(`^sig1=(\("@authority" "signature-agent";key="sig1"\);created=\d+;expires=\d+;keyid="([\w-]+)";alg="ed25519";nonce="(\w+)";tag="web-bot-auth")$`)

// gatekeeper serves those alone whose requests are signed with a key, which it verifies by the RFC and nothing of
// ours.
type gatekeeper struct {
	id, x string

	mu      sync.Mutex
	refused []string
	asked   []string // host and path
	nonces  map[string]bool
	base    string // of the last request
	value   []byte // its signature
	all     []signedRequest
}

// signedRequest is a request as a library reads it that verifies signatures.
type signedRequest struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
}

// newGatekeeper knows the key of a directory, as webrace-store prints it.
func newGatekeeper(t *testing.T, directory string) *gatekeeper {
	t.Helper()
	var set struct {
		Keys []struct{ Kty, Crv, Kid, X, D string }
	}
	if err := json.Unmarshal([]byte(directory), &set); err != nil || len(set.Keys) != 1 {
		t.Fatalf("the directory is %s, %v", directory, err)
	}
	k := set.Keys[0]
	if k.Kty != "OKP" || k.Crv != "Ed25519" || k.D != "" {
		t.Fatalf("the key is %+v", k)
	}
	return &gatekeeper{id: k.Kid, x: k.X, nonces: make(map[string]bool)}
}

func (g *gatekeeper) key() ed25519.PublicKey {
	key, _ := base64.RawURLEncoding.DecodeString(g.x)
	return key
}

// admits verifies a request.
func (g *gatekeeper) admits(r *http.Request) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = append(g.asked, r.Host+r.URL.Path)
	all := signedRequest{r.Method, "http://" + r.Host + r.URL.String(), map[string]string{}}
	for name := range r.Header {
		all.Headers[strings.ToLower(name)] = r.Header.Get(name)
	}
	g.all = append(g.all, all)
	parts := signatureInput.FindStringSubmatch(r.Header.Get("Signature-Input"))
	value, err := base64.StdEncoding.DecodeString(strings.Trim(strings.TrimPrefix(r.Header.Get("Signature"), "sig1="), ":"))
	agent, named := strings.CutPrefix(r.Header.Get("Signature-Agent"), "sig1=")
	if parts == nil || err != nil || !named || agent != `"https://crawler.example"` || parts[2] != g.id || g.nonces[parts[3]] {
		g.refused = append(g.refused, r.Host+r.URL.Path+" with "+r.Header.Get("Signature-Input"))
		return false
	}
	g.nonces[parts[3]] = true
	g.base = `"@authority": ` + r.Host + "\n" + `"signature-agent";key="sig1": ` + agent + "\n" + `"@signature-params": ` + parts[1]
	g.value = value
	if !ed25519.Verify(g.key(), []byte(g.base), value) {
		g.refused = append(g.refused, r.Host+r.URL.Path+" by another key")
		return false
	}
	return true
}

// guards serves a document to those who are admitted.
func (g *gatekeeper) guards(s *site, path string, serve http.HandlerFunc) {
	s.handle(path, func(w http.ResponseWriter, r *http.Request) {
		if !g.admits(r) {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		serve(w, r)
	})
}

// A key is made by a command, and a crawl signs with it each request to each host, robots.txt, redirects and
// what they lead to included.
func TestACrawlIsSigned(t *testing.T) {
	t.Parallel()
	w, other := newWorld(t), newSite(t)
	directory, complaints, err := webraceRun("store", "secret", "generate", "crawler", "--kind", "ed25519", "--data", w.data)
	if err != nil {
		t.Fatalf("%v: %s", err, complaints)
	}
	g := newGatekeeper(t, directory)
	mustSay(t, complaints, "its keyid is "+g.id)
	page := func(links ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { serveDocument(w, r, document(links...)) }
	}
	allowed := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }
	g.guards(w.site, "/robots.txt", allowed)
	g.guards(w.site, "/", page("tea", "/deeper", "/moved"))
	g.guards(w.site, "/deeper", page("more tea"))
	g.guards(w.site, "/moved", http.RedirectHandler(other.URL+"/", http.StatusFound).ServeHTTP)
	g.guards(other, "/robots.txt", allowed)
	g.guards(other, "/", page("tea elsewhere"))
	said := w.run(these(w.asks("ann", "/", depth(2), within(xmlschema.ScopeAny), about("tea"))),
		"--set", "fetch.sign=crawler", "--set", "fetch.signature_agent=https://crawler.example")
	for _, refused := range g.refused {
		t.Error("refused: " + refused)
	}
	here, there := strings.TrimPrefix(w.site.URL, "http://"), strings.TrimPrefix(other.URL, "http://")
	for _, want := range []string{here + "/robots.txt", here + "/", here + "/deeper", here + "/moved", there + "/robots.txt", there + "/"} {
		if !slices.Contains(g.asked, want) {
			t.Errorf("%s was not asked for:\n%s", want, said)
		}
	}
	mustBe(t, "news", w.news(), "ann /", "ann /deeper", "ann "+other.URL+"/")
	w.triesSigned(g)
	t.Run("openssl", func(t *testing.T) { g.askOpenSSL(t) })
	t.Run("http-message-signatures", func(t *testing.T) { g.askLibrary(t) })
}

// triesSigned lets try ask for a page, which fetches as a pipeline does.
func (w *world) triesSigned(g *gatekeeper) {
	w.t.Helper()
	args := []string{"try", w.site.URL + "/deeper", "--data", w.data, "--set", "fetch.allow_networks=loopback", "--set", "fetch.signature_agent=https://crawler.example"}
	before := len(g.asked)
	if out, complaints, err := webraceRun(append(args, "--set", "fetch.sign=crawler")...); err != nil {
		w.t.Errorf("try: %v: %s%s", err, out, complaints)
	}
	if len(g.asked) == before || len(g.refused) > 0 {
		w.t.Errorf("try asked %d times, and was refused: %s", len(g.asked)-before, g.refused)
	}
	before = len(g.asked)
	if _, complaints, err := webraceRun(append(args, "--set", "fetch.sign=nobody")...); err == nil || !strings.Contains(complaints+err.Error(), "no secret is named nobody") {
		w.t.Errorf("try without the key: %v: %s", err, complaints)
	}
	if len(g.asked) != before {
		w.t.Error("try asked without the key")
	}
}

// askOpenSSL has OpenSSL verify the last request.
func (g *gatekeeper) askOpenSSL(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("openssl is not installed")
	}
	der, err := x509.MarshalPKIXPublicKey(g.key())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, content := range map[string][]byte{"base": []byte(g.base), "signature": g.value, "key.pem": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command(openssl, "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", "key.pem", "-sigfile", "signature", "-in", "base")
	c.Dir = dir
	if said, err := c.CombinedOutput(); err != nil || !strings.Contains(string(said), "Verified Successfully") {
		t.Errorf("%v: %s", err, said)
	}
}

// askLibrary has a library of others verify all requests, and none after a change.
func (g *gatekeeper) askLibrary(t *testing.T) {
	modules := npm.Install(t, "http-message-signatures@1.0.4")
	script, err := os.ReadFile(filepath.Join("testdata", "signatures", "verify.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(modules, "verify.mjs"), script, 0o600); err != nil {
		t.Fatal(err)
	}
	elsewhere, agent := g.all[0], g.all[0]
	elsewhere.URL = "http://other.example/"
	agent.Headers = maps.Clone(agent.Headers)
	agent.Headers["signature-agent"] = `sig1="https://other.example"`
	given, err := json.Marshal(map[string]any{
		"jwk":      map[string]string{"kty": "OKP", "crv": "Ed25519", "kid": g.id, "x": g.x},
		"requests": append(slices.Clone(g.all), elsewhere, agent),
	})
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("node", "verify.mjs")
	c.Dir, c.Stdin, c.Stderr = modules, bytes.NewReader(given), os.Stderr
	said, err := c.Output()
	want := strings.Repeat("true\n", len(g.all)) + "false\nfalse\n"
	if err != nil || string(said) != want || len(g.all) < 6 {
		t.Errorf("%d requests and two that were changed: %v\n%s", len(g.all), err, said)
	}
}

// Without the key, or with a secret of another kind, nothing is asked for.
func TestWithoutTheKeyNoCrawlBegins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "tea")
	w.secret("bank", hush)
	for name, want := range map[string]string{"crawler": "no secret is named crawler", "bank": "secret bank is of kind basic"} {
		p := w.start(these(w.asks("ann", "/", about("tea"))), "--set", "fetch.sign="+name, "--set", "fetch.signature_agent=https://crawler.example")
		p.mustExit(cli.Environment)
		mustSay(t, p.said(), "open stage fetch: sign: "+want)
		if strings.Contains(p.said(), hush) {
			t.Errorf("the secret is shown: %s", p.said())
		}
	}
	mustBe(t, "requests", w.requests())
}
