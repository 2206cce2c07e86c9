package portal

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

const hush = "hUsH-hUsH"

// A secret of each kind is stored as it was typed, for the sites that were said, and its value is never shown again.
func TestSecretsOfEachKind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni := w.account("eleni")
	typed := map[credentials.Kind][]string{
		credentials.KindBasic:  {"user", "eleni"},
		credentials.KindBearer: nil,
		credentials.KindHeader: {"header", "X-Api-Key"},
		credentials.KindCookie: nil,
		credentials.KindForm:   {"page", "https://club.example/login", "user_field", "email", "user", "eleni", "password_field", "pw", "sign", "css", "sign_value", ".logout"},
	}
	for _, kind := range credentials.Kinds() {
		name := string(kind)
		eleni.get("/secrets?kind="+name).wants(t, http.StatusOK, text("secrets.kind."+name))
		eleni.post("/secrets", append([]string{"kind", name, "secret_name", name, "value", hush, "hosts", "A.example, https://b.example/x *.c.example"}, typed[kind]...)...).
			wants(t, http.StatusSeeOther, "done=secret_set")
		secret, err := w.store.Secret(t.Context(), "eleni/"+name)
		w.ok(err)
		_, value := secret.Reveal()
		if kind == credentials.KindNone { // whatever else was typed
			if secret.Kind() != kind || value != "" || len(secret.Bounds().Hosts) > 0 {
				t.Errorf("%s holds %q for %v", secret.Kind(), value, secret.Bounds())
			}
			continue
		}
		if secret.Kind() != kind || value != hush || fmt.Sprint(secret.Bounds()) != "{[*.c.example a.example b.example] false false}" {
			t.Errorf("%s: a secret of kind %s for %v", kind, secret.Kind(), secret.Bounds())
		}
		if page := eleni.get("/secrets?kind="+name).wants(t, http.StatusOK, "a.example"); strings.Contains(page.body, hush) {
			t.Errorf("%s: the value is shown", kind)
		}
	}
	club, err := w.store.Secret(t.Context(), "eleni/form")
	w.ok(err)
	if f, _ := club.Form(); f.Fields["email"] != "eleni" || f.Password != "pw" || f.Sign.CSS != ".logout" {
		t.Errorf("the form is %+v", f)
	}
	w.urd("eleni", "https://a.example/", func(u *xmlschema.URD) { u.Secret = "eleni/basic" })
	eleni.get("/secrets").wants(t, http.StatusOK, "used by 1 interest<")
	eleni.post("/secrets/delete", "secret", "basic").wants(t, http.StatusSeeOther, "done=secret_deleted")
	if _, err := w.store.Secret(t.Context(), "eleni/basic"); err == nil {
		t.Error("a secret that was deleted is there")
	}
}

// What is wrong with a secret is said, and nothing is stored.
func TestWrongSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni := w.account("eleni")
	for said, typed := range map[string][]string{
		"A name has 1 to":           {"kind", "bearer", "secret_name", "a b", "value", hush, "hosts", "a.example"},
		"neither spaces nor":        {"kind", "bearer", "secret_name", "a/b", "value", hush, "hosts", "a.example"},
		"Say which sites":           {"kind", "bearer", "secret_name", "x", "value", hush},
		"anybody may have":          {"kind", "bearer", "secret_name", "x", "value", hush, "hosts", "*.co.uk"},
		"the secret is empty":       {"kind", "bearer", "secret_name", "x", "hosts", "a.example"},
		"must not contain a colon":  {"kind", "basic", "secret_name", "x", "user", "a:b", "value", hush, "hosts", "a.example"},
		"is not for a secret":       {"kind", "header", "secret_name", "x", "header", "Host", "value", hush, "hosts", "a.example"},
		"control characters":        {"kind", "cookie", "secret_name", "x", "value", "a=1\nb=2" + hush, "hosts", "a.example"},
		"is no page with a form":    {"kind", "form", "secret_name", "x", "value", hush, "sign", "css", "sign_value", ".x", "password_field", "pw"},
		"a status is a number":      {"kind", "form", "secret_name", "x", "page", "https://a.example/", "value", hush, "sign", "status", "sign_value", "OK", "password_field", "pw"},
		"no field for the password": {"kind", "form", "secret_name", "x", "page", "https://a.example/", "value", hush, "sign", "css", "sign_value", ".x"},
	} {
		if page := eleni.post("/secrets", typed...).wants(t, http.StatusUnprocessableEntity, said); strings.Contains(page.body, hush) {
			t.Errorf("%s: the value is in the answer", said)
		}
	}
	for _, kind := range []string{"session", "", "other"} {
		eleni.post("/secrets", "kind", kind, "secret_name", "x", "value", hush, "hosts", "a.example").wants(t, http.StatusBadRequest)
	}
	for s, err := range w.store.Secrets(t.Context()) {
		t.Errorf("secret %s is stored: %v", s.Name, err)
	}
}

