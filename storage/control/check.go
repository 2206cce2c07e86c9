package control

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/webrace/webrace/internal/pointer"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/internal/nanos"
)

// UnreadableSecret is the kind of damage that only the key file can mend with which a secret was written.
const UnreadableSecret = "unreadable secret"

// Check verifies the database itself, its tables, and that everything in them is what the XML states, while
// no other call writes. Each damage is reported and, if asked, repaired: what is derived is derived again, and
// what cannot be read is set aside as a dead letter, so that nothing is lost for good. Only pages that are
// damaged cannot be repaired so: that takes a backup.
func (s *Store) Check(ctx context.Context, repair bool, report fsck.Report) error {
	if repair && s.writer == nil {
		return s.explain("repair", errReadOnly)
	}
	c := checker{ctx, s, repair, report}
	defer pointer.Store(&s.budgets, nil) // a table may be made anew
	whole := true                        // without its tables there is nothing more to check
	parts := []func() error{c.pages, func() (err error) { whole, err = c.tables(); return err }, c.urds, c.acis, c.rest, c.secrets}
	if s.postgres != nil { // whose pages and tables are the server's to keep
		parts = parts[2:]
	}
	for _, part := range parts {
		err := part()
		if isCorrupt(err) { // a page is damaged that the check itself needs
			report.Reportf("control", "damaged database", s.name, false, "%v", err)
			return nil
		}
		if err != nil {
			return s.explain("check", err)
		}
		if !whole {
			break
		}
	}
	return nil
}

func isCorrupt(err error) bool {
	var failure *sqlite.Error
	return errors.As(err, &failure) && (failure.Code()&0xff == sqlite3.SQLITE_CORRUPT || failure.Code()&0xff == sqlite3.SQLITE_NOTADB)
}

type checker struct {
	ctx    context.Context
	store  *Store
	repair bool
	report fsck.Report
}

// found reports a damage, after trying to repair it if that is wanted and possible. The first repair that
// succeeds will do.
func (c *checker) found(kind, where, detail string, repairs ...func(*sql.Tx) error) (repaired bool, err error) {
	for _, fix := range repairs {
		if !c.repair || repaired {
			break
		}
		err = c.store.write(c.ctx, everything, "repair "+kind+" "+where, fix)
		repaired = err == nil
	}
	c.report(fsck.Finding{Store: "control", Kind: kind, Where: where, Detail: detail, Repaired: repaired})
	return repaired, err
}

// execute is a repair that takes a single statement.
func (c *checker) execute(statement string, args ...any) func(*sql.Tx) error {
	return func(tx *sql.Tx) error {
		_, err := tx.ExecContext(c.ctx, statement, args...)
		return err
	}
}

// pages has SQLite check its own structures. Of these, indexes can be made again.
func (c *checker) pages() error {
	damage, err := c.integrity()
	if err != nil || len(damage) == 0 {
		return err
	}
	left := damage
	if c.repair && c.store.write(c.ctx, everything, "repair indexes", c.execute("REINDEX")) == nil {
		if left, err = c.integrity(); err != nil {
			return err
		}
	}
	for _, what := range damage {
		c.report(fsck.Finding{Store: "control", Kind: "damaged database", Where: c.store.name, Detail: what, Repaired: len(left) == 0})
	}
	return nil
}

func (c *checker) integrity() (damage []string, err error) {
	for line, err := range rows(c.ctx, c.store, "check the database", scanString, "PRAGMA integrity_check") {
		if err != nil {
			return nil, err
		}
		if line != "ok" {
			damage = append(damage, line)
		}
	}
	return damage, nil
}

func scanString(r *sql.Rows) (s string, err error) { return s, r.Scan(&s) }

// setAside turns what cannot be read into a dead letter.
func (c *checker) setAside(tx *sql.Tx, kind string, xml []byte, cause error) error {
	item, err := json.Marshal(string(xml))
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(c.ctx, "INSERT INTO dead_letter ("+letterColumns+") VALUES (?, ?, '', 'fsck', ?, 1, ?, ?, FALSE)",
		"fsck-"+rand.Text(), nanos.Of(time.Now()), cause.Error(), kind, item)
	return err
}

