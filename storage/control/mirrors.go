package control

import (
	"context"
	"database/sql"
	"encoding/json"
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
// A document that has moved is no mirror of what it was at its former URL.
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
	*statements
	texts, matches candidates       // by what a group shows
	listed         map[listing]bool // in the candidates
	longer         []int64          // the ACIs in which something was listed, by Seq

	listings, shown []any // rows to be inserted for the group
}

// candidates are ACIs by a fingerprint, the latest first, and at most [mostCompared].
type candidates map[int64][]candidate

type candidate struct {
	seq, document int64
	likeness      uint64
}

// listing is a URL that is listed in an ACI.
type listing struct {
	seq int64
	url string
}

// prints are the fingerprints of an ACI as the table shown has them.
type prints struct{ document, text, matched, likeness int64 }

// printsOf returns the fingerprints of an ACI, and whether it has any.
func printsOf(a *xmlschema.ACI) (prints, bool) {
	d := &a.Docbase
	of := func(what string, print uint64) int64 {
		return int64(xxhash.Sum64String(fmt.Sprintf("%s %016x %s", what, print, a.URD)))
	}
	return prints{hashOf(a, a.URI), of("text", d.Shown), of("matched", d.Matched), int64(d.Likeness)}, d.Shown != 0
}

// hashOf identifies what an ACI's credentials show at a URL.
func hashOf(a *xmlschema.ACI, url string) int64 {
	return int64(xxhash.Sum64String(a.Docbase.Secret + " " + url))
}

// lookUp finds the ACIs that a group may be listed in, and which of it are.
func (m *mirrors) lookUp(group []*row) (err error) {
	var texts, matches []int64
	for _, r := range group {
		if p, known := printsOf(r.ACI); known {
			texts, matches = append(texts, p.text), append(matches, p.matched)
		}
	}
	m.texts, err = m.candidates(latestByText, texts)
	if err == nil {
		m.matches, err = m.candidates(latestByMatch, matches)
	}
	if err != nil {
		return err
	}
	var asked []any
	for _, r := range group {
		m.likely(r, func(c candidate) bool {
			asked = append(asked, [2]any{c.seq, r.URI})
			return true
		})
	}
	return m.findListed(asked)
}

const (
	latestByText = `SELECT wanted.value, seq, document, likeness FROM json_each(?) AS wanted
		JOIN shown ON seq IN (SELECT seq FROM shown WHERE text = CAST(wanted.value AS BIGINT) ORDER BY seq DESC LIMIT ?) ORDER BY seq DESC`
	latestByMatch = `SELECT wanted.value, seq, document, likeness FROM json_each(?) AS wanted
		JOIN shown ON seq IN (SELECT seq FROM shown WHERE matched = CAST(wanted.value AS BIGINT) ORDER BY seq DESC LIMIT ?) ORDER BY seq DESC`
)

// candidates returns the latest ACIs that have any of some fingerprints.
func (m *mirrors) candidates(query string, prints []int64) (candidates, error) {
	all := make(candidates)
	if len(prints) == 0 {
		return all, nil
	}
	slices.Sort(prints)
	text, err := json.Marshal(slices.Compact(prints))
	if err != nil {
		return nil, err
	}
	return all, m.each(query, []any{string(text), mostCompared}, func(scan func(...any) error) error {
		var c candidate
		var print, likeness int64
		err := scan(&print, &c.seq, &c.document, &likeness)
		c.likeness = uint64(likeness)
		all[print] = append(all[print], c)
		return err
	})
}

// likely calls back for the ACIs of other documents that show the same as one, those of the same text first, and the
// latest of them, until it is told to stop.
func (m *mirrors) likely(r *row, back func(candidate) (further bool)) {
	p, known := printsOf(r.ACI)
	if !known {
		return
	}
	isOther := func(c candidate) bool {
		isFormer := func(url string) bool { return c.document == hashOf(r.ACI, url) }
		return c.document != p.document && !slices.ContainsFunc(r.Former, isFormer)
	}
	for _, c := range m.texts[p.text] {
		if isOther(c) && !back(c) {
			return
		}
	}
	for _, c := range m.matches[p.matched] {
		if isOther(c) && simhash.Alike(c.likeness, r.Docbase.Likeness) && !back(c) {
			return
		}
	}
}

// findListed finds out which pairs of the Seq of an ACI and a URL are listed.
func (m *mirrors) findListed(pairs []any) error {
	m.listed = make(map[listing]bool)
	if len(pairs) == 0 {
		return nil
	}
	text, err := json.Marshal(pairs)
	if err != nil {
		return err
	}
	const query = "SELECT seq, url FROM json_each(?) AS pair JOIN mirror ON seq = CAST(pair.value ->> 0 AS BIGINT) AND url = pair.value ->> 1"
	return m.each(query, []any{string(text)}, func(scan func(...any) error) error {
		var l listing
		err := scan(&l.seq, &l.url)
		m.listed[l] = true
		return err
	})
}

