package control

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/webrace/webrace/storage/internal/nanos"
	"github.com/webrace/webrace/xmlschema"
)

// putGroup is how many URDs are looked up, and written, together: a statement costs more than a row.
const putGroup = 512

// putter puts URDs within one transaction.
type putter struct {
	statements
	spent    *spending // nil for repairs, which no budget stops
	last     int64     // row number
	revision int64
	changes  []Change

	group []given
	index map[string]int // of those in the group, by id: each is there once

	urds, xml []any // rows to be inserted for the group
	keys      []keyRow
}

// given is a URD to be stored, with all that is derived of it.
type given struct {
	*xmlschema.URD
	document
	columns columns
	keys    []string
}

// keyRow is a keyword of a URD.
type keyRow struct {
	key string
	n   int64
}

// keywordRows are the columns of keywords.
const keywordRows = "keyword (key, urd)"

func (s *Store) newPutter(ctx context.Context, tx *sql.Tx, spent *spending) (*putter, error) {
	p := &putter{statements: s.newStatements(ctx, tx), spent: spent, index: make(map[string]int)}
	err := tx.QueryRowContext(ctx, "SELECT value, (SELECT coalesce(max(n), 0) FROM urd) FROM counter WHERE name = 'revision'").Scan(&p.revision, &p.last)
	return p, err
}

// add takes a URD that is to be put.
func (p *putter) add(u *xmlschema.URD) error {
	g, err := newGiven(u)
	if err != nil {
		return fmt.Errorf("URD %q of %q for %s: %w", u.ID, u.Owner, u.URI, err)
	}
	if _, again := p.index[g.ID]; again || len(p.group) == putGroup {
		if err := p.write(); err != nil {
			return err
		}
	}
	p.index[g.ID] = len(p.group)
	p.group = append(p.group, g)
	return nil
}

func newGiven(u *xmlschema.URD) (g given, err error) {
	if g.URD, err = prepare(u); err != nil {
		return g, err
	}
	if g.columns, g.keys, err = derive(g.URD); err != nil {
		return g, err
	}
	g.document, err = encodeURD(g.URD)
	return g, err
}

// prepare returns a URD as it is stored.
func prepare(given *xmlschema.URD) (*xmlschema.URD, error) {
	u := *given
	u.LastCheck = time.Time{}
	if u.Owner == "" {
		return nil, errors.New("it has no owner to tell: give it an owner attribute, or import it with --owner")
	}
	if u.ID == "" {
		u.ID = xmlschema.DeriveID(u.Owner, u.Source(), u.InterestHash())
	}
	return &u, nil
}

// finish writes what is left, and returns what became of each URD.
func (p *putter) finish() ([]Change, error) {
	err := p.write()
	if err == nil {
		err = p.spent.check()
	}
	if err == nil {
		err = p.exec("UPDATE counter SET value = ? WHERE name = 'revision'", p.revision)
	}
	return p.changes, err
}

// write puts the group.
func (p *putter) write() error {
	names, owners := make([]string, len(p.group)), make([]string, len(p.group))
	for i := range p.group {
		names[i], owners[i] = p.group[i].ID, p.group[i].Owner
	}
	stored, err := p.lookUp(names)
	if err == nil {
		err = p.spent.watch(owners)
	}
	if err != nil {
		return err
	}
	for i := range p.group {
		g := &p.group[i]
		effect, err := p.put(g, stored[i])
		if err != nil {
			return fmt.Errorf("URD %q of %q for %s: %w", g.ID, g.Owner, g.URI, err)
		}
		p.changes = append(p.changes, Change{g.ID, effect})
	}
	if err := p.insert(); err != nil {
		return err
	}
	p.group = p.group[:0]
	clear(p.index)
	return p.exec("DELETE FROM removed WHERE id IN (SELECT value FROM json_each(?))", list(names))
}

// insert writes the rows of the group. Keywords go in the order of their table, where those of one word are neighbours.
func (p *putter) insert() error {
	slices.SortFunc(p.keys, func(a, b keyRow) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.n, b.n)) })
	keys := make([]any, 0, 2*len(p.keys))
	for _, k := range p.keys {
		keys = append(keys, k.key, k.n)
	}
	err := p.insertRows("urd (n, id, owner, uri, crawl, start, protocol, host, urgency, keywords, revision, interest, nodes)", 13, p.urds)
	if err == nil {
		err = p.insertRows("urd_xml (n, xml)", 2, p.xml)
	}
	if err == nil {
		err = p.insertRows(keywordRows, 2, keys)
	}
	p.urds, p.xml, p.keys = p.urds[:0], p.xml[:0], p.keys[:0]
	return err
}

// stored is what there is of a URD that is put.
type stored struct {
	n, interest int64 // n is 0 when there is nothing
	owner       string
	xml         []byte
	keywords    int
}

