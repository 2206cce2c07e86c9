package portal

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/mail"
	"time"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/storage/control"
)

// mailer has a message sent. What comes of it goes to result, which has room for it, unless that is nil.
type mailer func(ctx context.Context, m *delivery.Message, result chan<- delivery.Result) error

// formPage is what a page with a form alone shows.
type formPage struct{ Form *form }

// linkLasts is how long a link in a mail is good.
const linkLasts = time.Hour

func showForgot(v *visit, _ *control.Store) error {
	return v.show(http.StatusOK, "forgot", formPage{newForm(nil)})
}

// forgot mails a link by which a password is set anew, if there is an account with the address. The answer does not
// tell whether there is, nor does the time until it comes.
func forgot(v *visit, store *control.Store) error {
	f, err := v.form()
	if err != nil {
		return err
	}
	address := f.line("mail")
	if !isMailAddress(address) {
		f.wrong("mail", "forgot.wrong")
		return v.show(http.StatusUnprocessableEntity, "forgot", formPage{f})
	}
	if err := v.tools.limits.pass(v.tools.now(), linksAsked, networkOf(v.tools.clientOf(v.r))); err != nil {
		return err
	}
	v.unseen(func(v *visit) error { return mailForgotten(v, store, address) })
	return v.see("/login", "mailed")
}

func mailForgotten(v *visit, store *control.Store, address string) error {
	a, err := store.AccountByMail(v.r.Context(), address)
	switch {
	case errors.Is(err, control.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	switch a.State {
	case control.AccountActive:
		return mailLink(v, store, a, control.PurposeReset, "forgot", linkLasts)
	case control.AccountInvited:
		return mailLink(v, store, a, control.PurposeInvite, "forgot", linkLasts)
	}
	return nil
}

// unseen does what the visitor is to learn nothing of, not even how long it takes: it goes on when they are answered.
func (v *visit) unseen(do func(*visit) error) {
	behind, t := *v, v.tools
	t.unseen.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(v.r.Context()), answerTime)
		defer cancel()
		behind.r = v.r.WithContext(ctx)
		if err := do(&behind); err != nil {
			t.env.Logger.Warn("no mail about an account was sent", "error", err)
		}
	})
}

// isMailAddress reports whether a text is an address, and nothing else.
func isMailAddress(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Address == s && len(s) <= 256
}

// tokens keeps tokens.
type tokens interface {
	AddToken(ctx context.Context, text string, t control.Token) error
}

// mailLink mails the owner of an account a link that sets a password, good for a while. The mail holds the texts
// mail.ABOUT.subject and mail.ABOUT.text.
func mailLink(v *visit, store tokens, a control.Account, purpose control.Purpose, about string, lasts time.Duration) error {
	token := rand.Text()
	if err := v.mailTo(a.Owner, a.Mail, about, "/in/"+token); err != nil {
		return err
	}
	return store.AddToken(v.r.Context(), token, control.Token{Owner: a.Owner, Purpose: purpose, Expires: v.tools.now().Add(lasts)})
}

// mailTo mails a person a link, so often a day at most.
func (v *visit) mailTo(owner, address, about, path string) error {
	if err := v.tools.limits.pass(v.tools.now(), mailsOfOwner, owner); err != nil {
		return err
	}
	return v.mail(owner, address, about, path)
}

// notice mails the owner of an account what was done to it, to an address that it has, or had. There is no limit
// to that, or who has got into an account could use it up before; and what was done stays done if no mail can be sent.
func (v *visit) notice(owner, address, about string) {
	if address == "" {
		return
	}
	if err := v.mail(owner, address, about, ""); err != nil {
		v.tools.env.Logger.Warn("no mail says what was done to an account", "owner", owner, "about", about, "error", err)
	}
}

func (v *visit) mail(owner, address, about, path string) error {
	site := v.tools.options.Name
	return v.tools.mail(v, &delivery.Message{
		ID: "account-" + rand.Text(), Owner: owner, Transport: delivery.TransportMail, Address: channel.NewAddress(address, ""),
		Subject: text("mail."+about+".subject", site), Text: text("mail."+about+".text", site, owner, v.tools.link(path)),
	})
}
