package portal

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/webrace/webrace/storage/control"
)

// newMail is what a token holds that confirms an address of an account.
type newMail struct {
	Address string `json:"account_mail"`
}

// changeMail mails a link to another address, which becomes that of the account when it is confirmed. It takes the
// password: whoever has the address can set another one.
func changeMail(v *visit, mine control.Owned) error {
	f, err := v.form()
	if err != nil {
		return err
	}
	address := f.line("mail")
	if !isMailAddress(address) {
		f.wrong("mail", "forgot.wrong")
	} else if _, err := v.knowsPassword(mine, f, "mail_password"); err != nil {
		return err
	}
	if !f.ok() {
		return v.showSettings(http.StatusUnprocessableEntity, mine, f, "")
	}
	token := rand.Text()
	if err := v.mailTo(mine.Owner(), address, "address", "/settings/mail/"+token); err != nil {
		return err
	}
	data, err := json.Marshal(newMail{address})
	if err != nil {
		return err
	}
	err = mine.AddToken(v.r.Context(), token, control.Token{Purpose: control.PurposeConfirm, Data: data, Expires: v.tools.now().Add(linkLasts)})
	if err != nil {
		return err
	}
	return v.see("/settings", "mail_asked")
}

// newMailPage is what the page behind the link shows.
type newMailPage struct{ Address string }

// newMailOf returns the address that a token confirms as that of the account. Tokens confirm other addresses as well.
func newMailOf(t control.Token, err error) (string, error) {
	var of newMail
	if errors.Is(err, control.ErrNotFound) || err == nil && (json.Unmarshal(t.Data, &of) != nil || of.Address == "") {
		return "", refuse(http.StatusGone, "new_mail.over")
	}
	return of.Address, err
}

// showNewMail shows what the link is for. It stays good: programs that look at mails follow links.
func showNewMail(v *visit, mine control.Owned) error {
	address, err := newMailOf(mine.Token(v.r.Context(), v.r.PathValue("token"), control.PurposeConfirm))
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, "new_mail", newMailPage{address})
}

// confirmMail makes the address that of the account, and tells the one before.
func confirmMail(v *visit, mine control.Owned) error {
	ctx, token := v.r.Context(), v.r.PathValue("token")
	if _, err := newMailOf(mine.Token(ctx, token, control.PurposeConfirm)); err != nil {
		return err
	}
	address, err := newMailOf(mine.UseToken(ctx, token, control.PurposeConfirm))
	if err != nil {
		return err
	}
	var before string
	err = mine.ChangeAccount(ctx, func(a *control.Account) error {
		before, a.Mail = a.Mail, address
		return nil
	})
	var taken *control.TakenError
	switch {
	case errors.As(err, &taken):
		return refuse(http.StatusConflict, "new_mail.taken")
	case err != nil:
		return err
	}
	v.notice(mine.Owner(), before, "changed_address")
	return v.see("/settings", "mail_changed")
}
