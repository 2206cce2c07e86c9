package control

import (
	"context"
	"database/sql"
	"time"

	"github.com/webrace/webrace/storage/internal/nanos"
)

const webSessionTable = `
CREATE TABLE web_session (
	hash    TEXT PRIMARY KEY, -- of the token in the browser's cookie
	owner   TEXT NOT NULL, -- empty: nobody has logged in
	agent   TEXT NOT NULL,
	data    BLOB NOT NULL,
	created INTEGER NOT NULL,
	expires INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX web_session_owner   ON web_session (owner);
CREATE INDEX web_session_expires ON web_session (expires);
`

// WebSession is what a web server remembers of a browser. It is no [credentials.Sessions], the cookies that webrace
// itself was given by a site.
type WebSession struct {
	Hash    string // of the token in the browser's cookie, which the store never sees
	Owner   string // who has logged in; empty: nobody
	Agent   string // how the browser calls itself
	Data    []byte // the caller's
	Created time.Time
	Expires time.Time
}

// PutWebSession keeps a session, in place of the one of its hash: of that its moment of creation stays. The owner of
// one that is new was seen now. A session of an owner whose account is not active is refused by [ErrNotFound].
func (s *Store) PutWebSession(ctx context.Context, w WebSession) error {
	now := nanos.Of(s.options.Now())
	return s.write(ctx, allAccounts, "keep a web session", func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM web_session WHERE expires <= ?", now); err != nil {
			return err
		}
		if w.Owner != "" {
			if err := mustHaveAccount(ctx, tx, w.Owner, AccountActive); err != nil {
				return err
			}
		}
		known, err := affected(tx.ExecContext(ctx, "UPDATE web_session SET owner = ?, agent = ?, data = ?, expires = ? WHERE hash = ?",
			w.Owner, w.Agent, blob(w.Data), nanos.Of(w.Expires), w.Hash))
		if err != nil || known {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE account SET seen = ? WHERE owner = ?", now, w.Owner); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO web_session (hash, owner, agent, data, created, expires) VALUES (?, ?, ?, ?, ?, ?)",
			w.Hash, w.Owner, w.Agent, blob(w.Data), now, nanos.Of(w.Expires))
		return err
	})
}

const webSessionColumns = "hash, owner, agent, data, created, expires"

func scanWebSession(scan func(...any) error) (w WebSession, err error) {
	var created, expires int64
	err = scan(&w.Hash, &w.Owner, &w.Agent, &w.Data, &created, &expires)
	w.Created, w.Expires = nanos.Time(created), nanos.Time(expires)
	return w, err
}

// WebSession returns the session of a hash, or [ErrNotFound] if there is none or it has expired.
func (s *Store) WebSession(ctx context.Context, hash string) (WebSession, error) {
	return one(rows(ctx, s, "read a web session", func(r *sql.Rows) (WebSession, error) { return scanWebSession(r.Scan) },
		"SELECT "+webSessionColumns+" FROM web_session WHERE hash = ? AND expires > ?", hash, nanos.Of(s.options.Now())), "web session")
}

// DeleteWebSession ends the session of a hash. That there is none is no error.
func (s *Store) DeleteWebSession(ctx context.Context, hash string) error {
	return s.write(ctx, singleRows, "end a web session", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM web_session WHERE hash = ?", hash)
		return err
	})
}
