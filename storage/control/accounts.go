package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/webrace/webrace/storage/internal/nanos"
)

const accountTable = `
CREATE TABLE account (
	owner    TEXT PRIMARY KEY,
	state    TEXT NOT NULL,
	admin    INTEGER NOT NULL, -- 1: may manage the accounts of others
	mail     TEXT NOT NULL, -- empty: none
	password TEXT NOT NULL, -- its hash; empty: none
	profile  BLOB NOT NULL, -- what the caller keeps of the person
	since    INTEGER NOT NULL, -- when it came into its state
	created  INTEGER NOT NULL,
	seen     INTEGER NOT NULL -- when the owner last logged in
) WITHOUT ROWID;
CREATE UNIQUE INDEX account_mail ON account (lower(mail)) WHERE mail <> '';
`

// AccountState is what may be done with an account.
type AccountState string

const (
	AccountInvited AccountState = "invited" // a link was given to whom it is for, and no password is set yet
	AccountActive  AccountState = "active"
	AccountLocked  AccountState = "locked"  // nobody logs in; what was asked for goes on
	AccountLeaving AccountState = "leaving" // the owner asked for all to be erased, which follows
)

// Account is that of a person who logs in, and owns what is stored under that name. Most owners have none: an operator
// asks for them.
type Account struct {
	Owner   string
	State   AccountState
	Admin   bool      // may manage the accounts of others
	Mail    string    // for messages about the account; empty: none. No two have the same, whatever the case
	Profile []byte    // what the caller keeps of the person
	Since   time.Time // when it came into its state
	Created time.Time
	Seen    time.Time // when the owner last logged in; zero: never

	HasPassword bool
}

// TakenError means that a name, or a mail address, is that of another.
type TakenError struct {
	What string // "owner", "mail address", "channel", "secret" or "URD"
	Name string
	By   string // what of the name there is that is no account: URDs, annotations, requests; empty for an account
}

func (e *TakenError) Error() string {
	if e.By != "" {
		return fmt.Sprintf("%s %q has %s already, which an account of that name would inherit", e.What, e.Name, e.By)
	}
	return fmt.Sprintf("%s %q is taken", e.What, e.Name)
}

const accountColumns = "owner, state, admin, mail, profile, since, created, seen, password <> ''"

func scanAccount(scan func(...any) error) (a Account, err error) {
	var since, created, seen int64
	err = scan(&a.Owner, &a.State, &a.Admin, &a.Mail, &a.Profile, &since, &created, &seen, &a.HasPassword)
	a.Since, a.Created, a.Seen = nanos.Time(since), nanos.Time(created), nanos.Time(seen)
	return a, err
}

// AddAccount adds an account without a password, created now. If there is one of that owner, or with that mail address,
// it is a [TakenError]; so it is if URDs, annotations or usage are stored under the name, unless whoever has the
// account is to inherit them: then the annotations there are, are in their inbox, those that were retrieved as read.
func (s *Store) AddAccount(ctx context.Context, a Account, inherit bool) error {
	if err := a.check(); err != nil {
		return fmt.Errorf("add account %q: %w", a.Owner, err)
	}
	return s.write(ctx, everything, "add account "+a.Owner, func(tx *sql.Tx) error {
		if err := mustBeFree(ctx, tx, &a, true); err != nil {
			return err
		}
		if !inherit {
			if err := mustBeNobody(ctx, tx, a.Owner); err != nil {
				return err
			}
		}
		now := nanos.Of(s.options.Now())
		_, err := tx.ExecContext(ctx, "INSERT INTO account (owner, state, admin, mail, password, profile, since, created, seen) VALUES (?, ?, ?, ?, '', ?, ?, ?, 0)",
			a.Owner, string(a.State), bit(a.Admin), a.Mail, blob(a.Profile), now, now)
		if err == nil && inherit {
			err = s.inherit(ctx, tx, a.Owner)
		}
		return err
	})
}

// mostName is how many bytes names may have that indexes hold.
const mostName = 256

