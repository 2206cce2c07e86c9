package portal

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// Who leaves is logged in nowhere, and told nothing new; after a week nothing is stored of them, and all of others.
func TestLeave(t *testing.T) {
	t.Parallel()
	const marker = "mArKeR"
	w := newWorld(t)
	gone, kept := w.withPassword(marker), w.withPassword("kept")
	for _, name := range []string{marker, "kept"} {
		w.aci(name, w.urd(name, "https://"+strings.ToLower(name)+".example/"), "About "+name, func(a *xmlschema.ACI) { a.Summary = "what " + name + " reads" })
	}
	gone.post("/secrets", "kind", "bearer", "secret_name", marker, "value", "hush", "hosts", strings.ToLower(marker)+".example").wants(t, http.StatusSeeOther)
	gone.post("/settings/tokens", "token_name", marker).wants(t, http.StatusOK)
	gone.get("/settings/leave").wants(t, http.StatusOK, "After 7 days")
	gone.post("/settings/leave", "password", "wrong sentence").wants(t, http.StatusUnprocessableEntity, "not your password")
	gone.get("/").wants(t, http.StatusOK)
	gone.post("/settings/leave", "password", knownPassword).wants(t, http.StatusSeeOther, "/login?done=left")
	if gone.cookie() != "" {
		t.Error("the cookie stays")
	}
	gone.get("/").wants(t, http.StatusSeeOther, "/login")
	w.browser().post("/login", "name", marker, "password", knownPassword).wants(t, http.StatusUnprocessableEntity)
	for u, err := range w.store.ByOwner(t.Context(), marker) {
		w.ok(err)
		if !u.Paused {
			t.Error("an interest goes on")
		}
	}
	if len(w.mails) != 1 || w.mails[0].Owner != marker {
		t.Errorf("%d mails say that one leaves", len(w.mails))
	}

	after := func(d time.Duration) []byte {
		t.Helper()
		w.site.tools.now = func() time.Time { return time.Now().Add(d) }
		w.ok(w.site.eraseLeft(t.Context()))
		backup := filepath.Join(t.TempDir(), "backup")
		w.ok(w.store.Backup(t.Context(), backup))
		content, err := os.ReadFile(backup)
		w.ok(err)
		return bytes.ToLower(content)
	}
	if !bytes.Contains(after(leavingLasts-time.Minute), []byte(strings.ToLower(marker))) {
		t.Error("it is erased before a week is over")
	}
	left := after(leavingLasts + time.Minute)
	if bytes.Contains(left, []byte(strings.ToLower(marker))) {
		t.Error("something is stored of who left")
	}
	if !bytes.Contains(left, []byte("what kept reads")) {
		t.Error("what is another's is erased")
	}
	kept.get("/").wants(t, http.StatusOK, "About kept")
	if n := w.site.tools.env.Counter("erased").Load(); n != 1 {
		t.Errorf("%d are counted", n)
	}
}

// Whom an operator unlocks within the week is not erased.
func TestWhoStaysIsNotErased(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.account("eleni")
	w.ok(w.store.Of("eleni").Leave(t.Context()))
	admin := w.account("admin", func(a *control.Account) { a.Admin = true })
	admin.post("/admin/lock", "owner", "eleni").wants(t, http.StatusConflict)
	admin.post("/admin/unlock", "owner", "eleni").wants(t, http.StatusSeeOther)
	w.site.tools.now = func() time.Time { return time.Now().Add(2 * leavingLasts) }
	w.ok(w.site.eraseLeft(t.Context()))
	_, err := w.store.Account(t.Context(), "eleni")
	w.ok(err)
}

// saying hands on what is logged.
type saying struct {
	slog.Handler
	said chan string
}

func (s saying) Enabled(context.Context, slog.Level) bool { return true }
func (s saying) Handle(_ context.Context, r slog.Record) error {
	s.said <- r.Message
	return nil
}

// The stage erases who left, from its beginning on, and says so; it ends when it is told to.
func TestTheStageErasesWhoLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.account("eleni")
	w.ok(w.store.Of("eleni").Leave(t.Context()))
	env := pipeline.NewEnv("portal", "portal", nil)
	said := make(chan string, 9)
	env.Logger = slog.New(saying{slog.DiscardHandler, said})
	o := defaults
	o.Listen = "127.0.0.1:0"
	s, err := newStageOver(o, env, w.store)
	w.ok(err)
	s.site.tools.now = func() time.Time { return time.Now().Add(2 * leavingLasts) }
	w.ok(s.Open(t.Context()))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, nil) }()
	for message := range said {
		if strings.Contains(message, "is erased") {
			break
		}
	}
	cancel()
	w.ok(<-ended)
	w.ok(s.Close())
	if _, err := w.store.Account(t.Context(), "eleni"); err == nil {
		t.Error("the account is still there")
	}
}
