package portal

import (
	"context"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/control/accountfile"
)

// leavingLasts is how long an account stays of which all is to be erased: until then an operator may keep it.
const leavingLasts = 7 * 24 * time.Hour

func showLeave(v *visit, _ control.Owned) error {
	return v.show(http.StatusOK, "leave", formPage{newForm(nil)})
}

// leave has the account leave, for whoever knows its password: its interests are paused, and all sessions end.
func leave(v *visit, mine control.Owned) error {
	f, err := v.form()
	if err != nil {
		return err
	}
	is, err := v.knowsPassword(mine, f, "password")
	switch {
	case err != nil:
		return err
	case !is:
		return v.show(http.StatusUnprocessableEntity, "leave", formPage{f})
	}
	if err := mine.Leave(v.r.Context()); err != nil {
		return err
	}
	v.notice(mine.Owner(), v.account.Mail, "left")
	if err := v.tools.sessions.Destroy(v.r.Context()); err != nil {
		return err
	}
	return v.see("/login", "left")
}

// exporter is [accountfile.Write].
type exporter func(context.Context, io.Writer, control.Owned, control.Account) (accountfile.Written, error)

// export streams all that is stored of who has logged in. One that fails on its way is cut, so that nobody takes it
// for whole.
func export(v *visit, mine control.Owned) error {
	if err := v.tools.limits.pass(v.tools.now(), exportsAsked, mine.Owner()); err != nil {
		return err
	}
	h := v.w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": mine.Owner() + ".zip"}))
	_, err := v.tools.export(v.r.Context(), v.w, mine, v.account)
	if err != nil {
		v.tools.env.Logger.Error("an account cannot be exported", "owner", mine.Owner(), "error", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}

// eraseLeft erases the owners whose accounts have been leaving for so long that nobody keeps them any more.
func (s *site) eraseLeft(ctx context.Context) error {
	var left []string
	for a, err := range s.store.Accounts(ctx) {
		if err != nil {
			return err
		}
		if a.State == control.AccountLeaving && s.tools.now().Sub(a.Since) >= leavingLasts {
			left = append(left, a.Owner)
		}
	}
	for _, owner := range left {
		erased, err := s.store.EraseOwner(ctx, owner)
		if err != nil {
			return err
		}
		s.tools.env.Counter("erased").Add(1)
		s.tools.env.Logger.Info("an account is erased, as its owner asked for", "owner", owner, "urds", erased.URDs, "annotations", erased.ACIs,
			"secrets", erased.Secrets, "channels", erased.Channels)
	}
	return nil
}

// eraseHourly looks for such owners now, and once an hour.
func (s *site) eraseHourly(ctx context.Context) {
	hour := time.NewTicker(time.Hour)
	defer hour.Stop()
	for {
		if err := s.eraseLeft(ctx); err != nil && ctx.Err() == nil {
			s.tools.env.Logger.Error("accounts that were left cannot be erased, which is tried again in an hour", "error", err)
		}
		select {
		case <-hour.C:
		case <-ctx.Done():
			return
		}
	}
}