// lookUp returns what is stored of the group.
func (p *putter) lookUp(names []string) ([]stored, error) {
	found, err := p.tx.QueryContext(p.ctx, `SELECT id, n, interest, owner, xml, keywords FROM urd LEFT JOIN urd_xml USING (n)
		WHERE id IN (SELECT value FROM json_each(?))`, list(names))
	if err != nil {
		return nil, err
	}
	defer found.Close()
	all := make([]stored, len(names))
	for found.Next() {
		var id string
		var s stored
		if err := found.Scan(&id, &s.n, &s.interest, &s.owner, &s.xml, &s.keywords); err != nil {
			return nil, err
		}
		all[p.index[id]] = s
	}
	return all, found.Err()
}

// put returns what putting a URD does, and has it done.
func (p *putter) put(g *given, was stored) (Effect, error) {
	effect, interest, err := effectOf(g, was)
	if err != nil || effect == Unchanged {
		return effect, err
	}
	p.revision++
	if !g.Paused { // whose interest is new when it is resumed, if it is new now
		interest = cmp.Or(interest, p.revision)
	}
	n := was.n
	if effect == Added {
		p.last++
		n = p.last
		p.spent.add(g.Owner, holding{1, len(g.keys)})
		p.urds = append(append(append(p.urds, n), g.columns.args()...), p.revision, interest, g.nodes)
		p.xml = append(p.xml, n, g.xml)
	} else {
		p.spent.add(g.Owner, holding{0, len(g.keys) - was.keywords})
		err = p.change(g, n, interest)
	}
	for _, key := range g.keys {
		p.keys = append(p.keys, keyRow{key, n})
	}
	if err == nil {
		err = p.keepTimes(g, was)
	}
	return effect, err
}

// keepTimes notes since when the times of a URD count, if these are new.
func (p *putter) keepTimes(g *given, was stored) error {
	before, now := "", timesOf(g.URD)
	if bytes.Contains(was.xml, []byte(` at="`)) {
		if u, err := decodeURD(was.xml); err == nil {
			before = timesOf(u)
		}
	}
	switch now {
	case before:
		return nil
	case "":
		return p.exec(dropCursor, timesCursor+g.ID)
	}
	return p.exec(setCursor, timesCursor+g.ID, nanos.Of(time.Now()))
}

// timesOf returns the times at which a URD asks for its source: while it is paused none, so that they count since it
// was resumed.
func timesOf(u *xmlschema.URD) string {
	if u.Paused {
		return ""
	}
	return u.At
}

// change writes over a URD that is stored, all but its keywords.
func (p *putter) change(g *given, n, interest int64) error {
	const update = `UPDATE urd SET uri = ?, crawl = ?, start = ?, protocol = ?, host = ?, urgency = ?, keywords = ?, revision = ?, interest = ?, nodes = ?
		WHERE n = ?`
	err := p.exec(update, append(g.columns.args()[2:], p.revision, interest, g.nodes, n)...) // the id and the owner stay
	if err == nil {
		err = p.exec("INSERT INTO urd_xml VALUES (?, ?) ON CONFLICT (n) DO UPDATE SET xml = excluded.xml", n, g.xml)
	}
	if err == nil {
		err = p.exec("DELETE FROM keyword WHERE urd = ?", n)
	}
	return err
}

// effectOf returns what storing a URD is going to do, and the revision of the URD's interest if that stays as it is;
// otherwise 0. It is 0, too, of one that was paused since its interest was new.
func effectOf(g *given, was stored) (effect Effect, interest int64, err error) {
	switch {
	case was.n == 0:
		return Added, 0, nil
	case was.owner != g.Owner:
		return "", 0, fmt.Errorf("a URD with this id belongs to %q, and %q must not replace it: give it another id, or remove that one first", was.owner, g.Owner)
	case bytes.Equal(was.xml, g.xml):
		return Unchanged, 0, nil
	}
	if was.xml == nil { // damage, which is mended so
		return Changed, 0, nil
	}
	before, err := decodeURD(was.xml)
	if err != nil || !matchedAlike(before, g.URD) {
		return Changed, 0, err
	}
	return Changed, was.interest, nil
}

// matchedAlike reports whether a URD concerns the same documents as before, and gives the same annotations
// of them, when it is active: if only its urgency, timing, title, labels or state changed, its owner is not told again.
func matchedAlike(before, now *xmlschema.URD) bool {
	was, _, err := crawlWhenActive(before)
	is, _, fault := crawlWhenActive(now)
	return err == nil && fault == nil && was.ID == is.ID && before.URI == now.URI && before.Depth == now.Depth &&
		before.ProcessType == now.ProcessType && before.InterestHash() == now.InterestHash()
}
