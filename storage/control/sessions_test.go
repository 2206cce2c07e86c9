package control_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/storage/control"
)

// The cookies of a log-in are kept encrypted beside the secret that was filled in, and go with it.
func TestSessionsAreKeptEncryptedAndEndWithTheirSecret(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "control.db")
	s := openAt(t, path)
	ctx := t.Context()
	form, err := credentials.NewForm(credentials.Form{Page: "https://a.example/login", Password: "pw", Sign: credentials.Sign{Text: "welcome"}}, hush)
	ok(t, err)
	ok(t, s.SetSecret(ctx, "club", form))
	if cookies, err := s.Session(ctx, "club"); cookies != "" || err != nil {
		t.Errorf("a session that nobody began: %q, %v", cookies, err)
	}
	cookies := `[{"url":"https://a.example/","field":"session=` + hush + `"}]`
	ok(t, s.SetSession(ctx, "club", cookies))
	if n, err := s.RotateKey(ctx); n != 1 || err != nil {
		t.Errorf("%d secrets under a new key, %v: a session is none", n, err)
	}
	ok(t, s.Close())
	for _, file := range []string{path, path + "-wal"} {
		if content, err := os.ReadFile(file); err == nil && bytes.Contains(content, []byte(hush)) {
			t.Errorf("%s has it in clear", file)
		}
	}
	s = openAt(t, path)
	if got, err := s.Session(ctx, "club"); got != cookies || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	var names []string
	for info, err := range s.Secrets(ctx) {
		ok(t, err)
		names = append(names, info.Name)
	}
	if got := strings.Join(names, ","); got != "club" {
		t.Errorf("there are secrets %s", got)
	}
	stored, err := s.Secret(ctx, "club")
	ok(t, err)
	if f, isForm := stored.Form(); !isForm || f.Sign.String() != "text:welcome" || strings.Join(stored.Bounds().Hosts, ",") != "a.example" {
		t.Errorf("%+v, %v, %v", f, isForm, stored.Bounds())
	}
	ok(t, s.SetSecret(ctx, "club", form))
	if got, err := s.Session(ctx, "club"); got != "" || err != nil {
		t.Errorf("the session of a secret that was set anew: %q, %v", got, err)
	}
	ok(t, s.SetSession(ctx, "club", cookies))
	ok(t, s.DeleteSecret(ctx, "club", false))
	if _, err := s.Secret(ctx, "session club"); !errors.Is(err, control.ErrNotFound) {
		t.Errorf("the session of a secret that is gone: %v", err)
	}
}
