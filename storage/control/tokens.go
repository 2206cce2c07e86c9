package control

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/webrace/webrace/storage/internal/nanos"
)

const tokenTable = `
CREATE TABLE token (
	hash    TEXT PRIMARY KEY, -- the token itself is nowhere
	owner   TEXT NOT NULL,
	purpose TEXT NOT NULL,
	data    BLOB NOT NULL, -- what the caller keeps with it
	created INTEGER NOT NULL,
	expires INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX token_owner   ON token (owner);
CREATE INDEX token_expires ON token (expires);
`

// Purpose is what a token is good for, and for nothing else.
type Purpose string

const (
	PurposeInvite  Purpose = "invite"  // the first password of an account
	PurposeReset   Purpose = "reset"   // another password
	PurposeConfirm Purpose = "confirm" // that an address is the owner's
	PurposeAPI     Purpose = "api"     // what a program asks for its owner; it is not used up
)

// Token is a random text that its owner was given, in a link or for a program, and that whoever has it may use. The
// store knows its hash alone.
type Token struct {
	ID      string // names it, and is of no use otherwise
	Owner   string
	Purpose Purpose
	Data    []byte // what the caller keeps with it
	Created time.Time
	Expires time.Time
}

// AddToken keeps a token, created now, until it expires. Its ID is made of the text. It returns [ErrNotFound] if its
// owner has no account.
func (s *Store) AddToken(ctx context.Context, text string, t Token) error {
	now := s.options.Now()
	return s.write(ctx, allAccounts, "add a token of "+t.Owner, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM token WHERE expires <= ?", nanos.Of(now)); err != nil {
			return err
		}
		if err := mustHaveAccount(ctx, tx, t.Owner, ""); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO token (hash, owner, purpose, data, created, expires) VALUES (?, ?, ?, ?, ?, ?)",
			hashOfToken(text), t.Owner, string(t.Purpose), blob(t.Data), nanos.Of(now), nanos.Of(t.Expires))
		return err
	})
}

func hashOfToken(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

const tokenColumns = "hash, owner, purpose, data, created, expires"

func scanToken(scan func(...any) error) (t Token, err error) {
	var created, expires int64
	err = scan(&t.ID, &t.Owner, &t.Purpose, &t.Data, &created, &expires)
	t.Created, t.Expires = nanos.Time(created), nanos.Time(expires)
	return t, err
}

// Token returns a token by its text, which stays good; [ErrNotFound] if there is none of that purpose, or it has
// expired.
func (s *Store) Token(ctx context.Context, text string, purpose Purpose) (Token, error) {
	return one(s.tokens(ctx, "hash = ? AND purpose = ? AND expires > ?", hashOfToken(text), string(purpose), nanos.Of(s.options.Now())), "token")
}

func (s *Store) tokens(ctx context.Context, where string, args ...any) iter.Seq2[Token, error] {
	return rows(ctx, s, "read tokens", func(r *sql.Rows) (Token, error) { return scanToken(r.Scan) },
		"SELECT "+tokenColumns+" FROM token WHERE "+where+" ORDER BY created, hash", args...)
}

// UseToken is Token, and uses it up: of several who ask with the same text one gets it.
func (s *Store) UseToken(ctx context.Context, text string, purpose Purpose) (Token, error) {
	return s.useToken(ctx, text, purpose, "")
}

func (s *Store) useToken(ctx context.Context, text string, purpose Purpose, and string, args ...any) (t Token, err error) {
	args = append([]any{hashOfToken(text), string(purpose), nanos.Of(s.options.Now())}, args...)
	err = s.write(ctx, singleRows, "use a token", func(tx *sql.Tx) error {
		t, err = scanToken(tx.QueryRowContext(ctx, "DELETE FROM token WHERE hash = ? AND purpose = ? AND expires > ?"+and+" RETURNING "+tokenColumns, args...).Scan)
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("token: %w", ErrNotFound)
		}
		return err
	})
	return t, err
}
