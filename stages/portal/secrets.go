package portal

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/storage/control"
)

// mostSecrets is how many secrets one person may have.
const mostSecrets = 100

// secretsPage is what the page of one's secrets shows. No value is among it.
type secretsPage struct {
	Form    *form
	Kind    credentials.Kind // of the secret that can be typed
	Kinds   []facet
	Signs   []choice
	Mine    []secretRow
	Granted []secretRow
}

// secretRow is what is told of a secret.
type secretRow struct {
	Name, Kind, Hosts, Changed string
	Insecure, Models           bool
	Unreadable, Typed          bool // Typed: it can be stored anew by the form
	Uses                       int  // interests that use it
}

// showSecrets shows the form of a new secret, of the kind in the query, or that of the secret in it, to store it anew.
func showSecrets(v *visit, mine control.Owned) error {
	query := v.r.URL.Query()
	kind, f := credentials.Kind(query.Get("kind")), newForm(make(url.Values))
	if name := query.Get("secret"); name != "" {
		stored, _, err := secretsOf(v, mine, name)
		if err != nil {
			return err
		}
		if stored == nil || !slices.Contains(credentials.Kinds(), stored.Kind) { // which cannot be typed
			return control.ErrNotFound
		}
		kind, f = stored.Kind, newForm(formOf(name, stored.Bounds))
	}
	if !slices.Contains(credentials.Kinds(), kind) {
		kind = credentials.Kinds()[0]
	}
	return v.showSecrets(http.StatusOK, mine, f, kind)
}

// formOf returns what a form has to hold for a secret to stay as it is, but for what is never shown.
func formOf(name string, b credentials.Bounds) url.Values {
	values := url.Values{"secret_name": {name}, "replaces": {name}, "hosts": {strings.Join(b.Hosts, " ")}}
	for field, ticked := range map[string]bool{"insecure": b.Insecure, "models": b.Models} {
		if ticked {
			values.Set(field, "1")
		}
	}
	return values
}

func (v *visit) showSecrets(status int, mine control.Owned, f *form, kind credentials.Kind) error {
	p := secretsPage{Form: f, Kind: kind}
	for _, k := range credentials.Kinds() {
		p.Kinds = append(p.Kinds, facet{Label: text("secrets.kind." + string(k)), Link: "/secrets?kind=" + url.QueryEscape(string(k)), Chosen: k == kind})
	}
	for _, sign := range []string{"css", "text", "status"} {
		p.Signs = append(p.Signs, choice{sign, text("secrets.sign_by." + sign), f.Value("sign") == sign})
	}
	uses := make(map[string]int)
	for u, err := range mine.URDs(v.r.Context()) {
		if err != nil {
			return err
		}
		for _, name := range u.Secrets() {
			uses[name]++
		}
	}
	for s, err := range mine.Secrets(v.r.Context()) {
		if err != nil {
			return err
		}
		if s.Kind == credentials.KindSession {
			continue // which stands beside the secret that it was given for
		}
		row := secretRow{
			s.Name, text("secrets.kind." + string(s.Kind)), strings.Join(s.Bounds.Hosts, ", "), v.moment(s.Changed), s.Bounds.Insecure, s.Bounds.Models, s.Unreadable,
			slices.Contains(credentials.Kinds(), s.Kind), uses[s.Name],
		}
		if s.Owner != mine.Owner() {
			p.Granted = append(p.Granted, row)
			continue
		}
		row.Name = strings.TrimPrefix(s.Name, control.SecretName(mine.Owner(), ""))
		p.Mine = append(p.Mine, row)
	}
	return v.show(status, "secrets", p)
}

