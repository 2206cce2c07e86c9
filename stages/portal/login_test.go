package portal

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/storage/control"
)

// Who was sent a link sets a password by it, once, and logs in with it from then on, by name or mail address.
func TestInvitation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.invite("eleni")
	w.ok(w.store.ChangeAccount(t.Context(), "eleni", func(a *control.Account) error { a.Mail = "Eleni@example.org"; return nil }))
	b := w.browser()
	b.get("/").wants(t, http.StatusSeeOther, "/login")
	b.get("/in/"+token).wants(t, http.StatusOK, "eleni")
	b.get("/in/"+token).wants(t, http.StatusOK, "eleni") // a GET does not use it up
	b.post("/in/"+token, "password", "short", "again", "short").wants(t, http.StatusUnprocessableEntity, "at least 10")
	b.post("/in/"+token, "password", "a long sentence", "again", "another").wants(t, http.StatusUnprocessableEntity, "not the same")
	b.post("/in/"+token, "password", "a long sentence", "again", "a long sentence").wants(t, http.StatusSeeOther, "/?done=password_set")
	b.get("/").wants(t, http.StatusOK, "eleni")
	b.get("/in/"+token).wants(t, http.StatusGone)
	b.post("/logout").wants(t, http.StatusSeeOther)
	b.get("/").wants(t, http.StatusSeeOther, "/login")
	for _, name := range []string{"eleni", "eleni@EXAMPLE.org"} {
		c := w.browser()
		c.post("/login", "name", name, "password", "a long sentense").wants(t, http.StatusUnprocessableEntity, "do not go together")
		c.post("/login", "name", name, "password", "a long sentence", "to", "/a/7").wants(t, http.StatusSeeOther, "/a/7")
		c.get("/").wants(t, http.StatusOK, "eleni")
	}
}

// Nobody learns from how long an answer takes whether there is an account: it comes before the mail is taken.
func TestAMailIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.SignUp = "open" })
	w.account("eleni")
	taken := make(chan struct{})
	take := sync.OnceFunc(func() { close(taken) })
	defer take()
	w.site.tools.mail = func(*visit, *delivery.Message) error {
		<-taken
		return nil
	}
	for path, form := range map[string]url.Values{
		"/forgot": {"mail": {"eleni@example.org"}}, "/join": {"name": {"costas"}, "mail": {"eleni@example.org"}},
	} {
		client := &http.Client{Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		got, err := client.PostForm(w.url+path, form)
		w.ok(err)
		w.ok(got.Body.Close())
		if got.StatusCode != http.StatusSeeOther {
			t.Errorf("%s: %s", path, got.Status)
		}
	}
	take()
	w.site.tools.unseen.Wait()
}

// A forgotten password is set by a link that is mailed; the answer is the same where there is no such account.
func TestForgottenPassword(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.account("eleni")
	b := w.browser()
	there := b.post("/forgot", "mail", "eleni@example.org")
	missing := b.post("/forgot", "mail", "nobody@example.org")
	if there.String() != missing.String() || there.status != http.StatusSeeOther {
		t.Errorf("it tells who has an account: %v and %v", there, missing)
	}
	if len(w.mails) != 1 {
		t.Fatalf("%d mails", len(w.mails))
	}
	link := regexp.MustCompile(`http://\S+/in/\S+`).FindString(w.mails[0].Text)
	path, is := strings.CutPrefix(link, w.url)
	if !is {
		t.Fatalf("the mail leads to %q: %s", link, w.mails[0].Text)
	}
	b.post(path, "password", "another sentence", "again", "another sentence").wants(t, http.StatusSeeOther)
	w.browser().post("/login", "name", "eleni", "password", "another sentence").wants(t, http.StatusSeeOther)
}
