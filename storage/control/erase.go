package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Erased tells what was erased of an owner.
type Erased struct{ URDs, ACIs, Secrets, Channels int }

// erasures remove what is of an owner, in this order: each has the owner as its only parameter.
var erasures = []string{
	"DELETE FROM outbox WHERE channel IN (SELECT n FROM channel WHERE owner = ?)",
	"DELETE FROM message WHERE channel IN (SELECT n FROM channel WHERE owner = ?)",
	"DELETE FROM inbox_item WHERE owner = ?",
	"DELETE FROM mirror WHERE seq IN (SELECT seq FROM aci WHERE owner = ?)",
	"DELETE FROM shown WHERE seq IN (SELECT seq FROM aci WHERE owner = ?)",
	"DELETE FROM withheld WHERE owner = ?",
	"DELETE FROM notice WHERE owner = ?",
	"DELETE FROM trimmed_today WHERE owner = ?",
	"DELETE FROM budget WHERE owner = ?",
	"DELETE FROM owner WHERE name = ?",
	"DELETE FROM usage WHERE owner = ?",
	"DELETE FROM web_session WHERE owner = ?",
	"DELETE FROM token WHERE owner = ?",
	"DELETE FROM secret_grant WHERE owner = ?",
	"DELETE FROM secret_grant WHERE name IN (SELECT name FROM secret WHERE owner = ?)",
	"DELETE FROM secret WHERE name IN (SELECT 'session ' || name FROM secret WHERE owner = ?)",
	"DELETE FROM account WHERE owner = ?",
}

// EraseOwner removes what is stored of an owner: their account, what they asked for and were told, their channels,
// secrets and links. What stays is the ids of URDs that were removed, and the ids and URLs of ACIs that were trimmed
// before, which keep these from coming again, and dead letters; the numbers of ACIs are not given again. When it
// returns without an error no file of SQLite holds the rest any more, which takes as much room on the disk as the store
// has; the files of PostgreSQL are its server's to clean.
func (s *Store) EraseOwner(ctx context.Context, owner string) (erased Erased, err error) {
	doing := "erase what is of " + owner
	if owner == "" {
		return Erased{}, fmt.Errorf("%s: say whose", doing)
	}
	err = s.write(ctx, everything, doing, func(tx *sql.Tx) error {
		erased = Erased{}
		ids, err := stringsIn(ctx, tx, "SELECT id FROM urd WHERE owner = ? ORDER BY n", owner)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := deleteURD(ctx, tx, id); err != nil {
				return err
			}
		}
		erased.URDs = len(ids)
		for _, statement := range erasures {
			if _, err := tx.ExecContext(ctx, statement, owner); err != nil {
				return err
			}
		}
		for _, counted := range []struct {
			table string
			n     *int
		}{{"aci", &erased.ACIs}, {"secret", &erased.Secrets}, {"channel", &erased.Channels}} {
			result, err := tx.ExecContext(ctx, "DELETE FROM "+counted.table+" WHERE owner = ?", owner)
			if err != nil {
				return err
			}
			n, err := result.RowsAffected()
			if *counted.n = int(n); err != nil {
				return err
			}
		}
		if erased.Secrets > 0 {
			return s.countSecrets(ctx, tx)
		}
		return nil
	})
	if err != nil {
		return Erased{}, err
	}
	s.secretVersions.nextOfAll()
	s.wake(&s.changed)
	return erased, s.overwrite(ctx, doing)
}

// overwrite has SQLite write its file anew, without what was removed, and empty its log.
func (s *Store) overwrite(ctx context.Context, doing string) error {
	if s.postgres != nil {
		return nil
	}
	var busy, logged, moved int
	_, err := s.writer.ExecContext(ctx, "VACUUM")
	if err == nil {
		err = s.writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &logged, &moved)
	}
	if err == nil && busy != 0 {
		err = errors.New("it is removed, but its log may still hold it, because it is being read: do so again later")
	}
	if err != nil {
		return s.explain(doing, err)
	}
	return nil
}
