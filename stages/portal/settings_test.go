package portal

import (
	"archive/zip"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/control/accountfile"
)

const knownPassword = "a long sentence"

// withPassword adds an account, and returns a browser that has logged in by its password.
func (w *world) withPassword(name string) *browser {
	w.t.Helper()
	w.account(name)
	hash, err := w.site.tools.passwords.hash(w.t.Context(), knownPassword)
	w.ok(err)
	w.ok(w.store.SetPassword(w.t.Context(), name, hash))
	return w.login(name, knownPassword)
}

func (w *world) login(name, password string) *browser {
	w.t.Helper()
	b := w.browser()
	b.name = name
	b.post("/login", "name", name, "password", password).wants(w.t, http.StatusSeeOther)
	return b
}

// cookie returns the token of a browser's session.
func (b *browser) cookie() string {
	at, err := url.Parse(b.w.url)
	b.w.ok(err)
	for _, c := range b.client.Jar.Cookies(at) {
		if c.Name == b.w.site.tools.sessions.Cookie.Name {
			return c.Value
		}
	}
	return ""
}

// hidden returns the value of the first button or field of a name on a page.
func (a answer) hidden(t *testing.T, name string) string {
	t.Helper()
	found := regexp.MustCompile(`name="` + name + `" value="([^"]+)"`).FindStringSubmatch(a.body)
	if found == nil {
		t.Fatalf("there is no %s in %s", name, a.body)
	}
	return found[1]
}

// linkIn returns the path that a mail leads to.
func (w *world) linkIn(text string) string {
	w.t.Helper()
	path, is := strings.CutPrefix(regexp.MustCompile(`http://\S+/\S+`).FindString(text), w.url)
	if !is {
		w.t.Fatalf("the mail leads nowhere: %s", text)
	}
	return path
}

// Times are shown in the zone that one says; one that is misspelt is asked about.
func TestTimeZone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni := w.account("eleni")
	w.aci("eleni", w.urd("eleni", "https://a.example/"), "Boat")
	eleni.get("/").wants(t, http.StatusOK, "1 November 2026, 10:00 UTC")
	eleni.get("/settings").wants(t, http.StatusOK, "Time zone", "eleni@example.org")
	eleni.post("/settings/profile", "zone", "athens").wants(t, http.StatusUnprocessableEntity, "Did you mean Europe/Athens", `value="athens"`)
	eleni.post("/settings/profile", "zone", "qqqqqqqq").wants(t, http.StatusUnprocessableEntity, "There is no such time zone: write")
	eleni.post("/settings/profile", "zone", "Europe/Athens").wants(t, http.StatusSeeOther, "/settings?done=profile")
	eleni.get("/settings?done=profile").wants(t, http.StatusOK, "It is saved.", `value="Europe/Athens"`)
	eleni.get("/").wants(t, http.StatusOK, "1 November 2026, 12:00")
	eleni.post("/settings/profile", "zone", "").wants(t, http.StatusSeeOther)
	eleni.get("/").wants(t, http.StatusOK, "10:00 UTC")
}