// secrets checks that each can be read, and each address of a channel. One that cannot wants the key file that it was
// written with.
func (c *checker) secrets() error {
	keys, wrong := readKeys(c.store.keyFile)
	check := func(where string, open func([]secretKey) error) error {
		cause := wrong
		if cause == nil {
			cause = open(keys)
		}
		if cause == nil {
			return nil
		}
		_, err := c.found(UnreadableSecret, where, cause.Error())
		return err
	}
	for sealed, err := range rows(c.ctx, c.store, "check secrets", scanSecret, "SELECT "+secretColumns+" FROM secret ORDER BY name") {
		if err == nil {
			err = check(sealed.Name, func(keys []secretKey) error { _, err := sealed.open(keys); return err })
		}
		if err != nil {
			return err
		}
	}
	for sealed, err := range rows(c.ctx, c.store, "check channels", func(r *sql.Rows) (sealedChannel, error) { return scanChannel(r.Scan) },
		"SELECT "+channelColumns+" FROM channel ORDER BY n") {
		if err == nil {
			err = check(fmt.Sprintf("address of channel %d", sealed.N), func(keys []secretKey) error { _, err := sealed.open(keys); return err })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rules are what must hold beside the columns that are derived. Each query finds where one is broken, and
// what its repair takes.
var rules = []struct{ kind, detail, query, repair string }{
	{"orphan XML", "it is of no URD", "SELECT n, n FROM urd_xml WHERE n NOT IN (SELECT n FROM urd)", "DELETE FROM urd_xml WHERE n = ?"},
	{"orphan keyword", "it is of no URD", "SELECT DISTINCT urd, urd FROM keyword WHERE urd NOT IN (SELECT n FROM urd)", "DELETE FROM keyword WHERE urd = ?"},
	{"orphan fingerprints", "they are of no ACI", "SELECT seq, seq FROM shown WHERE seq NOT IN (SELECT seq FROM aci)", "DELETE FROM shown WHERE seq = ?"},
	{"orphan mirror", "it is listed in no ACI", "SELECT id, n FROM mirror WHERE seq NOT IN (SELECT seq FROM aci)", "DELETE FROM mirror WHERE n = ?"},
	{"ACI both stored and listed as a mirror", "", "SELECT id, n FROM mirror WHERE id IN (SELECT id FROM aci)", "DELETE FROM mirror WHERE n = ?"},
	{"orphan in an inbox", "it is of no ACI", "SELECT seq, seq FROM inbox_item WHERE seq NOT IN (SELECT seq FROM aci)", "DELETE FROM inbox_item WHERE seq = ?"},
	{"ACI in another's inbox", "", "SELECT inbox_item.seq, inbox_item.seq FROM inbox_item JOIN aci USING (seq) WHERE inbox_item.owner <> aci.owner", "DELETE FROM inbox_item WHERE seq = ?"},
	{"inbox without an account", "", "SELECT DISTINCT owner, owner FROM inbox_item WHERE owner NOT IN (SELECT owner FROM account)", "DELETE FROM inbox_item WHERE owner = ?"},
	{"web session without an account", "", "SELECT DISTINCT owner, owner FROM web_session WHERE owner <> '' AND owner NOT IN (SELECT owner FROM account)",
		"DELETE FROM web_session WHERE owner = ?"},
	{"token without an account", "", "SELECT DISTINCT owner, owner FROM token WHERE owner NOT IN (SELECT owner FROM account)", "DELETE FROM token WHERE owner = ?"},
	{"channel without an account", "", "SELECT n, n FROM channel WHERE owner NOT IN (SELECT owner FROM account)", "DELETE FROM channel WHERE n = ?"},
	{"orphan message", "it is of no channel", "SELECT id, id FROM message WHERE channel NOT IN (SELECT n FROM channel)", "DELETE FROM message WHERE id = ?"},
	{"orphan in the outbox", "it is of no channel", "SELECT n, n FROM outbox WHERE channel NOT IN (SELECT n FROM channel)", "DELETE FROM outbox WHERE n = ?"},
	{"lost message", "it is not known which was to tell of it: it is sent with the next", "SELECT n, n FROM outbox WHERE message <> '' AND message NOT IN (SELECT id FROM message)",
		"UPDATE outbox SET message = '' WHERE n = ?"},
	{"grant of no secret", "", "SELECT DISTINCT name, name FROM secret_grant WHERE name NOT IN (SELECT name FROM secret)", "DELETE FROM secret_grant WHERE name = ?"},
	{"URD both stored and removed", "", "SELECT id, id FROM removed WHERE id IN (SELECT id FROM urd)", "DELETE FROM removed WHERE id = ?"},
	{"ACI both stored and trimmed", "", "SELECT id, id FROM trimmed WHERE id IN (SELECT id FROM aci)", "DELETE FROM trimmed WHERE id = ?"},
	{"ACI both stored and withheld", "", "SELECT id, id FROM withheld WHERE id IN (SELECT id FROM aci)", "DELETE FROM withheld WHERE id = ?"},
	{"interest newer than its URD", "", "SELECT id, id FROM urd WHERE interest > revision", "UPDATE urd SET interest = revision WHERE id = ?"},
	{"missing counter", "", `SELECT column1, column1 FROM (VALUES ('revision'), ('checks'), ('quotas'), ('day'), ('day_seq'), ('by_text')) AS needed
		WHERE column1 NOT IN (SELECT name FROM counter)`, "INSERT INTO counter VALUES (?, 0)"},
	{"counter behind", "a revision was given that it has not reached", `SELECT name, reached FROM counter
		JOIN (SELECT coalesce(max(revision), 0) AS reached FROM (SELECT revision FROM urd UNION ALL SELECT revision FROM removed) AS given) AS last ON reached > value
		WHERE name = 'revision'`, "UPDATE counter SET value = ? WHERE name = 'revision'"},
	{"counter behind", "a check was asked for that it has not counted", `SELECT name, reached FROM counter
		JOIN (SELECT coalesce(max(check_number), 0) AS reached FROM urd) AS last ON reached > value
		WHERE name = 'checks'`, "UPDATE counter SET value = ? WHERE name = 'checks'"},
	{"sequence behind", "an ACI has a number that was not given yet", `SELECT 'aci', reached FROM (SELECT max(seq) AS reached FROM aci) AS last
		WHERE reached > coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'aci'), 0)`, "UPDATE sqlite_sequence SET seq = ? WHERE name = 'aci'"},
	// Followers of ACIs are named pipeline/stage. Other cursors count something else, and have longer names.
	{"follower beyond the end", "it would pass over ACIs that are still to come", `SELECT name, name FROM cursor
		WHERE name LIKE '%/%' AND name NOT LIKE '%/%/%' AND position > coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'aci'), 0)`,
		"UPDATE cursor SET position = coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'aci'), 0) WHERE name = ?"},
}

func (c *checker) rest() error {
	for _, rule := range rules {
		type place struct {
			where string
			arg   any
		}
		for p, err := range rows(c.ctx, c.store, "check", func(r *sql.Rows) (p place, err error) { return p, r.Scan(&p.where, &p.arg) }, rule.query) {
			if err == nil {
				_, err = c.found(rule.kind, p.where, rule.detail, c.execute(rule.repair, p.arg))
			}
			if err != nil {
				return err
			}
		}
	}
	return c.revisions()
}

// revisions checks that each was given once, because who follows them would miss one of two.
func (c *checker) revisions() error {
	const repeated = `SELECT id FROM urd WHERE revision IN (
		SELECT revision FROM (SELECT revision FROM urd UNION ALL SELECT revision FROM removed) AS given GROUP BY revision HAVING count(*) > 1)`
	for id, err := range rows(c.ctx, c.store, "check revisions", scanString, repeated) {
		if err == nil {
			_, err = c.found("repeated revision", id, "another URD has the same", func(tx *sql.Tx) error {
				var revision int64
				if err := tx.QueryRowContext(c.ctx, count("revision")).Scan(&revision); err != nil {
					return err
				}
				return c.execute("UPDATE urd SET revision = ? WHERE id = ?", revision, id)(tx)
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
