package control

import (
	"cmp"
	"context"
	"database/sql"
	_ "embed"
	"fmt"
)

// newTables makes in one go what the migrations come to. It is written by go test -run TestNewTables -update.
//
//go:embed tables.sql
var newTables string

// migrations lead from each version of the tables to the next; the database keeps its version in
// user_version. Beside the XML there are columns for what is looked up, and for nothing else: another can be
// derived when it is wanted. Times are nanoseconds since 1970.
var migrations = []migration{
	{tables: tables1},
	{tables: tables2, fill: fill2, finish: finish2},
	{tables: tables3},
	{tables: tables4},
	{tables: tables5},
	{tables: tables6},
	{tables: tables7},
	{tables: tables8},
}

// migration makes tables, fills them from those there were, and then takes those away.
type migration struct {
	tables string
	fill   func(context.Context, *sql.Tx) error
	finish string
}

const tables1 = `
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
`

const tables2 = `
INSERT INTO counter VALUES ('checks', 0), ('quotas', 0);

ALTER TABLE urd RENAME TO urd_1;
DROP INDEX urd_owner;
DROP INDEX urd_uri;
DROP INDEX urd_crawl;
DROP INDEX urd_revision;
CREATE TABLE urd (
	n            INTEGER PRIMARY KEY,
	id           TEXT NOT NULL UNIQUE,
	owner        TEXT NOT NULL,
	uri          TEXT NOT NULL,
	crawl        TEXT NOT NULL, -- empty when it starts none
	start        TEXT NOT NULL, -- of the crawl; empty when it is the uri
	protocol     TEXT NOT NULL,
	host         TEXT NOT NULL, -- empty when it names none
	urgency      INTEGER NOT NULL,
	revision     INTEGER NOT NULL,
	interest     INTEGER NOT NULL, -- the revision at which what is matched for it last changed
	check_time   INTEGER NOT NULL DEFAULT 0, -- when a check was last asked for
	check_number INTEGER NOT NULL DEFAULT 0, -- the counter of checks then
	nodes        BLOB NOT NULL -- the XML as a table, which XPath walks and URDs are read from
);
CREATE INDEX urd_owner    ON urd (owner);
CREATE INDEX urd_uri      ON urd (uri);
CREATE INDEX urd_crawl    ON urd (crawl);
CREATE INDEX urd_host     ON urd (host);
CREATE INDEX urd_revision ON urd (revision);
CREATE INDEX urd_check    ON urd (check_number) WHERE check_number > 0;

CREATE TABLE urd_xml (
	n   INTEGER PRIMARY KEY, -- urd.n
	xml BLOB NOT NULL -- canonical: the truth; apart, so that nobody who looks for something reads it
);

ALTER TABLE aci ADD COLUMN version INTEGER NOT NULL DEFAULT 0; -- of the document that it points to; 0 for none

CREATE TABLE trimmed ( -- the ids of ACIs that were removed, so that they are not sent again
	id TEXT PRIMARY KEY
) WITHOUT ROWID;

CREATE TABLE owner (
	name  TEXT PRIMARY KEY,
	quota INTEGER NOT NULL -- requests a day
) WITHOUT ROWID;

CREATE TABLE usage (
	day      TEXT NOT NULL,
	owner    TEXT NOT NULL,
	requests REAL NOT NULL,
	PRIMARY KEY (day, owner)
) WITHOUT ROWID;
`

// columns2 is how many of the columns that are derived today version 2 had.
const columns2 = 8

