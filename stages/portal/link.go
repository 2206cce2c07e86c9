package portal

import (
	"context"
	"errors"
	"net/http"

	"github.com/webrace/webrace/storage/control"
)

// linkPage is what the page behind a link shows by which a password is set.
type linkPage struct {
	Form  *form
	Owner string
	First bool // the account has none yet
}

// tokenOf returns the token that a link holds, and whether it is an invitation. One that is used or over is a page of
// its own, which says how to get another.
func tokenOf(ctx context.Context, store *control.Store, text string) (control.Token, error) {
	for _, purpose := range []control.Purpose{control.PurposeInvite, control.PurposeReset} {
		t, err := store.Token(ctx, text, purpose)
		if !errors.Is(err, control.ErrNotFound) {
			return t, err
		}
	}
	return control.Token{}, refuse(http.StatusGone, "link.over")
}

// showLink shows what a link is for. It stays good: programs that look at mails follow links.
func showLink(v *visit, store *control.Store) error {
	t, err := tokenOf(v.r.Context(), store, v.r.PathValue("token"))
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, "link", linkPage{newForm(nil), t.Owner, t.Purpose == control.PurposeInvite})
}

// useLink sets the password, and uses the link up.
func useLink(v *visit, store *control.Store) error {
	ctx, given := v.r.Context(), v.r.PathValue("token")
	t, err := tokenOf(ctx, store, given)
	if err != nil {
		return err
	}
	f, err := v.form()
	if err != nil {
		return err
	}
	if checkPassword(f, t.Owner); !f.ok() {
		return v.show(http.StatusUnprocessableEntity, "link", linkPage{f, t.Owner, t.Purpose == control.PurposeInvite})
	}
	hash, err := v.tools.passwords.hash(ctx, f.Value("password"))
	if err != nil {
		return err
	}
	if _, err := store.UseToken(ctx, given, t.Purpose); err != nil {
		if errors.Is(err, control.ErrNotFound) {
			return refuse(http.StatusGone, "link.over")
		}
		return err
	}
	if err := store.SetPassword(ctx, t.Owner, hash); err != nil {
		return err
	}
	if err := v.admit(t.Owner); err != nil {
		return err
	}
	v.noteAgent(store.Of(t.Owner))
	return v.see("/", "password_set")
}
