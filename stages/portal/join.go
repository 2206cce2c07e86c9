package portal

import (
	"errors"
	"net/http"

	"github.com/webrace/webrace/storage/control"
)

func showJoin(v *visit, _ *control.Store) error {
	if v.tools.options.SignUp != "open" {
		return control.ErrNotFound
	}
	return v.show(http.StatusOK, "join", formPage{newForm(nil)})
}

// join adds an account, and mails its owner the link by which the password is set: until then nobody has it. Whether a
// mail address has an account already the answer does not tell: its owner is mailed that it has.
func join(v *visit, store *control.Store) error {
	if v.tools.options.SignUp != "open" {
		return control.ErrNotFound
	}
	f, err := v.form()
	if err != nil {
		return err
	}
	a := control.Account{Owner: f.line("name"), Mail: f.line("mail"), State: control.AccountInvited}
	if a.Owner == "" || len(a.Owner) > 64 {
		f.wrong("name", "join.wrong_name")
	}
	if !isMailAddress(a.Mail) {
		f.wrong("mail", "forgot.wrong")
	}
	if !f.ok() {
		return v.show(http.StatusUnprocessableEntity, "join", formPage{f})
	}
	if err := v.tools.limits.pass(v.tools.now(), linksAsked, networkOf(v.tools.clientOf(v.r))); err != nil {
		return err
	}
	var taken *control.TakenError
	err = store.AddAccount(v.r.Context(), a, false)
	switch {
	case errors.As(err, &taken) && taken.What == "mail address":
		v.unseen(func(v *visit) error {
			there, err := store.AccountByMail(v.r.Context(), a.Mail)
			if err != nil {
				return err
			}
			return v.mailTo(there.Owner, there.Mail, "joined", "/forgot")
		})
	case errors.As(err, &taken):
		f.wrong("name", "join.taken")
		return v.show(http.StatusUnprocessableEntity, "join", formPage{f})
	case err != nil:
		return err
	default:
		v.unseen(func(v *visit) error { return mailLink(v, store, a, control.PurposeInvite, "join", linkLasts) })
	}
	return v.see("/login", "mailed")
}
