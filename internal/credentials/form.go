package credentials

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/internal/urlnorm"
)

// Form describes how an account is logged in to: by which form, what is filled in beside the secret, and how it shows
// that this was taken.
type Form struct {
	Page     string            `json:"page"`             // the URL of the page with the form
	Password string            `json:"password"`         // the name of the field that takes the secret
	Fields   map[string]string `json:"fields,omitempty"` // what is filled in besides, by the name of the field
	Sign     Sign              `json:"sign"`
}

// Sign is what shows that one is logged in: one of these.
type Sign struct {
	CSS    string `json:"css,omitempty"`    // a selector of something that is on every page
	Text   string `json:"text,omitempty"`   // words that are on every page
	Status int    `json:"status,omitempty"` // the status of the answer to the form
}

// ParseSign reads a sign: css:SELECTOR, text:WORDS or status:NUMBER.
func ParseSign(text string) (s Sign, err error) {
	kind, value, _ := strings.Cut(text, ":")
	switch kind {
	case "css":
		s.CSS = value
	case "text":
		s.Text = value
	case "status":
		if _, err := fmt.Sscanf(value, "%d", &s.Status); err != nil || fmt.Sprint(s.Status) != value {
			return Sign{}, fmt.Errorf("%q is no sign of success: a status is a number, as status:200", text)
		}
	default:
		return Sign{}, fmt.Errorf("%q is no sign of success: it is css:SELECTOR, text:WORDS or status:NUMBER", text)
	}
	return s, s.check()
}

func (s Sign) String() string {
	switch {
	case s.CSS != "":
		return "css:" + s.CSS
	case s.Text != "":
		return "text:" + s.Text
	}
	return fmt.Sprintf("status:%d", s.Status)
}

func (s Sign) check() error {
	given := 0
	for _, set := range []bool{s.CSS != "", s.Text != "", s.Status != 0} {
		if set {
			given++
		}
	}
	switch {
	case given != 1:
		return errors.New("the form has no sign of success, or more than one: it is css:SELECTOR, text:WORDS or status:NUMBER")
	case s.CSS != "":
		if _, err := selection.NewFinder(selection.CSS, s.CSS); err != nil {
			return fmt.Errorf("the sign of success cannot be looked for: %w", err)
		}
	case s.Text != "" && strings.TrimSpace(s.Text) == "":
		return errors.New("the sign of success is nothing but white space")
	case s.Status != 0 && (s.Status < 200 || s.Status > 299):
		return fmt.Errorf("the sign of success is status %d: a form that was taken leads to one of 200 to 299", s.Status)
	}
	return nil
}

// NewForm returns a secret that is filled into a form. Unless [Secret.Within] sets other bounds, it is for the host of
// its page alone.
func NewForm(f Form, password string) (Secret, error) {
	page, err := urlnorm.Parse(f.Page)
	if err != nil {
		return Secret{}, fmt.Errorf("%.200q is no page with a form: write its URL in full, as https://example.org/login", f.Page)
	}
	f.Page = page
	text, err := json.Marshal(f)
	if err != nil {
		return Secret{}, err
	}
	secret, err := NewSecret(KindForm, string(text), password)
	return secret.Within(Bounds{Hosts: []string{urlnorm.Host(page)}}), err
}

// parseForm reads what NewForm wrote.
func parseForm(text string) (f Form, err error) {
	switch err := json.Unmarshal([]byte(text), &f); {
	case err != nil:
		return f, errors.New("what is stored is no form")
	case f.Password == "":
		return f, errors.New("the form has no field for the password: it is the name of the <input>")
	case slices.Contains(slices.Collect(maps.Keys(f.Fields)), f.Password):
		return f, fmt.Errorf("the field %s is filled in twice, with the secret and with what stands beside it", f.Password)
	}
	if page, err := url.Parse(f.Page); err != nil || page.Host == "" || page.Scheme != "http" && page.Scheme != "https" {
		return f, errors.New("the form has no page: it is an http or https URL")
	}
	return f, f.Sign.check()
}

// Form returns how the secret is filled in, and whether it is one of kind form.
func (s Secret) Form() (Form, bool) {
	if s.Kind() != KindForm {
		return Form{}, false
	}
	name, _ := s.Reveal()
	f, err := parseForm(name)
	return f, err == nil
}