// fill2 derives from the XML what version 1 had no columns for, and node tables as they are now.
func fill2(ctx context.Context, tx *sql.Tx) error {
	writeURD, err := tx.PrepareContext(ctx, `INSERT INTO urd (n, revision, interest, nodes, id, owner, uri, crawl, start, protocol, host, urgency)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	err = each(ctx, tx, "SELECT xml, n, revision, interest FROM urd_1", func(r record) error {
		u, err := decodeURD(r.document)
		if err != nil {
			return err
		}
		c, _, err := derive(u)
		if err != nil {
			return err
		}
		doc, err := encode(r.document)
		if err == nil {
			_, err = writeURD.ExecContext(ctx, append([]any{r.number, r.second, r.third, doc.nodes}, c.args()[:columns2]...)...)
		}
		return err
	})
	if err != nil {
		return err
	}
	writeACI, err := tx.PrepareContext(ctx, "UPDATE aci SET version = ?, nodes = ? WHERE seq = ?")
	if err != nil {
		return err
	}
	return each(ctx, tx, "SELECT xml, seq, 0, 0 FROM aci", func(r record) error {
		a, err := decodeACI(r.document)
		if err != nil {
			return err
		}
		doc, err := encode(r.document)
		if err == nil {
			_, err = writeACI.ExecContext(ctx, a.Docbase.Version, doc.nodes, r.number)
		}
		return err
	})
}

const finish2 = `
INSERT INTO urd_xml SELECT n, xml FROM urd_1;
DROP TABLE urd_1;
DROP INDEX aci_url;
CREATE INDEX aci_url       ON aci (url, version, retrieved);
CREATE INDEX aci_retrieved ON aci (retrieved) WHERE retrieved > 0;
CREATE INDEX aci_ageing    ON aci (time) WHERE retrieved = 0;
`

const tables3 = `
CREATE TABLE secret (
	name    TEXT PRIMARY KEY,
	kind    TEXT NOT NULL,
	key     TEXT NOT NULL, -- the id of the key that it is encrypted under
	sealed  BLOB NOT NULL, -- nonce and AES-256-GCM
	created INTEGER NOT NULL,
	changed INTEGER NOT NULL
) WITHOUT ROWID;
`

const tables4 = `
INSERT INTO counter VALUES ('day', 0), ('day_seq', 0);

CREATE TABLE budget ( -- those that were given; of the owner '' that of all others
	owner    TEXT PRIMARY KEY,
	alerts   INTEGER NOT NULL, -- ACIs sent a day; 0 is no limit, as of the others
	urds     INTEGER NOT NULL,
	keywords INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE withheld ( -- ACIs beyond a budget
	id        TEXT PRIMARY KEY,
	owner     TEXT NOT NULL,
	day       INTEGER NOT NULL, -- since 1970
	relevance INTEGER NOT NULL,
	xml       BLOB NOT NULL
);
CREATE INDEX withheld_owner ON withheld (owner, day, relevance);
CREATE INDEX withheld_day   ON withheld (day, owner);

CREATE TABLE notice ( -- the days of which owners were told that ACIs were withheld
	owner TEXT NOT NULL,
	day   INTEGER NOT NULL,
	PRIMARY KEY (owner, day)
) WITHOUT ROWID;

CREATE TABLE trimmed_today ( -- how many ACIs that came today were removed since
	owner TEXT PRIMARY KEY,
	count INTEGER NOT NULL
) WITHOUT ROWID;

ALTER TABLE urd ADD COLUMN keywords INTEGER NOT NULL DEFAULT 0; -- how many
UPDATE urd SET keywords = (SELECT count(*) FROM keyword WHERE urd = n);
CREATE INDEX urd_holding ON urd (owner, keywords);
`

const tables6 = `
ALTER TABLE secret ADD COLUMN bounds TEXT NOT NULL DEFAULT ''; -- where it may be sent, bound to what is sealed
`

// each calls back for every record of a query.
func each(ctx context.Context, tx *sql.Tx, query string, back func(record) error, args ...any) error {
	found, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		var r record
		err := found.Scan(&r.document, &r.number, &r.second, &r.third)
		if err == nil {
			err = back(r)
		}
		if err != nil {
			return err
		}
	}
	return found.Err()
}

// migrate brings the tables to the version this program knows, whole or not at all.
func (s *Store) migrate(ctx context.Context) error {
	version, err := s.version(ctx, s.writer)
	if err != nil {
		return err
	}
	if version == len(migrations) {
		return nil
	}
	return s.options.Retry(ctx, func() error {
		return s.transact(ctx, func(tx *sql.Tx) error {
			if version == 0 {
				return makeTables(ctx, tx)
			}
			return migrateFrom(ctx, tx, version)
		})
	})
}

// migrateFrom brings the tables of a version to the last. What they are counts, and not what a damaged
// database claims of them.
func migrateFrom(ctx context.Context, tx *sql.Tx, version int) error {
	if version > 0 {
		found, err := trueVersion(ctx, tx)
		if err != nil {
			return err
		}
		version = cmp.Or(found, version)
	}
	for ; version < len(migrations); version++ {
		if err := migrations[version].run(ctx, tx); err != nil {
			return fmt.Errorf("migrate tables from version %d: %w", version, err)
		}
	}
	return setVersion(ctx, tx, version)
}

// makeTables makes all tables in a database that has none.
func makeTables(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, newTables); err != nil {
		return fmt.Errorf("make tables: %w", err)
	}
	return setVersion(ctx, tx, len(migrations))
}

func setVersion(ctx context.Context, tx *sql.Tx, version int) error {
	_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version))
	return err
}

// version returns the version of the tables, which is one that this program knows.
func (s *Store) version(ctx context.Context, db *sql.DB) (version int, err error) {
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, err
	}
	if version > len(migrations) {
		return 0, fmt.Errorf("control store %s has tables of version %d, and this program knows versions up to %d: use the newer program that wrote it", s.name, version, len(migrations))
	}
	return version, nil
}

func (m migration) run(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, m.tables); err != nil {
		return err
	}
	if m.fill != nil {
		if err := m.fill(ctx, tx); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, m.finish)
	return err
}