// A password is changed by whoever knows the old one: other sessions, links and tokens end, this session goes on under
// another token, and the owner is told.
func TestChangePassword(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	here := w.withPassword("eleni")
	there := w.login("eleni", knownPassword)
	made := here.post("/settings/tokens", "token_name", "cron").wants(t, http.StatusOK)
	token := regexp.MustCompile(`<code>([^<]+)</code>`).FindStringSubmatch(made.body)[1]
	change := func(old, password, again string) answer {
		return here.post("/settings/password", "old", old, "password", password, "again", again)
	}
	const other = "another sentence"
	change("wrong sentence", other, other).wants(t, http.StatusUnprocessableEntity, "This is not your password.")
	change(knownPassword, "short", "short").wants(t, http.StatusUnprocessableEntity, "at least 10")
	change(knownPassword, other, other+"x").wants(t, http.StatusUnprocessableEntity, "not the same")
	there.get("/").wants(t, http.StatusOK)
	if len(w.mails) != 0 {
		t.Fatalf("it is said that a password was changed which was not: %v", w.mails[0].Text)
	}
	before := here.cookie()
	page := change(knownPassword, other, other).wants(t, http.StatusSeeOther, "/settings?done=password_changed")
	if strings.Contains(page.body, other) {
		t.Error("the password is in the answer")
	}
	if here.cookie() == before {
		t.Error("the session goes on under the token that it had")
	}
	here.get("/").wants(t, http.StatusOK)
	there.get("/").wants(t, http.StatusSeeOther, "/login")
	old := w.browser()
	at, err := url.Parse(w.url)
	w.ok(err)
	old.client.Jar.SetCookies(at, []*http.Cookie{{Name: w.site.tools.sessions.Cookie.Name, Value: before, Path: "/"}})
	old.get("/").wants(t, http.StatusSeeOther, "/login")
	program := w.browser()
	program.header.Set("Authorization", "Bearer "+token)
	program.get("/a/1").wants(t, http.StatusUnauthorized)
	w.browser().post("/login", "name", "eleni", "password", knownPassword).wants(t, http.StatusUnprocessableEntity)
	w.login("eleni", other)
	if len(w.mails) != 1 || !strings.Contains(w.mails[0].Text, "another password") {
		t.Errorf("the owner was sent %d mails", len(w.mails))
	}
}

// Passwords cannot be tried at will by who has got hold of a session.
func TestPasswordsAreNotGuessedInSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni := w.account("eleni")
	for range passwordsAsked.burst {
		eleni.post("/settings/leave", "password", "guess").wants(t, http.StatusUnprocessableEntity)
	}
	eleni.post("/settings/leave", "password", "guess").wants(t, http.StatusTooManyRequests)
}

// A new address counts when the link was opened that was mailed to it, by who has logged in; the one before is told.
func TestChangeMail(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni, costas := w.withPassword("eleni"), w.withPassword("costas")
	ask := func(mail, password string) answer {
		return eleni.post("/settings/mail", "mail", mail, "mail_password", password)
	}
	ask("no address", knownPassword).wants(t, http.StatusUnprocessableEntity, "This is no mail address")
	ask("new@example.org", "wrong sentence").wants(t, http.StatusUnprocessableEntity, "This is not your password.")
	if len(w.mails) != 0 {
		t.Fatal("a mail is sent")
	}
	ask("new@example.org", knownPassword).wants(t, http.StatusSeeOther, "done=mail_asked")
	if to, _ := w.mails[0].Address.Reveal(); to != "new@example.org" {
		t.Fatalf("the link is mailed to %s", to)
	}
	link := w.linkIn(w.mails[0].Text)
	has := func(want string) {
		t.Helper()
		a, err := w.store.Account(t.Context(), "eleni")
		w.ok(err)
		if a.Mail != want {
			t.Fatalf("the address is %s, want %s", a.Mail, want)
		}
	}
	for range 2 {
		eleni.get(link).wants(t, http.StatusOK, "new@example.org")
	}
	costas.get(link).wants(t, http.StatusGone)
	costas.post(link).wants(t, http.StatusGone)
	w.browser().get(link).wants(t, http.StatusSeeOther, "/login?to=")
	has("eleni@example.org")
	eleni.post(link).wants(t, http.StatusSeeOther, "done=mail_changed")
	has("new@example.org")
	eleni.post(link).wants(t, http.StatusGone)
	if to, _ := w.mails[1].Address.Reveal(); len(w.mails) != 2 || to != "eleni@example.org" {
		t.Errorf("%d mails, the second to %s", len(w.mails), to)
	}

	ask("costas@example.org", knownPassword).wants(t, http.StatusSeeOther) // that it is taken only its owner learns
	eleni.post(w.linkIn(w.mails[2].Text)).wants(t, http.StatusConflict, "Another account")
	has("new@example.org")
	w.ok(w.store.AddToken(t.Context(), "channel", control.Token{Owner: "eleni", Purpose: control.PurposeConfirm, Data: []byte(`{"channel":7}`), Expires: time.Now().Add(time.Hour)}))
	eleni.post("/settings/mail/channel").wants(t, http.StatusGone)
	_, err := w.store.Token(t.Context(), "channel", control.PurposeConfirm)
	if err != nil {
		t.Errorf("what confirms another address is used up: %v", err)
	}
	ask("late@example.org", knownPassword).wants(t, http.StatusSeeOther)
	for token, err := range w.store.Of("eleni").Tokens(t.Context(), control.PurposeConfirm) {
		w.ok(err)
		if time.Until(token.Expires) > time.Hour {
			t.Errorf("a link is good until %s", token.Expires)
		}
	}
}

