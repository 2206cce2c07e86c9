package portal

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/storage/control"
)

func isAdmin(a *control.Account) { a.Admin = true }

func (w *world) state(owner string) control.AccountState {
	w.t.Helper()
	a, err := w.store.Account(w.t.Context(), owner)
	w.ok(err)
	return a.State
}

// Who manages no accounts gets nothing of what does, as if it were not there, and changes nothing.
func TestAdminPagesAreForAdmins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eleni := w.account("eleni")
	w.account("costas")
	for _, r := range adminRoutes {
		method, path, _ := strings.Cut(r.pattern, " ")
		if r.admin == nil {
			t.Errorf("%s is for others", r.pattern)
		}
		if method == http.MethodGet {
			eleni.get(path+"?owner=costas").wants(t, http.StatusNotFound)
			w.browser().get(path).wants(t, http.StatusSeeOther, "/login")
			continue
		}
		eleni.post(path, "owner", "costas", "admin", "1", "name", "new", "quota", "1").wants(t, http.StatusNotFound)
		w.browser().post(path, "owner", "costas").wants(t, http.StatusUnauthorized)
	}
	if page := eleni.get("/").wants(t, http.StatusOK); strings.Contains(page.body, "/admin") {
		t.Error("the navigation leads there")
	}
	a, err := w.store.Account(t.Context(), "costas")
	w.ok(err)
	if a.State != control.AccountActive || a.Admin {
		t.Errorf("the account is %+v", a)
	}
	if _, err := w.store.Account(t.Context(), "new"); err == nil {
		t.Error("an account was added")
	}
}

// An invitation is mailed where there is an address, and shown once where there is none.
func TestInvite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.account("admin", isAdmin)
	w.urd("asked", "https://a.example/")
	for said, typed := range map[string][]string{
		"A name has 1 to":              {"name", ""},
		"This is no mail":              {"name", "new", "mail", "nowhere"},
		"This name is taken":           {"name", "admin"},
		"Another account has":          {"name", "new", "mail", "ADMIN@example.org"},
		"Something is stored under it": {"name", "asked"},
	} {
		said = strings.Replace(said, "stored under it", "stored under this name", 1)
		admin.post("/admin/invite", typed...).wants(t, http.StatusUnprocessableEntity, said)
	}
	admin.post("/admin/invite", "name", "eleni", "mail", "eleni@example.org").wants(t, http.StatusSeeOther, "/admin?done=invited")
	w.browser().post(w.linkIn(w.mails[0].Text), "password", knownPassword, "again", knownPassword).wants(t, http.StatusSeeOther)
	shown := admin.post("/admin/invite", "name", "costas", "admin", "1").wants(t, http.StatusOK, "costas", "shown this once")
	link := regexp.MustCompile(`<code>([^<]+)</code>`).FindStringSubmatch(shown.body)[1]
	if page := admin.get("/admin").wants(t, http.StatusOK, "costas", "invited"); strings.Contains(page.body, link) {
		t.Error("the link is shown again")
	}
	costas := w.browser()
	costas.post(strings.TrimPrefix(link, w.url), "password", knownPassword, "again", knownPassword).wants(t, http.StatusSeeOther)
	costas.get("/admin").wants(t, http.StatusOK)
	admin.post("/admin/invite", "name", "asked", "inherit", "1").wants(t, http.StatusOK)
}

// Another link is mailed to who has an address, so that whoever manages accounts cannot open them; and is good a day.
func TestAnotherLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.account("admin", isAdmin)
	w.account("eleni")
	w.account("costas", func(a *control.Account) { a.Mail = "" })
	mailed := admin.post("/admin/link", "owner", "eleni").wants(t, http.StatusSeeOther, "done=link_mailed")
	if strings.Contains(mailed.String(), "/in/") || len(w.mails) != 1 {
		t.Errorf("%d mails, and %v", len(w.mails), mailed)
	}
	w.browser().get(w.linkIn(w.mails[0].Text)).wants(t, http.StatusOK, "eleni")
	admin.post("/admin/link", "owner", "costas").wants(t, http.StatusOK, w.url+"/in/")
	for token, err := range w.store.Of("costas").Tokens(t.Context(), control.PurposeReset) {
		w.ok(err)
		if lasts := time.Until(token.Expires); lasts > resetLasts || lasts < resetLasts-time.Hour {
			t.Errorf("it is good for %s", lasts)
		}
	}
	admin.post("/admin/lock", "owner", "costas").wants(t, http.StatusSeeOther)
	admin.post("/admin/link", "owner", "costas").wants(t, http.StatusConflict, "unlock it first")
	admin.post("/admin/link", "owner", "nobody").wants(t, http.StatusNotFound)
}

// Who is locked is logged in nowhere until they are unlocked. Nobody locks themselves.
func TestLock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, eleni := w.account("admin", isAdmin), w.account("eleni")
	for _, path := range []string{"/admin/lock", "/admin/unlock", "/admin/role", "/admin/limits", "/admin/link", "/admin/invite"} {
		admin.get(path+"?owner=eleni&admin=1").wants(t, http.StatusNotFound)
	}
	eleni.get("/").wants(t, http.StatusOK)
	admin.post("/admin/lock", "owner", "eleni").wants(t, http.StatusSeeOther)
	eleni.get("/").wants(t, http.StatusSeeOther, "/login")
	admin.get("/admin/account?owner=eleni").wants(t, http.StatusOK, "locked", "/admin/unlock")
	admin.post("/admin/unlock", "owner", "eleni").wants(t, http.StatusSeeOther)
	if state := w.state("eleni"); state != control.AccountInvited { // she has no password yet
		t.Errorf("she is %s", state)
	}
	hash, err := w.site.tools.passwords.hash(t.Context(), knownPassword)
	w.ok(err)
	w.ok(w.store.SetPassword(t.Context(), "eleni", hash))
	admin.post("/admin/lock", "owner", "eleni").wants(t, http.StatusSeeOther)
	admin.post("/admin/unlock", "owner", "eleni").wants(t, http.StatusSeeOther)
	w.login("eleni", knownPassword)
	admin.post("/admin/lock", "owner", "admin").wants(t, http.StatusConflict, "your own account")
	admin.post("/admin/lock", "owner", "nobody").wants(t, http.StatusNotFound)
	admin.get("/admin").wants(t, http.StatusOK)
}

