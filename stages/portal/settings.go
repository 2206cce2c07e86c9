package portal

import (
	"net/http"
	"net/url"

	"github.com/webrace/webrace/internal/timezone"
	"github.com/webrace/webrace/storage/control"
)

// settingsRoutes are those of one's own account.
var settingsRoutes = []route{
	{pattern: "GET /settings", own: showSettings, section: "settings"},
	{pattern: "POST /settings/profile", own: changeProfile, section: "settings"},
	{pattern: "POST /settings/mail", own: changeMail, section: "settings"},
	{pattern: "GET /settings/mail/{token}", own: showNewMail, section: "settings"},
	{pattern: "POST /settings/mail/{token}", own: confirmMail, section: "settings"},
	{pattern: "POST /settings/password", own: changePassword, section: "settings"},
	{pattern: "POST /settings/sessions", own: endSessions, section: "settings"},
	{pattern: "POST /settings/tokens", own: addToken, section: "settings"},
	{pattern: "POST /settings/tokens/delete", own: deleteToken, section: "settings"},
	{pattern: "GET /settings/export", own: export, section: "settings"},
	{pattern: "GET /settings/leave", own: showLeave, section: "settings"},
	{pattern: "POST /settings/leave", own: leave, section: "settings"},
	{pattern: "GET /secrets", own: showSecrets, section: "settings"},
	{pattern: "POST /secrets", own: setSecret, section: "settings"},
	{pattern: "POST /secrets/delete", own: deleteSecret, section: "settings"},
}

// settingsPage is what the page of one's own account shows.
type settingsPage struct {
	Form     *form
	Mail     string
	Sessions []sessionRow
	Others   bool // there are further sessions than this one
	Tokens   []tokenRow
	Made     string // a token that was made just now, which is shown this once
}

// sessionRow is where one is logged in.
type sessionRow struct {
	Hash, Agent, Since string
	This               bool // it is the one that asks
}

// tokenRow is a token that a program has.
type tokenRow struct{ ID, Name, Created, Expires string }

func showSettings(v *visit, mine control.Owned) error {
	return v.showSettings(http.StatusOK, mine, newForm(make(url.Values)), "")
}

// showSettings shows the page with what was typed into one of its forms; in the others stands what there is.
func (v *visit) showSettings(status int, mine control.Owned, f *form, made string) error {
	if !f.values.Has("zone") {
		f.values.Set("zone", v.profile.Zone)
	}
	p := settingsPage{Form: f, Mail: v.account.Mail, Made: made}
	ctx := v.r.Context()
	this := hashOfSession(v.tools.sessions.Token(ctx))
	for s, err := range mine.WebSessions(ctx) {
		if err != nil {
			return err
		}
		p.Sessions = append(p.Sessions, sessionRow{s.Hash, s.Agent, v.moment(s.Created), s.Hash == this})
		p.Others = p.Others || s.Hash != this
	}
	for t, err := range mine.Tokens(ctx, control.PurposeAPI) {
		if err != nil {
			return err
		}
		p.Tokens = append(p.Tokens, tokenRow{t.ID, string(t.Data), v.moment(t.Created), v.moment(t.Expires)})
	}
	return v.show(status, "settings", p)
}

// changeProfile takes the time zone that times are shown in; none is UTC.
func changeProfile(v *visit, mine control.Owned) error {
	f, err := v.form()
	if err != nil {
		return err
	}
	zone := f.line("zone")
	if zone != "" {
		if _, err := timezone.Load(zone); err != nil {
			if meant := timezone.Nearest(zone); meant != "" {
				f.wrong("zone", "settings.zone_meant", meant)
			} else {
				f.wrong("zone", "settings.zone_wrong")
			}
			return v.showSettings(http.StatusUnprocessableEntity, mine, f, "")
		}
	}
	err = mine.ChangeAccount(v.r.Context(), func(a *control.Account) error {
		p := profileOf(*a)
		p.Zone = zone
		a.Profile = p.encode()
		return nil
	})
	if err != nil {
		return err
	}
	return v.see("/settings", "profile")
}

// knowsPassword has who is logged in show in a field of a form that they know the password, and records there if not.
func (v *visit) knowsPassword(mine control.Owned, f *form, name string) (bool, error) {
	if err := v.tools.limits.pass(v.tools.now(), passwordsAsked, mine.Owner()); err != nil {
		return false, err
	}
	hash, err := mine.Password(v.r.Context())
	if err != nil {
		return false, err
	}
	is, err := v.tools.passwords.matches(v.r.Context(), f.Value(name), hash)
	if err == nil && !is {
		f.wrong(name, "settings.wrong_password")
	}
	return is, err
}

// changePassword sets another password, for whoever knows the old one: all sessions end but this, which goes on under
// a new token.
func changePassword(v *visit, mine control.Owned) error {
	f, err := v.form()
	if err != nil {
		return err
	}
	if checkPassword(f, mine.Owner()); f.ok() {
		if _, err := v.knowsPassword(mine, f, "old"); err != nil {
			return err
		}
	}
	if !f.ok() {
		return v.showSettings(http.StatusUnprocessableEntity, mine, f, "")
	}
	hash, err := v.tools.passwords.hash(v.r.Context(), f.Value("password"))
	if err != nil {
		return err
	}
	if err := mine.SetPassword(v.r.Context(), hash); err != nil {
		return err
	}
	v.notice(mine.Owner(), v.account.Mail, "changed_password")
	if err := v.admit(mine.Owner()); err != nil {
		return err
	}
	return v.see("/settings", "password_changed")
}

// endSessions ends one session, or all but this one.
func endSessions(v *visit, mine control.Owned) error {
	f, err := v.form()
	if err != nil {
		return err
	}
	hash, others := f.Value("session"), f.Value("others") != ""
	if others {
		hash = hashOfSession(v.tools.sessions.Token(v.r.Context()))
	}
	n, err := mine.EndWebSessions(v.r.Context(), hash, others)
	switch {
	case err != nil:
		return err
	case n == 0 && !others:
		return control.ErrNotFound
	}
	return v.see("/settings", "sessions_ended")
}