// A log-in from a browser that did not log in before is told to the owner; one of another version is the same.
func TestNewBrowsersAreTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.withPassword("eleni")
	other := w.browser()
	other.header.Set("User-Agent", "Chromium")
	other.post("/login", "name", "eleni", "password", "wrong sentence").wants(t, http.StatusUnprocessableEntity) // which is no log-in
	for i, c := range []struct {
		agent string
		mails int
	}{
		{"Firefox/140.0 (Linux)", 1}, {"Firefox/140.0 (Linux)", 1}, {"Firefox/141.2 (Linux)", 1}, {"Firefox/141.2 (Telephone)", 2}, {"Firefox/142.0 (Linux)", 2},
	} {
		b := w.browser()
		b.header.Set("User-Agent", c.agent)
		b.post("/login", "name", "eleni", "password", knownPassword).wants(t, http.StatusSeeOther)
		if len(w.mails) != c.mails {
			t.Errorf("after log-in %d, by %s, there are %d mails, want %d", i, c.agent, len(w.mails), c.mails)
		}
	}
	if to, _ := w.mails[0].Address.Reveal(); to != "eleni@example.org" {
		t.Errorf("%s is told", to)
	}
	a, err := w.store.Account(t.Context(), "eleni")
	w.ok(err)
	if n := len(profileOf(a).Agents); n != 3 {
		t.Errorf("%d browsers are remembered", n)
	}
}

// Sessions are listed with what the browser calls itself; each can be ended, or all others at once, and nobody else's.
func TestSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	here, there, far := w.withPassword("eleni"), w.browser(), w.browser()
	for agent, b := range map[string]*browser{"Firefox <1>": there, "Telephone": far} {
		b.header.Set("User-Agent", agent)
		b.post("/login", "name", "eleni", "password", knownPassword).wants(t, http.StatusSeeOther)
	}
	costas := w.withPassword("costas")
	page := here.get("/settings").wants(t, http.StatusOK, "Firefox &lt;1&gt;", "Telephone", "This session")
	if n := strings.Count(page.body, "This session"); n != 1 {
		t.Errorf("this session is listed %d times", n)
	}
	for _, b := range []*browser{there, far} {
		if strings.Contains(page.body, b.cookie()) {
			t.Error("the page holds the token of a session")
		}
	}
	hash := hashOfSession(there.cookie())
	costas.post("/settings/sessions", "session", hash).wants(t, http.StatusNotFound)
	there.get("/").wants(t, http.StatusOK)
	here.get("/settings/sessions?session="+hash).wants(t, http.StatusNotFound)
	here.post("/settings/sessions", "session", hash).wants(t, http.StatusSeeOther)
	there.get("/").wants(t, http.StatusSeeOther, "/login")
	far.get("/").wants(t, http.StatusOK)
	here.post("/settings/sessions", "others", "1").wants(t, http.StatusSeeOther)
	far.get("/").wants(t, http.StatusSeeOther, "/login")
	here.get("/").wants(t, http.StatusOK)
	costas.get("/").wants(t, http.StatusOK)
}