// add lists an ACI in the latest one that shows the same of another document, and in which its own is not listed yet,
// and returns the Seq of that; 0 if there is none.
func (m *mirrors) add(r *row) (seq int64) {
	m.likely(r, func(c candidate) bool {
		if !m.listed[listing{c.seq, r.URI}] {
			seq = c.seq
		}
		return seq == 0
	})
	if seq > 0 {
		m.list(r.ID, listing{seq, r.URI}, r.Docbase.Version)
	}
	return seq
}

func (m *mirrors) list(id string, in listing, version int) {
	m.listed[in] = true
	m.longer = append(m.longer, in.seq)
	m.listings = append(m.listings, id, in.seq, in.url, version)
}

// remember notes what an ACI that was stored has shown its owner.
func (m *mirrors) remember(seq int64, r *row) {
	p, known := printsOf(r.ACI)
	if !known {
		return
	}
	c := candidate{seq, p.document, r.Docbase.Likeness}
	m.texts.add(p.text, c)
	m.matches.add(p.matched, c)
	m.shown = append(m.shown, seq, p.document, p.text, p.matched, p.likeness)
}

func (all candidates) add(print int64, latest candidate) {
	if all != nil { // somebody asks for them
		all[print] = slices.Insert(all[print], 0, latest)[:min(len(all[print])+1, mostCompared)]
	}
}

// write inserts the rows of the group.
func (m *mirrors) write() error {
	err := m.insertRows("shown", 5, m.shown)
	if err == nil {
		err = m.insertRows("mirror (id, seq, url, version)", 4, m.listings)
	}
	m.shown, m.listings = m.shown[:0], m.listings[:0]
	return err
}

// complete writes into each ACI in which something was listed what is listed there now, and returns those ACIs.
func (m *mirrors) complete() (map[string]*xmlschema.ACI, error) {
	changed := make(map[string]*xmlschema.ACI)
	slices.Sort(m.longer)
	for group := range slices.Chunk(slices.Compact(m.longer), putGroup) {
		if err := m.rewrite(group, changed); err != nil {
			return nil, fmt.Errorf("list mirrors in ACIs %d to %d: %w", group[0], group[len(group)-1], err)
		}
	}
	return changed, nil
}

// rewrite writes ACIs anew with what is listed in them, and notes them by their ids.
func (m *mirrors) rewrite(seqs []int64, changed map[string]*xmlschema.ACI) error {
	numbers, err := json.Marshal(seqs)
	if err != nil {
		return err
	}
	also, err := m.also(string(numbers))
	if err != nil {
		return err
	}
	rows := make([]any, 0, 3*len(seqs))
	err = m.each("SELECT wanted.value, xml FROM json_each(?) AS wanted JOIN aci ON seq = CAST(wanted.value AS BIGINT)", []any{string(numbers)}, func(scan func(...any) error) error {
		var seq int64
		var stored document
		if err := scan(&seq, &stored.xml); err != nil {
			return err
		}
		a, err := decodeACI(stored.xml)
		if err != nil {
			return err
		}
		a.Also = also[seq]
		stored, err = encodeACI(a)
		changed[a.ID] = a
		rows = append(rows, seq, stored.xml, stored.nodes)
		return err
	})
	if err == nil && len(rows) < 3*len(seqs) {
		err = sql.ErrNoRows
	}
	if err != nil {
		return err
	}
	return m.withRows("UPDATE aci SET xml = column2, nodes = column3 FROM (", 3, rows, ") AS given WHERE seq = column1")
}

// also returns what is listed in ACIs, by their Seq.
func (m *mirrors) also(seqs string) (map[int64]xmlschema.Also, error) {
	const query = `SELECT seq, total, url, version FROM (
		SELECT seq, url, version, count(*) OVER (PARTITION BY seq) AS total, row_number() OVER (PARTITION BY seq ORDER BY n) AS place
		FROM json_each(?) AS wanted JOIN mirror ON seq = CAST(wanted.value AS BIGINT)
	) AS numbered WHERE place <= ? ORDER BY seq, place`
	all := make(map[int64]xmlschema.Also)
	return all, m.each(query, []any{seqs, xmlschema.MostMirrors}, func(scan func(...any) error) error {
		var seq int64
		var count int
		var mirror xmlschema.Mirror
		err := scan(&seq, &count, &mirror.URI, &mirror.Version)
		all[seq] = xmlschema.Also{Count: count, Documents: append(all[seq].Documents, mirror)}
		return err
	})
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
