package httpin

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/webrace/webrace/internal/testutil/npm"
	"github.com/webrace/webrace/pipeline"
)

// What a library signs that others have written for crawlers is taken, and what it signs wrongly is not.
func TestSignaturesOfOthersAreTaken(t *testing.T) {
	t.Parallel()
	modules := npm.Install(t, "web-bot-auth@0.1.3")
	script, err := os.ReadFile(filepath.Join("testdata", "sign.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(modules, "sign.mjs"), script, 0o600); err != nil {
		t.Fatal(err)
	}
	jwk := func() map[string]string {
		public, private, err := ed25519.GenerateKey(nil)
		if err != nil {
			t.Fatal(err)
		}
		encoded := base64.RawURLEncoding.EncodeToString
		return map[string]string{"kty": "OKP", "crv": "Ed25519", "x": encoded(public), "d": encoded(private.Seed())}
	}
	ours := jwk()
	in := start(t, with(func(o *Options) { o.SignedBy = []string{ours["x"]} }), pipeline.Stop, pipeline.RunOptions{}, func(*pipeline.Item) error { return nil })
	given, err := json.Marshal(map[string]any{"url": in.url, "jwk": ours, "other": jwk()})
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("node", "sign.mjs")
	c.Dir, c.Stdin, c.Stderr = modules, bytes.NewReader(given), os.Stderr
	said, err := c.Output()
	const want = `with its agent: 200
the same again: 403
without an agent: 200
an agent of another: 403
for another host: 403
by another key: 403
too old: 403
`
	if err != nil || string(said) != want {
		t.Errorf("%v\n%s", err, said)
	}
}
