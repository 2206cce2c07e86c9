package storecmd

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/webrace/webrace/internal/credentials"
)

// formFlags describe how an account is logged in to.
type formFlags struct {
	page, password, success string
	fields                  []string
}

func (f *formFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.page, "page", "", "the `URL` of the page with the form, for --kind form")
	c.Flags().StringVar(&f.password, "password", "", "the `NAME` of the field that takes the secret, for --kind form (default: password)")
	c.Flags().StringArrayVar(&f.fields, "field", nil, "`NAME=VALUE` of what is filled in besides, for --kind form; repeatable")
	c.Flags().StringVar(&f.success, "success", "", "what is on every page once one is logged in, for --kind form: css:SELECTOR, text:WORDS, or status:NUMBER of the answer to the form")
}

// secret returns the secret that is filled into a form, and whether one is meant.
func (f *formFlags) secret(kind credentials.Kind, value string) (s credentials.Secret, ok bool, err error) {
	given := f.page != "" || f.password != "" || f.success != "" || len(f.fields) > 0
	switch {
	case kind == credentials.KindSession:
		return s, false, errors.New("sessions are kept by the program itself: --kind form logs in")
	case kind != credentials.KindForm && given:
		return s, false, errors.New("--page, --password, --field and --success are for --kind form")
	case kind != credentials.KindForm:
		return s, false, nil
	case f.page == "" || f.success == "":
		return s, false, errors.New("--kind form needs --page URL, where the form is, and --success, what is there once one is logged in")
	}
	form := credentials.Form{Page: f.page, Password: cmp.Or(f.password, "password"), Fields: make(map[string]string)}
	if form.Sign, err = credentials.ParseSign(f.success); err != nil {
		return s, false, fmt.Errorf("--success: %w", err)
	}
	for _, field := range f.fields {
		name, text, found := strings.Cut(field, "=")
		if !found || name == "" {
			return s, false, fmt.Errorf("--field %q: it is NAME=VALUE", field)
		}
		form.Fields[name] = text
	}
	s, err = credentials.NewForm(form, value)
	return s, true, err
}
