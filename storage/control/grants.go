package control

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
)

// tables8 came with the accounts of people.
const tables8 = accountTable + webSessionTable + tokenTable + channelTable + inboxTable + outboxTable + messageTable + grantTable

const grantTable = `
CREATE TABLE secret_grant ( -- who may have a secret used that is not their own
	name  TEXT NOT NULL, -- secret.name
	owner TEXT NOT NULL,
	PRIMARY KEY (name, owner)
) WITHOUT ROWID;
CREATE INDEX secret_grant_owner ON secret_grant (owner);
ALTER TABLE secret ADD COLUMN owner TEXT NOT NULL DEFAULT ''; -- empty: the operator's
`

// GrantSecret lets an owner have a secret used by their URDs: [ErrNotFound] if there is none of that name. The
// operator's commands may name any secret, for whomever.
func (s *Store) GrantSecret(ctx context.Context, name, owner string) error {
	if owner == "" {
		return fmt.Errorf("grant secret %s: say to whom", name)
	}
	return s.write(ctx, allSecrets, "grant secret "+name, func(tx *sql.Tx) error {
		known := false
		if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM secret WHERE name = ?)", name).Scan(&known); err != nil {
			return err
		}
		if !known {
			return ErrNotFound
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO secret_grant (name, owner) VALUES (?, ?) ON CONFLICT (name, owner) DO NOTHING", name, owner)
		return err
	})
}

// RevokeSecret takes back what GrantSecret gave; [ErrNotFound] if it was not given. URDs that name the secret stay as
// they are.
func (s *Store) RevokeSecret(ctx context.Context, name, owner string) error {
	return s.write(ctx, allSecrets, "revoke secret "+name, func(tx *sql.Tx) error {
		return mustAffect(tx.ExecContext(ctx, "DELETE FROM secret_grant WHERE name = ? AND owner = ?", name, owner))
	})
}

// Grant is that an owner may have a secret used which is not theirs.
type Grant struct{ Secret, Owner string }

// Grants returns all there are, by secret and owner.
func (s *Store) Grants(ctx context.Context) iter.Seq2[Grant, error] {
	return rows(ctx, s, "list who may use secrets", func(r *sql.Rows) (g Grant, err error) { return g, r.Scan(&g.Secret, &g.Owner) },
		"SELECT name, owner FROM secret_grant ORDER BY name, owner")
}
