package control

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/webrace/webrace/xmlschema"
)

// Pages returns how many pages a store's database has.
func Pages(s *Store) (n int, err error) {
	return n, s.writer.QueryRow("PRAGMA page_count").Scan(&n)
}

// LimitPages makes the disk of a store full when its database has so many pages.
func LimitPages(s *Store, n int) error {
	_, err := s.writer.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", n))
	return err
}

// CountUnlocked prepares [PutUnlocked].
func CountUnlocked(s *Store) error {
	_, err := s.writer.Exec("CREATE SEQUENCE unlocked")
	return err
}

// PutUnlocked is [Store.PutACIs] without a lock on who else does so, where the server gives the numbers. It commits
// when beforeCommit has returned.
func PutUnlocked(ctx context.Context, s *Store, acis []*xmlschema.ACI, beforeCommit func()) error {
	rows, err := encodeACIs(acis)
	if err != nil {
		return err
	}
	err = s.write(ctx, singleRows, "put ACIs", func(tx *sql.Tx) error {
		e, err := s.newEmission(ctx, tx, true)
		for i := range rows {
			if err == nil {
				err = tx.QueryRowContext(ctx, "SELECT nextval('unlocked') - 1").Scan(&e.last)
			}
			if err == nil {
				rows[i].put = new(putting)
				err = e.put(rows[i : i+1])
			}
		}
		beforeCommit()
		return err
	})
	s.told.Broadcast()
	return err
}

// OpenImpatient is [OpenPostgres] with another time that an answer may take.
func OpenImpatient(ctx context.Context, address, keyFile string, o Options, answerWithin time.Duration) (*Store, error) {
	return openPostgres(ctx, address, keyFile, o, answerWithin)
}

// KeepsPlans reports whether a connection to a database has the server keep the plans of its statements.
func KeepsPlans(ctx context.Context, address string) (keeps bool, err error) {
	config, _, err := ParseConfig(address)
	if err != nil {
		return false, err
	}
	db := Pool(config, 1)
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	return keeps, conn.Raw(func(c any) error {
		keeps = c.(*connection).prepares
		return nil
	})
}

// Gathered returns how many calls wait to be stored together.
func Gathered(s *Store) int {
	s.gathering.mu.Lock()
	defer s.gathering.mu.Unlock()
	return len(s.gathering.waiting)
}
