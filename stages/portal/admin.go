package portal

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/webrace/webrace/storage/control"
)

// adminRoutes are those of who manages accounts.
var adminRoutes = []route{
	{pattern: "GET /admin", admin: showAccounts, section: "admin"},
	{pattern: "POST /admin/invite", admin: invite, section: "admin"},
	{pattern: "GET /admin/account", admin: showAccount, section: "admin"},
	{pattern: "POST /admin/link", admin: sendLink, section: "admin"},
	{pattern: "POST /admin/lock", admin: lockAccount, section: "admin"},
	{pattern: "POST /admin/unlock", admin: unlockAccount, section: "admin"},
	{pattern: "POST /admin/role", admin: changeRole, section: "admin"},
	{pattern: "POST /admin/limits", admin: changeLimits, section: "admin"},
}

// accountsPage is what the page of all accounts shows.
type accountsPage struct {
	Form     *form
	Accounts []accountRow
	Link     string // of who was invited just now without a mail address, which is shown this once
	LinkOf   string
}

// accountRow is what is told of an account: how much its owner has, and not what.
type accountRow struct {
	Owner, Href, State, Mail, Created, Seen string
	Admin                                   bool
	URDs                                    int
	Dead                                    int // messages that were given up
	Stopped                                 int // channels that were stopped
}

func showAccounts(v *visit, store accounts) error {
	return v.showAccounts(http.StatusOK, store, accountsPage{Form: newForm(nil)})
}

func (v *visit) showAccounts(status int, store accounts, p accountsPage) error {
	ctx := v.r.Context()
	had, err := readHoldings(ctx, store)
	if err != nil {
		return err
	}
	for a, err := range store.Accounts(ctx) {
		if err != nil {
			return err
		}
		p.Accounts = append(p.Accounts, v.accountRow(a, had))
	}
	return v.show(status, "admin", p)
}

func (v *visit) accountRow(a control.Account, had holdings) accountRow {
	return accountRow{
		Owner: a.Owner, Href: accountPath(a.Owner), State: text("admin.state_of." + string(a.State)), Mail: a.Mail, Created: v.moment(a.Created),
		Seen: v.moment(a.Seen), Admin: a.Admin, URDs: had.urds[a.Owner], Dead: had.dead[a.Owner], Stopped: had.stopped[a.Owner],
	}
}

func accountPath(owner string) string { return "/admin/account?owner=" + url.QueryEscape(owner) }

// holdings are how much owners have, by owner.
type holdings struct{ urds, dead, stopped map[string]int }

func readHoldings(ctx context.Context, store accounts) (had holdings, err error) {
	had = holdings{make(map[string]int), make(map[string]int), make(map[string]int)}
	for o, err := range store.Owners(ctx) {
		if err != nil {
			return had, err
		}
		had.urds[o.Name] = o.URDs
	}
	dead, err := store.DeadMessages(ctx)
	if err != nil {
		return had, err
	}
	for c, err := range store.AllChannels(ctx) {
		if err != nil {
			return had, err
		}
		had.dead[c.Owner] += dead[c.N]
		if c.State == control.ChannelStopped {
			had.stopped[c.Owner]++
		}
	}
	return had, nil
}

// invite adds an account, and mails its owner the link by which the password is set, or shows it this once if there is
// no address.
func invite(v *visit, store accounts) error {
	f, err := v.form()
	if err != nil {
		return err
	}
	a := control.Account{Owner: f.line("name"), Mail: f.line("mail"), Admin: f.Is("admin", "1"), State: control.AccountInvited}
	if !isName(a.Owner) {
		f.wrong("name", "admin.wrong_name", longestOfNames)
	}
	if a.Mail != "" && !isMailAddress(a.Mail) {
		f.wrong("mail", "forgot.wrong")
	}
	if f.ok() {
		if err := addAccount(v, store, f, a); err != nil {
			return err
		}
	}
	if !f.ok() {
		return v.showAccounts(http.StatusUnprocessableEntity, store, accountsPage{Form: f})
	}
	link, err := giveLink(v, store, a)
	switch {
	case err != nil:
		return err
	case link == "":
		return v.see("/admin", "invited")
	}
	return v.showAccounts(http.StatusOK, store, accountsPage{Form: newForm(nil), Link: link, LinkOf: a.Owner})
}

