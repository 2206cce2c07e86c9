package storecmd

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage/control"
)

func newAccountLink(globals *cli.Globals) *cobra.Command {
	var at site
	c := &cobra.Command{
		Use:   "link NAME",
		Short: "print another link: by which a password is set, of who is invited, or a forgotten one anew",
		Long: `link prints a link that is good once: for who is invited and has set no password
yet, for a week; for who forgot theirs, for a day. The password that there is stays
until the link is used; then all log-ins end that it opened. Links that were given
before are good until one of them is used, or their time is over.`,
		Example: "  webrace-store account link eleni --url https://webrace.example.org",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := at.check(); err != nil {
				return cli.Wrong(err)
			}
			return withControl(globals, func(store *control.Store) error {
				a, err := accountNamed(c, store, args[0])
				if err != nil {
					return err
				}
				return giveLink(c, store, a, at)
			})
		},
	}
	at.register(c)
	return c
}

// link is what a link is good for, and how long.
type link struct {
	purpose control.Purpose
	lasts   time.Duration
	sets    string
}

var links = map[control.AccountState]link{
	control.AccountInvited: {control.PurposeInvite, 7 * 24 * time.Hour, "the first password"},
	control.AccountActive:  {control.PurposeReset, 24 * time.Hour, "another password"},
}

// giveLink prints a link by which the password of an account is set.
func giveLink(c *cobra.Command, store *control.Store, a control.Account, at site) error {
	link, expires, err := AddLink(c.Context(), store, a, at.url)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(c.OutOrStdout(), link); err != nil {
		return err
	}
	note(c, "the link is good once, until %s: whoever opens it sets %s of %s", wording.Moment(expires), links[a.State].sets, a.Owner)
	return nil
}

// AddLink returns a new link by which the password of an account is set once, until it expires, where the web
// application answers at a URL.
func AddLink(ctx context.Context, store *control.Store, a control.Account, site string) (link string, expires time.Time, err error) {
	kind, ok := links[a.State]
	switch {
	case a.State == control.AccountLocked:
		return "", expires, fmt.Errorf("account %s is locked: webrace-store account unlock %[1]s comes first", a.Owner)
	case !ok:
		return "", expires, leaves(a)
	}
	token := rand.Text()
	expires = time.Now().Add(kind.lasts)
	err = store.AddToken(ctx, token, control.Token{Owner: a.Owner, Purpose: kind.purpose, Expires: expires})
	return strings.TrimRight(site, "/") + "/in/" + token, expires, err
}

// leaves is the error of who wants something of an account whose owner has asked for all to be erased.
func leaves(a control.Account) error {
	return fmt.Errorf("account %s is to be erased, as its owner asked for: webrace-store account unlock %[1]s keeps it", a.Owner)
}

// site is where the web application answers.
type site struct{ url string }

func (s *site) register(c *cobra.Command) {
	c.Flags().StringVar(&s.url, "url", "http://127.0.0.1:8642", "the `URL` at which the owner of the account reaches the web application")
}

func (s *site) check() error {
	u, err := url.Parse(s.url)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return fmt.Errorf("--url %q is not where a web application answers: write it as https://webrace.example.org", s.url)
	}
	return nil
}
