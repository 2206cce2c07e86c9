package httpout

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
)

// lent is what a program lends to its stages.
func lent(t *testing.T, secrets map[string]credentials.Secret) *pipeline.Resources {
	r := new(pipeline.Resources)
	pipeline.Provide[credentials.Open](r, func() (credentials.Source, error) { return fakeSecrets(secrets), nil })
	return r
}

type fakeSecrets map[string]credentials.Secret

func (s fakeSecrets) Secret(_ context.Context, name string) (credentials.Secret, error) {
	if secret, ok := s[name]; ok {
		return secret, nil
	}
	return credentials.Secret{}, credentials.ErrNotFound
}
func (fakeSecrets) SecretVersion(string) uint64 { return 0 }
func (fakeSecrets) StartOf(context.Context, string) (string, error) {
	return "", credentials.ErrNotFound
}

func secret(t *testing.T, kind credentials.Kind, name, value string, b credentials.Bounds) credentials.Secret {
	t.Helper()
	s, err := credentials.NewSecret(kind, name, value)
	if err != nil {
		t.Fatal(err)
	}
	return s.Within(b)
}

func TestSecretsGoWhereTheyAreForAndSignWhatIsSent(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	host := strings.TrimPrefix(h.URL, "http://")
	plain := credentials.Bounds{Insecure: true}
	secrets := map[string]credentials.Secret{
		"basic": secret(t, credentials.KindBasic, "eleni", "hush", plain), "bearer": secret(t, credentials.KindBearer, "", "hush", plain),
		"header": secret(t, credentials.KindHeader, "x-api-key", "hush", credentials.Bounds{Insecure: true, Hosts: []string{host}}), "cookie": secret(t, credentials.KindCookie, "", "a=hush", plain),
		"https": secret(t, credentials.KindBearer, "", "hush", credentials.Bounds{}), "elsewhere": secret(t, credentials.KindBearer, "", "hush", credentials.Bounds{Insecure: true, Hosts: []string{"b.example"}}),
	}
	secrets["key"] = secret(t, credentials.KindEd25519, "", "hush", plain)
	resources := lent(t, secrets)
	for name, want := range map[string]string{
		"basic": "Authorization: Basic ZWxlbmk6aHVzaA==", "bearer": "Authorization: Bearer hush", "header": "X-Api-Key: hush", "cookie": "Cookie: a=hush",
	} {
		o := h.quick()
		o.Secret, o.SignSecret = name, "bearer"
		stagetest.Try(t, stagetest.Case{Type: "http-out", Options: o, Inputs: []any{aci(name)}, Resources: resources})
		got := h.received()
		d := got[len(got)-1]
		field, value, _ := strings.Cut(want, ": ")
		if d.header.Get(field) != value {
			t.Errorf("%s: %v", name, d.header)
		}
		if err := Verify("hush", d.header.Get("X-Webrace-Signature"), []byte(d.body), time.Now(), time.Minute); err != nil {
			t.Error(err)
		}
	}
	for name, says := range map[string]string{"https": "--insecure", "elsewhere": "is not for " + host, "missing": "webrace-store secret set", "key": "sent to nobody"} {
		o := h.quick()
		o.Secret = name
		s, err := newStage(o, pipeline.NewEnv("p", "hook", resources))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.(pipeline.Opener).Open(t.Context()); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestASignatureIsOfTheBodyAndTheTime(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_795_276_800, 0)
	field := sign("key", now, []byte("body"))
	for name, c := range map[string]struct {
		secret, field, body string
		after               time.Duration
		want                error
	}{
		"right":           {"key", field, "body", time.Minute, nil},
		"another order":   {"key", strings.Join(strings.Split(field, ",")[1:], "") + ",x=1," + strings.Split(field, ",")[0], "body", 0, nil},
		"another secret":  {"yek", field, "body", 0, ErrSignature},
		"another body":    {"key", field, "body2", 0, ErrSignature},
		"another time":    {"key", strings.Replace(field, "t=1795276800", "t=1795276801", 1), "body", 0, ErrSignature},
		"too old":         {"key", field, "body", 6 * time.Minute, ErrTooOld},
		"from the future": {"key", field, "body", -6 * time.Minute, ErrTooOld},
		"empty":           {"key", "", "body", 0, ErrSignature},
		"no signature":    {"key", "t=1795276800", "body", 0, ErrSignature},
		"no hexadecimal":  {"key", "t=1795276800,v1=zz", "body", 0, ErrSignature},
	} {
		if err := Verify(c.secret, c.field, []byte(c.body), now.Add(c.after), 5*time.Minute); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(field) != len("t=1795276800,v1=")+2*sha256.Size {
		t.Errorf("the field is %q", field)
	}
}

func FuzzVerifyTakesNothingButWhatWasSigned(f *testing.F) {
	now := time.Unix(1_795_276_800, 0)
	f.Add(sign("key", now, []byte("body")), []byte("body"))
	f.Add("t=1,v1=00", []byte(""))
	f.Fuzz(func(t *testing.T, field string, body []byte) {
		if Verify("key", field, body, now, time.Hour) != nil {
			return
		}
		_, rest, _ := strings.Cut(field, "t=")
		digits, _, _ := strings.Cut(rest, ",")
		var seconds int64
		if _, err := fmt.Sscan(digits, &seconds); err != nil || !strings.Contains(strings.ToLower(field), strings.Split(sign("key", time.Unix(seconds, 0), body), "v1=")[1]) {
			t.Skip() // more than one t: the last counts
		}
	})
}

func ExampleVerify() {
	receive := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = Verify("the secret", r.Header.Get("X-Webrace-Signature"), body, time.Now(), 5*time.Minute)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Fprintln(w, "thank you")
	}
	r := httptest.NewRequest("POST", "/", strings.NewReader(`{"id":"a1"}`))
	r.Header.Set("X-Webrace-Signature", sign("the secret", time.Now(), []byte(`{"id":"a1"}`)))
	w := httptest.NewRecorder()
	receive(w, r)
	fmt.Print(w.Code, " ", w.Body)
	// Output: 200 thank you
}
