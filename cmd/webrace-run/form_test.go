package main

import (
	"net/http"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
)

// A crawl logs in by a form once, a later one goes on with its cookies, and one that has to, logs in again.
func TestACrawlLogsInByAForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var logins, valid atomic.Int64
	valid.Store(1)
	w.handle("/login", func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.PostFormValue("pw") == hush && r.PostFormValue("user") == "eleni" {
			http.SetCookie(rw, &http.Cookie{Name: "session", Value: strings.Repeat("s3ss10n", int(logins.Add(1))), Path: "/"})
			http.Redirect(rw, r, "/", http.StatusSeeOther)
			return
		}
		rw.Write(document(`<form method="post"><input name="user"><input name="pw" type="password"></form>`))
	})
	member := func(paragraphs ...string) http.HandlerFunc {
		return func(rw http.ResponseWriter, r *http.Request) {
			if c, err := r.Cookie("session"); err != nil || c.Value != strings.Repeat("s3ss10n", int(valid.Load())) {
				rw.Write(document("for members"))
				return
			}
			serveDocument(rw, r, document(append(paragraphs, "Log out")...))
		}
	}
	w.handle("/", member("tea within", "/deeper"))
	w.handle("/deeper", member("more tea"))
	w.open().Close()
	set := exec.Command("webrace-store", "--data", w.data, "secret", "set", "club", "--kind", "form", "--page", w.URL+"/login", "--password", "pw",
		"--field", "user=eleni", "--success", "text:Log out", "--insecure")
	set.Stdin = strings.NewReader(hush)
	if out, err := set.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	said := ""
	run := func(wantLogins int64) {
		t.Helper()
		p := w.start(these(w.asks("ann", "/", depth(2), about("tea"), as("club"))), askAll...)
		p.mustExit(cli.OK)
		said += p.said()
		if n := logins.Load(); n != wantLogins {
			t.Errorf("%d log-ins, want %d", n, wantLogins)
		}
	}
	run(1)
	mustBe(t, "news", w.news(), "ann /", "ann /deeper")
	run(1)
	valid.Store(2) // the first is over
	run(2)
	mustBe(t, "news", w.news())
	if strings.Contains(said, hush) || strings.Contains(said, "s3ss10n") {
		t.Errorf("a secret is said:\n%s", said)
	}
	w.mustHide(hush)
	w.mustHide("s3ss10n")

	for _, c := range []struct{ flags, says string }{
		{"--kind form --page " + w.URL + "/login", "--success"},
		{"--kind form --page login --success css:a", "is no page"},
		{"--kind form --page " + w.URL + "/login --success .logout", "is no sign of success"},
		{"--kind form --page " + w.URL + "/login --success css:a --field user", "NAME=VALUE"},
		{"--kind basic --user eleni --success css:a", "are for --kind form"},
		{"--kind session", "kept by the program itself"},
	} {
		if out, status := w.store(append([]string{"secret", "set", "x"}, strings.Fields(c.flags)...)...); status != cli.Usage || !strings.Contains(out, c.says) {
			t.Errorf("%s: %d, %s", c.flags, status, out)
		}
	}
}