// A secret that lets models be shown what it gives keeps that when its owner stores it anew by its name,
// unless the form that shows it takes that back.
func TestASecretKeepsWhetherModelsAreShownWhatItGives(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni := w.account("eleni")
	const box, ticked = `name="models" value="1"`, `name="models" value="1" checked`
	set := func(more ...string) {
		t.Helper()
		eleni.post("/secrets", append([]string{"kind", "bearer", "secret_name", "club", "value", hush, "hosts", "a.example"}, more...)...).wants(t, http.StatusSeeOther)
	}
	has := func(want bool) {
		t.Helper()
		secret, err := w.store.Secret(t.Context(), "eleni/club")
		w.ok(err)
		page := eleni.get("/secrets").wants(t, http.StatusOK, box)
		again := eleni.get("/secrets?secret=club").wants(t, http.StatusOK, `name="kind" value="bearer"`, `name="replaces" value="club"`, `value="a.example"`)
		if got := secret.Bounds().Models; got != want || strings.Contains(page.body, text("secrets.to_models")) != want || strings.Contains(again.body, ticked) != want {
			t.Errorf("models are shown what it gives: %v, want %v", got, want)
		}
		if strings.Contains(page.body, ticked) || strings.Contains(again.body, hush) {
			t.Error("the form of a new secret is ticked, or the value is shown")
		}
	}
	set()
	has(false)
	set("models", "1")
	has(true)
	set()
	has(true)
	set("replaces", "another")
	has(true)
	wrong := eleni.post("/secrets", "kind", "bearer", "secret_name", "club", "value", hush, "replaces", "club").wants(t, http.StatusUnprocessableEntity, `name="replaces" value="club"`)
	if strings.Contains(wrong.body, ticked) {
		t.Error("what was taken back is ticked again")
	}
	has(true)
	set("replaces", "club", "models", "1")
	has(true)
	set("replaces", "club")
	has(false)

	eleni.post("/secrets", "kind", "none", "secret_name", "kept", "models", "1").wants(t, http.StatusSeeOther)
	if secret, err := w.store.Secret(t.Context(), "eleni/kept"); err != nil || !secret.Bounds().Models {
		t.Errorf("of what sends nothing: %v, %v", secret.Bounds(), err)
	}
	w.account("costas").get("/secrets?secret=club").wants(t, http.StatusNotFound)
}

// What is another's, or the operator's, is neither shown nor changed, but for what was granted, which is listed.
func TestSecretsOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni, costas := w.account("eleni"), w.account("costas")
	eleni.post("/secrets", "kind", "bearer", "secret_name", "shop", "value", hush, "hosts", "shop.example").wants(t, http.StatusSeeOther)
	trap, err := credentials.NewSecret(credentials.KindBearer, "", hush)
	w.ok(err)
	for _, name := range []string{"costas/trap", "bank", "concealed"} {
		w.ok(w.store.SetSecret(t.Context(), name, trap))
	}
	w.ok(w.store.GrantSecret(t.Context(), "bank", "costas"))
	page := costas.get("/secrets").wants(t, http.StatusOK, "bank", "Given to you")
	for _, name := range []string{"shop", "concealed", "trap"} {
		if strings.Contains(page.body, name) {
			t.Errorf("secret %s is shown", name)
		}
	}
	for _, name := range []string{"shop", "eleni/shop", "../eleni/shop", "bank", "trap", ""} {
		costas.post("/secrets/delete", "secret", name).wants(t, http.StatusNotFound)
	}
	costas.post("/secrets", "kind", "bearer", "secret_name", "trap", "value", "other", "hosts", "a.example").wants(t, http.StatusUnprocessableEntity, "This name is taken")
	costas.post("/secrets", "kind", "bearer", "secret_name", "shop", "value", "other", "hosts", "a.example").wants(t, http.StatusSeeOther)
	for _, name := range []string{"eleni/shop", "costas/trap", "bank", "concealed"} {
		secret, err := w.store.Secret(t.Context(), name)
		w.ok(err)
		if _, value := secret.Reveal(); value != hush {
			t.Errorf("secret %s is changed", name)
		}
	}
}

// One may have many secrets, and replace one of them when it is one too many to add another.
func TestSecretsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni := w.account("eleni")
	secret, err := credentials.NewSecret(credentials.KindBearer, "", hush)
	w.ok(err)
	for i := range mostSecrets {
		w.ok(w.store.Of("eleni").SetSecret(t.Context(), fmt.Sprint("n", i), secret))
	}
	set := func(name string) answer {
		return eleni.post("/secrets", "kind", "bearer", "secret_name", name, "value", hush, "hosts", "a.example")
	}
	set("more").wants(t, http.StatusUnprocessableEntity, "which is the most")
	set("n7").wants(t, http.StatusSeeOther)
}

// Each kind of secret, state of accounts, and sign of a form has a text.
func TestNamedThingsHaveTexts(t *testing.T) {
	t.Parallel()
	var keys []string
	for _, kind := range append(credentials.Kinds(), credentials.KindEd25519) { // which may be granted
		keys = append(keys, "secrets.kind."+string(kind))
	}
	for _, state := range []control.AccountState{control.AccountInvited, control.AccountActive, control.AccountLocked, control.AccountLeaving} {
		keys = append(keys, "admin.state_of."+string(state))
	}
	if missing := slices.DeleteFunc(keys, func(key string) bool { return texts()[key] != "" }); len(missing) > 0 {
		t.Errorf("there are no texts %v", missing)
	}
}
