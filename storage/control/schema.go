package control

import (
	"context"
	"database/sql"
	"fmt"
)

// migrations lead from each version of the tables to the next; the database keeps its version in
// user_version. Beside the XML there are columns for what is looked up, and for nothing else: another can be
// derived when it is wanted. Times are nanoseconds since 1970.
var migrations = []string{`
CREATE TABLE counter (
	name  TEXT PRIMARY KEY,
	value INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO counter VALUES ('revision', 0);

CREATE TABLE urd (
	n        INTEGER PRIMARY KEY,
	id       TEXT NOT NULL UNIQUE,
	xml      BLOB NOT NULL, -- canonical: the truth
	nodes    BLOB NOT NULL, -- the same, as a table that XPath walks
	owner    TEXT NOT NULL,
	uri      TEXT NOT NULL,
	crawl    TEXT NOT NULL, -- empty when it starts none
	revision INTEGER NOT NULL,
	interest INTEGER NOT NULL -- the revision at which what is matched for it last changed
);
CREATE INDEX urd_owner    ON urd (owner);
CREATE INDEX urd_uri      ON urd (uri);
CREATE INDEX urd_crawl    ON urd (crawl);
CREATE INDEX urd_revision ON urd (revision);

CREATE TABLE keyword (
	key TEXT NOT NULL,
	urd INTEGER NOT NULL, -- urd.n
	PRIMARY KEY (key, urd)
) WITHOUT ROWID;
CREATE INDEX keyword_urd ON keyword (urd);

CREATE TABLE removed (
	id       TEXT PRIMARY KEY,
	revision INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX removed_revision ON removed (revision);

CREATE TABLE aci (
	seq       INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again, so that cursors never skip
	id        TEXT NOT NULL UNIQUE,
	xml       BLOB NOT NULL,
	nodes     BLOB NOT NULL,
	urd       TEXT NOT NULL,
	owner     TEXT NOT NULL,
	url       TEXT NOT NULL,
	time      INTEGER NOT NULL,
	retrieved INTEGER NOT NULL DEFAULT 0 -- when it was taken or expired; 0 while it waits
);
CREATE INDEX aci_owner   ON aci (owner, seq);
CREATE INDEX aci_waiting ON aci (owner, seq) WHERE retrieved = 0;
CREATE INDEX aci_urd     ON aci (urd, seq);
CREATE INDEX aci_url     ON aci (url, seq);
CREATE INDEX aci_time    ON aci (time);

CREATE TABLE cursor (
	name     TEXT PRIMARY KEY,
	position INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE dead_letter (
	n        INTEGER PRIMARY KEY,
	id       TEXT NOT NULL UNIQUE,
	time     INTEGER NOT NULL,
	pipeline TEXT NOT NULL,
	stage    TEXT NOT NULL,
	error    TEXT NOT NULL,
	attempts INTEGER NOT NULL,
	kind     TEXT NOT NULL,
	item     BLOB NOT NULL,
	replay   INTEGER NOT NULL DEFAULT 0 -- 1: to be processed again
);
`}

// migrate brings the tables to the version this program knows, each step whole or not at all.
func (s *Store) migrate(ctx context.Context) error {
	var version int
	if err := s.writer.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version > len(migrations) {
		return fmt.Errorf("control store %s has tables of version %d, and this program knows versions up to %d: use the newer program that wrote it", s.path, version, len(migrations))
	}
	for ; version < len(migrations); version++ {
		err := s.transact(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, migrations[version]+fmt.Sprintf("PRAGMA user_version = %d", version+1))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
