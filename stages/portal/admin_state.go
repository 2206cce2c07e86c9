package portal

import (
	"context"
	"crypto/rand"
	"net/http"
	"time"

	"github.com/webrace/webrace/storage/control"
)

// How long links are good that those who manage accounts give.
const (
	inviteLasts = 7 * 24 * time.Hour
	resetLasts  = 24 * time.Hour
)

// giveLink mails the owner of an account a link that sets its password. Where there is no address it returns the link:
// only then does whoever manages accounts see it, because it opens the account.
func giveLink(v *visit, store accounts, a control.Account) (link string, err error) {
	purpose, about, lasts := control.PurposeReset, "given", resetLasts
	if a.State == control.AccountInvited {
		purpose, about, lasts = control.PurposeInvite, "invited", inviteLasts
	}
	if a.Mail != "" {
		return "", mailLink(v, store, a, purpose, about, lasts)
	}
	token := rand.Text()
	err = store.AddToken(v.r.Context(), token, control.Token{Owner: a.Owner, Purpose: purpose, Expires: v.tools.now().Add(lasts)})
	return v.tools.link("/in/" + token), err
}

// sendLink gives another link.
func sendLink(v *visit, store accounts) error {
	_, a, err := accountOf(v, store)
	if err != nil {
		return err
	}
	if a.State != control.AccountActive && a.State != control.AccountInvited {
		return refuse(http.StatusConflict, "admin.locked_first")
	}
	link, err := giveLink(v, store, a)
	switch {
	case err != nil:
		return err
	case link == "":
		return v.see(accountPath(a.Owner), "link_mailed")
	}
	return v.showAccount(http.StatusOK, store, a.Owner, newForm(make(map[string][]string)), link)
}

// lockAccount lets nobody log in to an account. What its owner asked for goes on; who leaves is erased nevertheless.
func lockAccount(v *visit, store accounts) error {
	_, a, err := accountOf(v, store)
	switch {
	case err != nil:
		return err
	case a.Owner == v.account.Owner:
		return refuse(http.StatusConflict, "admin.not_yourself")
	}
	err = store.ChangeAccount(v.r.Context(), a.Owner, func(a *control.Account) error {
		if a.State == control.AccountLeaving {
			return refuse(http.StatusConflict, "admin.leaves")
		}
		if a.Admin {
			if err := leaveAnAdmin(v.r.Context(), store, a.Owner); err != nil {
				return err
			}
		}
		a.State = control.AccountLocked
		return nil
	})
	if err != nil {
		return err
	}
	return v.see(accountPath(a.Owner), "locked")
}

// unlockAccount lets its owner log in again who was locked, or wanted to leave.
func unlockAccount(v *visit, store accounts) error {
	_, a, err := accountOf(v, store)
	if err != nil {
		return err
	}
	err = store.ChangeAccount(v.r.Context(), a.Owner, func(a *control.Account) error {
		if a.State != control.AccountLocked && a.State != control.AccountLeaving {
			return nil
		}
		a.State = control.AccountInvited
		if a.HasPassword {
			a.State = control.AccountActive
		}
		return nil
	})
	if err != nil {
		return err
	}
	return v.see(accountPath(a.Owner), "unlocked")
}

// changeRole determines whether the owner of an account may manage those of others. The last one who can does not stop.
func changeRole(v *visit, store accounts) error {
	f, a, err := accountOf(v, store)
	if err != nil {
		return err
	}
	admin := f.Is("admin", "1")
	err = store.ChangeAccount(v.r.Context(), a.Owner, func(a *control.Account) error {
		if !admin {
			if err := leaveAnAdmin(v.r.Context(), store, a.Owner); err != nil {
				return err
			}
		}
		a.Admin = admin
		return nil
	})
	switch {
	case err != nil:
		return err
	case !admin && a.Owner == v.account.Owner:
		return v.see("/", "role")
	}
	return v.see(accountPath(a.Owner), "role")
}

// leaveAnAdmin refuses to go on if nobody but an owner manages accounts, and can log in. It is called while that
// account is being changed, so that no other changes meanwhile: of two who take the role from each other, one keeps it.
func leaveAnAdmin(ctx context.Context, store accounts, owner string) error {
	for a, err := range store.Accounts(ctx) {
		if err != nil || a.Owner != owner && a.Admin && a.State == control.AccountActive {
			return err
		}
	}
	return refuse(http.StatusConflict, "admin.last")
}