func (a *Account) check() error {
	switch {
	case a.Owner == "" || len(a.Owner) > mostName || strings.TrimSpace(a.Owner) != a.Owner || strings.ContainsFunc(a.Owner, isControl):
		return fmt.Errorf("a name has 1 to %d bytes, none of them control characters, and no space around it", mostName)
	case len(a.Mail) > mostName || strings.ContainsFunc(a.Mail, isControl):
		return fmt.Errorf("a mail address has at most %d bytes, none of them control characters", mostName)
	case a.State != AccountInvited && a.State != AccountActive && a.State != AccountLocked && a.State != AccountLeaving:
		return fmt.Errorf("%q is no state of an account", a.State)
	}
	return nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// mustBeFree refuses what is another account's; of one that is new, also its name.
func mustBeFree(ctx context.Context, tx *sql.Tx, a *Account, isNew bool) error {
	var owner, mail bool
	err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM account WHERE owner = ?1),
		EXISTS (SELECT 1 FROM account WHERE mail <> '' AND lower(mail) = lower(?2) AND owner <> ?1)`, a.Owner, a.Mail).Scan(&owner, &mail)
	switch {
	case err != nil:
		return err
	case owner && isNew:
		return &TakenError{What: "owner", Name: a.Owner}
	case mail:
		return &TakenError{What: "mail address", Name: a.Mail}
	}
	return nil
}

// mustBeNobody refuses the name of an owner of whom something is stored.
func mustBeNobody(ctx context.Context, tx *sql.Tx, owner string) error {
	for _, there := range []struct{ what, where string }{
		{"URDs", "urd WHERE owner = ?"}, {"annotations", "aci WHERE owner = ?"}, {"annotations that were withheld", "withheld WHERE owner = ?"},
		{"requests", "usage WHERE owner = ?"}, {"a quota", "owner WHERE name = ?"}, {"secrets", "secret WHERE owner = ?"},
	} {
		var some bool
		if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM "+there.where+")", owner).Scan(&some); err != nil {
			return err
		}
		if some {
			return &TakenError{What: "owner", Name: owner, By: there.what}
		}
	}
	return nil
}

// mustHaveAccount refuses an owner without an account, or whose account is not in a state; "" is any.
func mustHaveAccount(ctx context.Context, tx *sql.Tx, owner string, state AccountState) error {
	var has bool
	err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM account WHERE owner = ?1 AND (?2 = '' OR state = ?2))", owner, string(state)).Scan(&has)
	if err == nil && !has {
		err = fmt.Errorf("account %q: %w", owner, ErrNotFound)
	}
	return err
}

// bit is how a column holds what is so or not.
func bit(is bool) int {
	if is {
		return 1
	}
	return 0
}

// blob is a value that is not NULL.
func blob(value []byte) []byte {
	if value == nil {
		return []byte{}
	}
	return value
}

// Account returns that of an owner, or [ErrNotFound].
func (s *Store) Account(ctx context.Context, owner string) (Account, error) {
	return one(s.accounts(ctx, "owner = ?", owner), fmt.Sprintf("account %q", owner))
}

// AccountByMail returns the one with a mail address, in whatever case, or [ErrNotFound].
func (s *Store) AccountByMail(ctx context.Context, mail string) (Account, error) {
	return one(s.accounts(ctx, "mail <> '' AND lower(mail) = lower(?)", mail), fmt.Sprintf("account of %q", mail))
}

// Accounts returns all there are, by the names of their owners.
func (s *Store) Accounts(ctx context.Context) iter.Seq2[Account, error] {
	return s.accounts(ctx, "TRUE")
}

func (s *Store) accounts(ctx context.Context, where string, args ...any) iter.Seq2[Account, error] {
	return rows(ctx, s, "read accounts", func(r *sql.Rows) (Account, error) { return scanAccount(r.Scan) },
		"SELECT "+accountColumns+" FROM account WHERE "+where+" ORDER BY owner", args...)
}

// ChangeAccount has an account changed by a function, which may be called again with what is stored by then; its last
// call counts. The owner, the moments and the password stay. Where it is not active any more, who is logged in is not
// any more either, and no link of it leads anywhere. It returns [ErrNotFound] if there is none, and a [TakenError] for
// the mail address of another.
func (s *Store) ChangeAccount(ctx context.Context, owner string, change func(*Account) error) error {
	return s.write(ctx, allAccounts, "change account "+owner, func(tx *sql.Tx) error {
		a, err := scanAccount(tx.QueryRowContext(ctx, "SELECT "+accountColumns+" FROM account WHERE owner = ?", owner).Scan)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNotFound
		}
		was := a.State
		if err == nil {
			err = change(&a)
		}
		a.Owner = owner
		if err == nil {
			err = a.check()
		}
		if err == nil {
			err = mustBeFree(ctx, tx, &a, false)
		}
		if err == nil && a.State != was {
			err = s.enter(ctx, tx, &a)
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, "UPDATE account SET admin = ?, mail = ?, profile = ? WHERE owner = ?", bit(a.Admin), a.Mail, blob(a.Profile), owner)
		}
		return err
	})
}

// enter has an account come into the state that it has been given.
func (s *Store) enter(ctx context.Context, tx *sql.Tx, a *Account) error {
	_, err := tx.ExecContext(ctx, "UPDATE account SET state = ?, since = ? WHERE owner = ?", string(a.State), nanos.Of(s.options.Now()), a.Owner)
	if err == nil && a.State != AccountActive {
		err = logOut(ctx, tx, a.Owner)
	}
	return err
}

// Password returns the hash of an owner's password, empty if none is set, or [ErrNotFound].
func (s *Store) Password(ctx context.Context, owner string) (hash string, err error) {
	doing := fmt.Sprintf("account %q", owner)
	err = s.readRow(ctx, doing, "SELECT password FROM account WHERE owner = ?", []any{owner}, &hash)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%s: %w", doing, ErrNotFound)
	}
	return hash, err
}

// SetPassword sets the hash of an owner's password, as the caller encodes it, and ends what the one before had opened:
// web sessions, links and tokens. Who was invited is active then. It returns [ErrNotFound] if there is no account.
func (s *Store) SetPassword(ctx context.Context, owner, hash string) error {
	return s.write(ctx, allAccounts, "set the password of "+owner, func(tx *sql.Tx) error {
		if err := logOut(ctx, tx, owner); err != nil {
			return err
		}
		if err := mustAffect(tx.ExecContext(ctx, "UPDATE account SET password = ? WHERE owner = ?", hash, owner)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE account SET state = 'active', since = ? WHERE owner = ? AND state = 'invited'", nanos.Of(s.options.Now()), owner)
		return err
	})
}

// logOut ends an owner's web sessions, and makes useless all links and tokens that were given.
func logOut(ctx context.Context, tx *sql.Tx, owner string) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM web_session WHERE owner = ?", owner)
	if err == nil {
		_, err = tx.ExecContext(ctx, "DELETE FROM token WHERE owner = ?", owner)
	}
	return err
}
