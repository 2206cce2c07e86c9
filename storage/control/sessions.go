package control

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/webrace/webrace/internal/credentials"
)

var _ credentials.Sessions = (*Store)(nil)

// sessionOf is under which name the cookies of a log-in are kept, sealed like the secret that was filled in. The name
// of a secret has no space, so that none has this one.
func sessionOf(secret string) string { return "session " + secret }

// Session returns the cookies of the last log-in with a secret, empty if there are none that can be read.
func (s *Store) Session(ctx context.Context, secret string) (string, error) {
	kept, err := s.Secret(ctx, sessionOf(secret))
	if errors.Is(err, ErrNotFound) {
		return "", nil
	}
	_, cookies := kept.Reveal()
	return cookies, err
}

// SetSession keeps the cookies of a log-in with a secret, until that is set anew or removed.
func (s *Store) SetSession(ctx context.Context, secret, cookies string) error {
	session, err := credentials.NewSecret(credentials.KindSession, "", cookies)
	if err != nil {
		return err
	}
	return s.write(ctx, allSecrets, "keep the session of secret "+secret, func(tx *sql.Tx) error {
		keys, err := s.keys(ctx, tx)
		if err != nil {
			return err
		}
		return seal(ctx, tx, keys[0], sessionOf(secret), session, time.Now())
	})
}

func forgetSession(ctx context.Context, tx *sql.Tx, secret string) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM secret WHERE name = ?", sessionOf(secret))
	return err
}