// With a token a program reads what routes for programs show, and nothing else.
func TestTokensOfPrograms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni, costas := w.account("eleni"), w.account("costas")
	w.aci("eleni", w.urd("eleni", "https://a.example/"), "Boat")
	eleni.post("/settings/tokens", "token_name", "").wants(t, http.StatusUnprocessableEntity, "A name has 1 to")
	made := eleni.post("/settings/tokens", "token_name", "cron").wants(t, http.StatusOK, "shown this once", "cron")
	token := regexp.MustCompile(`<code>([^<]+)</code>`).FindStringSubmatch(made.body)[1]
	if page := eleni.get("/settings").wants(t, http.StatusOK, "cron"); strings.Contains(page.body, token) {
		t.Error("the token is shown again")
	}
	program := w.browser()
	program.header.Set("Authorization", "Bearer "+token)
	program.get("/a/1.txt").wants(t, http.StatusOK, "Boat")
	for _, path := range []string{"/", "/settings", "/secrets", "/settings/leave", "/admin"} {
		program.get(path).wants(t, http.StatusUnauthorized)
	}
	program.post("/a/1", "state", "bin").wants(t, http.StatusUnauthorized)
	id := made.hidden(t, "token")
	costas.post("/settings/tokens/delete", "token", id).wants(t, http.StatusNotFound)
	w.ok(w.store.AddToken(t.Context(), "reset", control.Token{Owner: "eleni", Purpose: control.PurposeReset, Expires: time.Now().Add(time.Hour)}))
	for reset, err := range w.store.Of("eleni").Tokens(t.Context(), control.PurposeReset) {
		w.ok(err)
		eleni.post("/settings/tokens/delete", "token", reset.ID).wants(t, http.StatusNotFound)
	}
	program.get("/a/1.txt").wants(t, http.StatusOK)
	eleni.post("/settings/tokens/delete", "token", id).wants(t, http.StatusSeeOther)
	program.get("/a/1.txt").wants(t, http.StatusUnauthorized)
	for range mostTokens {
		eleni.post("/settings/tokens", "token_name", "more").wants(t, http.StatusOK)
	}
	eleni.post("/settings/tokens", "token_name", "more").wants(t, http.StatusUnprocessableEntity, "which is the most")
}

// The export is of who asks, and one that fails is cut.
func TestExport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni := w.account("eleni")
	w.urd("eleni", "https://boats.example/")
	w.account("costas")
	w.urd("costas", "https://cars.example/")
	eleni.get("/settings").wants(t, http.StatusOK, "/settings/export")
	a := eleni.get("/settings/export").wants(t, http.StatusOK)
	if a.header.Get("Content-Type") != "application/zip" || !strings.Contains(a.header.Get("Content-Disposition"), "eleni.zip") {
		t.Errorf("the export is %v", a.header)
	}
	files, err := zip.NewReader(strings.NewReader(a.body), int64(len(a.body)))
	w.ok(err)
	urds, err := fs.ReadFile(files, "urds.xml")
	w.ok(err)
	if !strings.Contains(string(urds), "boats.example") || strings.Contains(string(urds), "cars.example") {
		t.Errorf("%s", urds)
	}
	w.browser().get("/settings/export").wants(t, http.StatusSeeOther, "/login")
	w.site.tools.export = func(_ context.Context, to io.Writer, _ control.Owned, _ control.Account) (accountfile.Written, error) {
		_, err := io.WriteString(to, "begun")
		return accountfile.Written{}, errors.Join(err, errors.New("the disk is gone"))
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/settings/export", nil)
	w.ok(err)
	got, err := eleni.client.Do(r)
	if err == nil {
		_, err = io.ReadAll(got.Body)
		got.Body.Close()
	}
	if err == nil {
		t.Error("an export that failed looks whole")
	}
}
