package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/webrace/webrace/internal/simhash"
	"github.com/webrace/webrace/xmlschema"
)

// An ACI is about a document in a version. Where the owner of a URD would be shown the same text at another
// document too, that is a mirror: it is listed in the first ACI (also), and the owner is not told again. Two texts
// are the same if all that the URD is shown of both documents is, or if it differs in few words and what matched is
// the same; texts of a few words have no fingerprints, and are never mirrors.
//
// A document that was listed in an ACI before, in an earlier version, is no mirror of it any more: its text had gone
// and has come back, which is news.

const tables5 = `
ALTER TABLE trimmed ADD COLUMN url     TEXT    NOT NULL DEFAULT ''; -- that of the ACI, if it is known
ALTER TABLE trimmed ADD COLUMN version INTEGER NOT NULL DEFAULT 0;

CREATE TABLE likeness ( -- of the texts of ACIs that have one
	urd   TEXT NOT NULL,
	seq   INTEGER NOT NULL, -- aci.seq
	value INTEGER NOT NULL,
	url   INTEGER NOT NULL, -- a hash
	PRIMARY KEY (urd, seq)
) WITHOUT ROWID;
CREATE INDEX likeness_seq ON likeness (seq);
`

// tables7 came with ids that are those of documents. Those of the ACIs there were are of texts: by_text tells whether
// there are any.
const tables7 = `
DROP TABLE likeness;

CREATE TABLE shown ( -- what owners were shown with ACIs, as fingerprints; hashes of them and the URD
	seq      INTEGER PRIMARY KEY, -- aci.seq
	document INTEGER NOT NULL, -- a hash of URL and credentials
	text     INTEGER NOT NULL, -- all that was shown
	matched  INTEGER NOT NULL,
	likeness INTEGER NOT NULL -- of all that was shown: no hash
);
CREATE INDEX shown_text    ON shown (text);
CREATE INDEX shown_matched ON shown (matched);

CREATE TABLE mirror ( -- documents that are listed in an ACI of another
	n       INTEGER PRIMARY KEY,
	id      TEXT NOT NULL UNIQUE, -- that of the ACI which was not stored
	seq     INTEGER NOT NULL, -- aci.seq of the one that was
	url     TEXT NOT NULL,
	version INTEGER NOT NULL
);
CREATE INDEX mirror_seq ON mirror (seq, url);
CREATE INDEX mirror_url ON mirror (url, version);

INSERT INTO counter VALUES ('by_text', EXISTS (SELECT 1 FROM aci) OR EXISTS (SELECT 1 FROM trimmed) OR EXISTS (SELECT 1 FROM withheld));
`

// mostCompared is how many ACIs of a URD that have the same fingerprint, the latest, a new one is compared with.
const mostCompared = 64

// mirrors finds in one transaction whether an ACI is of a mirror, and lists it then.
type mirrors struct {
	ctx                               context.Context
	sameText, sameMatched, listed     *sql.Stmt
	twin                              *sql.Stmt
	list, listing, count, read, write *sql.Stmt
	note                              *sql.Stmt
	longer                            []int64 // the ACIs in which something was listed, by seq
}

func newMirrors(ctx context.Context, tx *sql.Tx) (*mirrors, error) {
	m := &mirrors{ctx: ctx}
	return m, prepareAll(ctx, tx, []statement{
		{&m.sameText, "SELECT seq, document, likeness FROM shown WHERE text = ? ORDER BY seq DESC LIMIT ?"},
		{&m.sameMatched, "SELECT seq, document, likeness FROM shown WHERE matched = ? ORDER BY seq DESC LIMIT ?"},
		{&m.twin, "SELECT seq FROM aci WHERE id = ?1 UNION SELECT seq FROM mirror WHERE id = ?1 LIMIT 1"},
		{&m.listed, "SELECT EXISTS (SELECT 1 FROM mirror WHERE seq = ? AND url = ?)"},
		{&m.list, "INSERT INTO mirror (id, seq, url, version) VALUES (?, ?, ?, ?)"},
		{&m.listing, "SELECT url, version FROM mirror WHERE seq = ? ORDER BY n LIMIT ?"},
		{&m.count, "SELECT count(*) FROM mirror WHERE seq = ?"},
		{&m.read, "SELECT xml FROM aci WHERE seq = ?"},
		{&m.write, "UPDATE aci SET xml = ?, nodes = ? WHERE seq = ?"},
		{&m.note, "INSERT INTO shown VALUES (?, ?, ?, ?, ?)"},
	})
}

// prints are the fingerprints of an ACI as the table shown has them.
type prints struct{ document, text, matched, likeness int64 }

// printsOf returns the fingerprints of an ACI, and whether it has any.
func printsOf(a *xmlschema.ACI) (prints, bool) {
	d := &a.Docbase
	of := func(what string, print uint64) int64 {
		return int64(xxhash.Sum64String(fmt.Sprintf("%s %016x %s", what, print, a.URD)))
	}
	document := int64(xxhash.Sum64String(d.Secret + " " + a.URI))
	return prints{document, of("text", d.Shown), of("matched", d.Matched), int64(d.Likeness)}, d.Shown != 0
}