// The last who manages accounts, and can log in, does not stop.
func TestTheLastAdminStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.account("admin", isAdmin)
	w.account("eleni")
	w.account("locked", isAdmin, func(a *control.Account) { a.State = control.AccountActive })
	admin.post("/admin/lock", "owner", "locked").wants(t, http.StatusSeeOther)
	admin.post("/admin/role", "owner", "admin", "admin", "0").wants(t, http.StatusConflict, "Nobody else")
	admin.post("/admin/role", "owner", "eleni", "admin", "1").wants(t, http.StatusSeeOther)
	admin.post("/admin/role", "owner", "admin", "admin", "0").wants(t, http.StatusSeeOther, "/?done=role")
	admin.get("/admin").wants(t, http.StatusNotFound)
}

// Of two who take the role from each other, or lock each other's account, at once, one still manages accounts.
func TestAnAdminIsLeft(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/admin/role", "/admin/lock"} {
		for range 20 {
			w := newWorld(t)
			browsers := map[string]*browser{"eleni": w.account("eleni", isAdmin), "costas": w.account("costas", isAdmin)}
			var both sync.WaitGroup
			for name, other := range map[string]string{"eleni": "costas", "costas": "eleni"} {
				both.Go(func() { browsers[name].post(path, "owner", other, "admin", "0") })
			}
			both.Wait()
			admins := 0
			for a, err := range w.store.Accounts(t.Context()) {
				w.ok(err)
				if a.Admin && a.State == control.AccountActive {
					admins++
				}
			}
			if admins != 1 {
				t.Fatalf("%s: %d manage accounts, want one", path, admins)
			}
		}
	}
}

// Limits are set, and refused where they are no numbers; a budget is taken back.
func TestLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.account("admin", isAdmin)
	w.account("eleni")
	set := func(typed ...string) answer {
		return admin.post("/admin/limits", append([]string{"owner", "eleni"}, typed...)...)
	}
	set("quota", "x", "alerts", "1", "urds", "1", "keywords", "1").wants(t, http.StatusUnprocessableEntity, "This is a whole number", `value="x"`)
	set("quota", "1", "alerts", "-1", "urds", "1", "keywords", "1").wants(t, http.StatusUnprocessableEntity)
	set("quota", "500", "alerts", "20", "urds", "30", "keywords", "0").wants(t, http.StatusSeeOther)
	has := func(quota int, budget control.Budget) {
		t.Helper()
		q, err := w.store.Quota(t.Context(), "eleni")
		w.ok(err)
		b, err := w.store.Budget(t.Context(), "eleni")
		w.ok(err)
		if q != quota || b != budget {
			t.Errorf("quota %d and budget %+v, want %d and %+v", q, b, quota, budget)
		}
	}
	has(500, control.Budget{Alerts: 20, URDs: 30})
	admin.get("/admin/account?owner=eleni").wants(t, http.StatusOK, `value="500"`, `value="20"`, `value="30"`)
	set("quota", "0", "alerts", "", "reset", "1").wants(t, http.StatusSeeOther)
	has(0, control.DefaultBudget)
}

// The pages of accounts say how much there is, and not what.
func TestAdminSeesNumbersAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.account("admin", isAdmin)
	w.account("eleni")
	w.aci("eleni", w.urd("eleni", "https://private.example/"), "private news")
	n, err := w.store.Of("eleni").AddChannel(t.Context(), control.Channel{Kind: control.ChannelMail, Name: "private channel", State: control.ChannelActive})
	w.ok(err)
	for i := range 5 { // after so many refusals it is stopped
		w.ok(w.store.PutEntry(t.Context(), control.Entry{Channel: n, Key: strings.Repeat("k", i+1), Due: time.Unix(1e9, 0)}))
		made, err := w.store.Compose(t.Context(), time.Now(), 1, func(_ int64, keys []string) string { return "private " + keys[0] })
		w.ok(err)
		_, err = w.store.Attempted(t.Context(), control.Attempt{Message: made[0].ID, Said: "private answer"})
		w.ok(err)
	}
	for _, path := range []string{"/admin", "/admin/account?owner=eleni"} {
		page := admin.get(path).wants(t, http.StatusOK, "eleni", "eleni@example.org")
		if strings.Contains(page.body, "private") {
			t.Errorf("%s shows what is eleni's: %s", path, page.body)
		}
	}
	row := regexp.MustCompile(`eleni</a></th>(.*?)</tr>`).FindStringSubmatch(admin.get("/admin").body)
	var numbers []string
	for _, cell := range regexp.MustCompile(`<td>(\d+)</td>`).FindAllStringSubmatch(row[1], -1) {
		numbers = append(numbers, cell[1])
	}
	if !slices.Equal(numbers, []string{"1", "5", "1"}) {
		t.Errorf("URDs, dead messages and stopped channels are %v", numbers)
	}
}
