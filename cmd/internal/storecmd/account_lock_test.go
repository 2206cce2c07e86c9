package storecmd

import (
	"strings"
	"testing"

	"github.com/webrace/webrace/storage/control"
)

// Who is locked, or leaves, may log in again: by the password that there is, or by a link.
func TestUnlock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		was         control.AccountState
		hasPassword bool
		is          control.AccountState
		said        string
	}{
		{control.AccountLocked, true, control.AccountActive, "may log in again"},
		{control.AccountLocked, false, control.AccountInvited, "account link"},
		{control.AccountLeaving, true, control.AccountActive, "urd resume"},
		{control.AccountLeaving, false, control.AccountInvited, "urd resume"},
		{control.AccountActive, true, control.AccountActive, "was not locked"},
		{control.AccountInvited, false, control.AccountInvited, "was not locked"},
	} {
		a := control.Account{Owner: "eleni", State: c.was, HasPassword: c.hasPassword}
		if said := unlock(&a); a.State != c.is || !strings.Contains(said, c.said) {
			t.Errorf("%s, with a password %v: it is %s, and it is said: %s", c.was, c.hasPassword, a.State, said)
		}
	}
}