// add lists an ACI in an earlier one if it is of a mirror, and reports whether it is.
func (m *mirrors) add(r *row) (bool, error) {
	p, known := printsOf(r.ACI)
	if !known {
		return false, nil
	}
	seq, err := m.find(m.sameText, p.text, r, p.document, func(uint64) bool { return true })
	if err == nil && seq == 0 {
		seq, err = m.find(m.sameMatched, p.matched, r, p.document, func(of uint64) bool { return simhash.Alike(of, r.Docbase.Likeness) })
	}
	if err != nil || seq == 0 {
		return false, err
	}
	if _, err := m.list.ExecContext(m.ctx, r.ID, seq, r.URI, r.Docbase.Version); err != nil {
		return false, fmt.Errorf("list it as a mirror: %w", err)
	}
	m.longer = append(m.longer, seq)
	return true, nil
}

// addTwin lists an ACI in one that told its owner the same of its document, as it came to another of their URDs, and
// reports whether there is one.
func (m *mirrors) addTwin(r *row) (bool, error) {
	if r.Twins == nil {
		return false, nil
	}
	for _, id := range r.Twins.IDs {
		var seq int64
		err := m.twin.QueryRowContext(m.ctx, id).Scan(&seq)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return false, err
		}
		if _, err := m.list.ExecContext(m.ctx, r.ID, seq, r.Twins.URI, 0); err != nil {
			return false, fmt.Errorf("list it with its twin: %w", err)
		}
		m.longer = append(m.longer, seq)
		return true, nil
	}
	return false, nil
}

// find returns the latest ACI with a fingerprint that is of another document, in which this one is not listed yet
// and whose likeness is accepted; 0 if there is none.
func (m *mirrors) find(query *sql.Stmt, print int64, r *row, document int64, accepts func(likeness uint64) bool) (int64, error) {
	candidates, err := m.candidates(query, print)
	if err != nil {
		return 0, err
	}
	for _, c := range candidates {
		if c.document == document || !accepts(c.likeness) {
			continue
		}
		var listed bool
		if err := m.listed.QueryRowContext(m.ctx, c.seq, r.URI).Scan(&listed); err != nil || !listed {
			return c.seq, err
		}
	}
	return 0, nil
}

type candidate struct {
	seq, document int64
	likeness      uint64
}

func (m *mirrors) candidates(query *sql.Stmt, print int64) (all []candidate, err error) {
	found, err := query.QueryContext(m.ctx, print, mostCompared)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	for found.Next() {
		var c candidate
		var likeness int64
		if err := found.Scan(&c.seq, &c.document, &likeness); err != nil {
			return nil, err
		}
		c.likeness = uint64(likeness)
		all = append(all, c)
	}
	return all, found.Err()
}

// remember notes what an ACI that was stored has shown its owner.
func (m *mirrors) remember(seq int64, r *row) error {
	p, known := printsOf(r.ACI)
	if !known {
		return nil
	}
	if _, err := m.note.ExecContext(m.ctx, seq, p.document, p.text, p.matched, p.likeness); err != nil {
		return fmt.Errorf("note what it shows: %w", err)
	}
	return nil
}

// complete writes into each ACI in which something was listed what is listed there now, and returns those ACIs.
func (m *mirrors) complete() (map[string]*xmlschema.ACI, error) {
	changed := make(map[string]*xmlschema.ACI)
	slices.Sort(m.longer)
	for _, seq := range slices.Compact(m.longer) {
		a, err := m.rewrite(seq)
		if err != nil {
			return nil, fmt.Errorf("list mirrors in ACI %d: %w", seq, err)
		}
		changed[a.ID] = a
	}
	return changed, nil
}

func (m *mirrors) rewrite(seq int64) (*xmlschema.ACI, error) {
	var stored document
	if err := m.read.QueryRowContext(m.ctx, seq).Scan(&stored.xml); err != nil {
		return nil, err
	}
	a, err := decodeACI(stored.xml)
	if err != nil {
		return nil, err
	}
	if a.Also, err = m.also(seq); err != nil {
		return nil, err
	}
	if stored, err = encodeACI(a); err != nil {
		return nil, err
	}
	_, err = m.write.ExecContext(m.ctx, stored.xml, stored.nodes, seq)
	return a, err
}

func (m *mirrors) also(seq int64) (also xmlschema.Also, err error) {
	if err := m.count.QueryRowContext(m.ctx, seq).Scan(&also.Count); err != nil {
		return also, err
	}
	found, err := m.listing.QueryContext(m.ctx, seq, xmlschema.MostMirrors)
	if err != nil {
		return also, err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	for found.Next() {
		var mirror xmlschema.Mirror
		if err := found.Scan(&mirror.URI, &mirror.Version); err != nil {
			return also, err
		}
		also.Documents = append(also.Documents, mirror)
	}
	return also, found.Err()
}

// MirrorOf returns the ACI in which the one with this id is listed, because it would have told its owner of the same
// text at another document, and whether there is one.
func (s *Store) MirrorOf(ctx context.Context, id string) (ACI, bool, error) {
	found := rows(ctx, s, "look for the ACI of a mirror", func(r *sql.Rows) (ACI, error) {
		var stored record
		if err := r.Scan(&stored.document, &stored.number, &stored.second); err != nil {
			return ACI{}, err
		}
		return decodeStoredACI(stored)
	}, "SELECT xml, seq, retrieved FROM aci WHERE seq = (SELECT seq FROM mirror WHERE id = ?)", id)
	for aci, err := range found {
		return aci, err == nil, err
	}
	return ACI{}, false, nil
}