// addAccount adds an account, and reports in the form what of it is taken.
func addAccount(v *visit, store accounts, f *form, a control.Account) error {
	err := store.AddAccount(v.r.Context(), a, f.Is("inherit", "1"))
	var taken *control.TakenError
	switch {
	case !errors.As(err, &taken):
		return err
	case taken.By != "":
		f.wrong("name", "admin.inherits")
	case taken.What == "owner":
		f.wrong("name", "join.taken")
	default:
		f.wrong("mail", "admin.mail_taken")
	}
	return nil
}

// accountPage is what the page of one account shows.
type accountPage struct {
	accountRow
	Form     *form
	Self     bool
	CanLink  bool
	Lockable bool
	Locked   bool // or leaving: it can be unlocked
	Link     string
}

func showAccount(v *visit, store accounts) error {
	return v.showAccount(http.StatusOK, store, v.r.URL.Query().Get("owner"), newForm(make(url.Values)), "")
}

func (v *visit) showAccount(status int, store accounts, owner string, f *form, link string) error {
	ctx := v.r.Context()
	a, err := store.Account(ctx, owner)
	if err != nil {
		return err
	}
	had, err := readHoldings(ctx, store)
	if err != nil {
		return err
	}
	p := accountPage{accountRow: v.accountRow(a, had), Form: f, Self: owner == v.account.Owner, Link: link}
	p.CanLink = a.State == control.AccountActive || a.State == control.AccountInvited
	p.Lockable = p.CanLink && !p.Self
	p.Locked = !p.CanLink
	if !f.values.Has("quota") {
		if err := fillLimits(ctx, store, owner, f); err != nil {
			return err
		}
	}
	return v.showTitled(status, "account", owner, p)
}

// fillLimits fills a form with what an owner may have.
func fillLimits(ctx context.Context, store accounts, owner string, f *form) error {
	quota, err := store.Quota(ctx, owner)
	if err != nil {
		return err
	}
	b, err := store.Budget(ctx, owner)
	if err != nil {
		return err
	}
	for name, n := range map[string]int{"quota": quota, "alerts": b.Alerts, "urds": b.URDs, "keywords": b.Keywords} {
		f.values.Set(name, strconv.Itoa(n))
	}
	return nil
}

// changeLimits sets how many requests a day an owner may cause, and how much they may have; or takes the latter back.
func changeLimits(v *visit, store accounts) error {
	f, a, err := accountOf(v, store)
	if err != nil {
		return err
	}
	number := func(name string) int {
		n, err := strconv.Atoi(f.line(name))
		if err != nil || n < 0 || n > 1<<31-1 {
			f.wrong(name, "admin.wrong_number")
		}
		return n
	}
	quota := number("quota")
	var b *control.Budget // nil takes back the one that there is
	if !f.Is("reset", "1") {
		b = &control.Budget{Alerts: number("alerts"), URDs: number("urds"), Keywords: number("keywords")}
	}
	if !f.ok() {
		return v.showAccount(http.StatusUnprocessableEntity, store, a.Owner, f, "")
	}
	if err := store.SetQuota(v.r.Context(), a.Owner, quota); err != nil {
		return err
	}
	if err := store.SetBudget(v.r.Context(), a.Owner, b); err != nil {
		return err
	}
	return v.see(accountPath(a.Owner), "limits")
}

// accountOf returns what was typed, and the account that it is about.
func accountOf(v *visit, store accounts) (*form, control.Account, error) {
	f, err := v.form()
	if err != nil {
		return nil, control.Account{}, err
	}
	a, err := store.Account(v.r.Context(), f.Value("owner"))
	return f, a, err
}
