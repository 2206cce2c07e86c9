package portal

import (
	"errors"
	"net/http"

	"github.com/webrace/webrace/storage/control"
)

// loginPage is what the page to log in shows.
type loginPage struct {
	Form   *form
	To     string // where it leads
	SignUp bool
	Mail   bool // whether a forgotten password can be set anew by mail
}

func (v *visit) loginPage(f *form, to string) loginPage {
	return loginPage{f, back(to), v.tools.options.SignUp == "open", true}
}

func showLogin(v *visit, _ *control.Store) error {
	to := v.r.URL.Query().Get("to")
	if v.account.Owner != "" {
		return v.see(back(to), "")
	}
	return v.show(http.StatusOK, "login", v.loginPage(newForm(nil), to))
}

// logIn takes a name, or a mail address, and a password. Whether there is such an account, and what state it is in, the
// answer does not tell, nor how long it takes.
func logIn(v *visit, store *control.Store) error {
	f, err := v.form()
	if err != nil {
		return err
	}
	name, from := f.line("name"), networkOf(v.tools.clientOf(v.r))
	now := v.tools.now()
	for _, limit := range []struct {
		allowance
		who string
	}{{perAddress, from}, {perAccount, from + " " + name}} {
		if err := v.tools.limits.pass(now, limit.allowance, limit.who); err != nil {
			return err
		}
	}
	a, hash, err := lookUp(v, store, name)
	if err != nil {
		return err
	}
	is, err := v.tools.passwords.matches(v.r.Context(), f.Value("password"), hash)
	if err != nil {
		return err
	}
	if !is || a.State != control.AccountActive {
		f.wrong("password", "login.wrong")
		return v.show(http.StatusUnprocessableEntity, "login", v.loginPage(f, f.Value("to")))
	}
	if err := v.admit(a.Owner); err != nil {
		return err
	}
	v.noteAgent(store.Of(a.Owner))
	return v.see(back(f.Value("to")), "")
}

// lookUp returns an account by its name or mail address, and the hash of its password; none, and no error, if there is
// none.
func lookUp(v *visit, store *control.Store, name string) (a control.Account, hash string, err error) {
	ctx := v.r.Context()
	a, err = store.Account(ctx, name)
	if errors.Is(err, control.ErrNotFound) {
		a, err = store.AccountByMail(ctx, name)
	}
	if err == nil {
		hash, err = store.Password(ctx, a.Owner)
	}
	if errors.Is(err, control.ErrNotFound) {
		return control.Account{}, "", nil
	}
	return a, hash, err
}