// setSecret stores a secret, in place of the one that the person calls by the same name.
func setSecret(v *visit, mine control.Owned) error {
	f, err := v.form()
	if err != nil {
		return err
	}
	kind := credentials.Kind(f.Value("kind"))
	if !slices.Contains(credentials.Kinds(), kind) {
		return refuse(http.StatusBadRequest, "error.form")
	}
	secret := readSecret(f, kind)
	name := f.line("secret_name")
	if !isName(name) || strings.ContainsAny(name, " \u00a0/") || len(control.SecretName(mine.Owner(), name)) > 256 {
		f.wrong("secret_name", "secrets.wrong_name", longestOfNames)
	}
	replaced, count, err := secretsOf(v, mine, name)
	switch {
	case err != nil:
		return err
	case replaced == nil && count >= mostSecrets:
		f.wrong("secret_name", "secrets.many", mostSecrets)
	case replaced != nil && replaced.Bounds.Models && f.Value("replaces") != name: // the form did not show that it is so
		f.values.Set("models", "1")
	}
	bounds := secret.Bounds()
	bounds.Models = f.Is("models", "1")
	secret = secret.Within(bounds)
	if f.ok() {
		err := mine.SetSecret(v.r.Context(), name, secret)
		var taken *control.TakenError
		switch {
		case errors.As(err, &taken):
			f.wrong("secret_name", "secrets.taken")
		case err != nil:
			return err
		default:
			return v.see("/secrets", "secret_set")
		}
	}
	return v.showSecrets(http.StatusUnprocessableEntity, mine, f, kind)
}

// secretsOf returns the secret of the person's own that they call by a name, nil for none, and how many they have.
func secretsOf(v *visit, mine control.Owned, name string) (named *control.SecretInfo, count int, err error) {
	for s, err := range mine.Secrets(v.r.Context()) {
		switch {
		case err != nil:
			return nil, 0, err
		case s.Owner != mine.Owner():
			continue
		case s.Name == control.SecretName(mine.Owner(), name):
			named = &s
		}
		count++
	}
	return named, count, nil
}

// readSecret makes a secret of what was typed, and records what is wrong with it.
func readSecret(f *form, kind credentials.Kind) credentials.Secret {
	secret, err := ofKind(f, kind)
	if kind == credentials.KindNone { // which goes nowhere
		return secret
	}
	if err != nil {
		f.wrongText("value", err.Error())
	}
	bounds, err := credentials.NewBounds(hostsOf(f.Value("hosts")), f.Is("insecure", "1"))
	switch {
	case err != nil:
		f.wrongText("hosts", err.Error())
	case len(bounds.Hosts) == 0 && len(secret.Bounds().Hosts) == 0:
		f.wrong("hosts", "secrets.no_hosts")
	case len(bounds.Hosts) == 0:
		bounds.Hosts = secret.Bounds().Hosts // of the page with the form
	}
	return secret.Within(bounds)
}

// ofKind makes the secret of a kind; that of a form has the page of the form as its bounds.
func ofKind(f *form, kind credentials.Kind) (credentials.Secret, error) {
	switch kind {
	case credentials.KindBasic:
		return credentials.NewSecret(kind, f.line("user"), f.Value("value"))
	case credentials.KindHeader:
		return credentials.NewSecret(kind, f.line("header"), f.line("value"))
	case credentials.KindForm:
		sign, err := credentials.ParseSign(f.Value("sign") + ":" + f.line("sign_value"))
		if err != nil {
			f.wrongText("sign_value", err.Error())
		}
		form := credentials.Form{Page: f.line("page"), Password: f.line("password_field"), Fields: make(map[string]string), Sign: sign}
		if field := f.line("user_field"); field != "" {
			form.Fields[field] = f.line("user")
		}
		return credentials.NewForm(form, f.Value("value"))
	case credentials.KindNone:
		return credentials.NewSecret(kind, "", "")
	}
	return credentials.NewSecret(kind, "", f.line("value"))
}

// hostsOf returns the hosts that were typed, also as the addresses of their pages.
func hostsOf(typed string) (hosts []string) {
	for _, host := range strings.FieldsFunc(typed, func(r rune) bool { return strings.ContainsRune(" ,;\t\r\n", r) }) {
		if strings.Contains(host, "://") {
			if page, err := urlnorm.Parse(host); err == nil {
				host = urlnorm.Host(page)
			}
		}
		hosts = append(hosts, host)
	}
	return hosts
}

// deleteSecret removes a secret of the person's own.
func deleteSecret(v *visit, mine control.Owned) error {
	f, err := v.form()
	if err != nil {
		return err
	}
	if err := mine.DeleteSecret(v.r.Context(), f.Value("secret")); err != nil {
		return err
	}
	return v.see("/secrets", "secret_deleted")
}
