package control

import (
	"bytes"
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/webrace/webrace/storage/internal/nanos"
	"github.com/webrace/webrace/xmlschema"
)

// storedURD is a row of URDs with all that is derived of it.
type storedURD struct {
	n          int64
	xml, nodes []byte
	columns    columns
	keywords   []string
}

// urds compares all that is derived of each URD with its XML.
func (c *checker) urds() error {
	const query = `SELECT n, coalesce((SELECT xml FROM urd_xml WHERE urd_xml.n = urd.n), ''), nodes,
		(SELECT json_group_array(key) FROM keyword WHERE keyword.urd = urd.n),
		id, owner, uri, crawl, start, protocol, host, urgency, keywords FROM urd ORDER BY n`
	for row, err := range rows(c.ctx, c.store, "check URDs", scanStoredURD, query) {
		if err == nil {
			err = c.urd(row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func scanStoredURD(r *sql.Rows) (row storedURD, err error) {
	var keywords []byte
	c := &row.columns
	if err := r.Scan(&row.n, &row.xml, &row.nodes, &keywords, &c.id, &c.owner, &c.uri, &c.crawl, &c.start, &c.protocol, &c.host, &c.urgency, &c.keywords); err != nil {
		return row, err
	}
	err = json.Unmarshal(keywords, &row.keywords)
	slices.Sort(row.keywords)
	return row, err
}

func (c *checker) urd(have storedURD) error {
	aside := func(tx *sql.Tx) error {
		cause := errors.New("its XML is damaged, or another URD has its id")
		if err := c.setAside(tx, "urd", have.xml, cause); err != nil {
			return err
		}
		return deleteURD(c.ctx, tx, have.columns.id)
	}
	want, err := rederiveURD(have)
	if err != nil {
		_, err = c.found("unreadable URD", have.columns.id, err.Error(), func(tx *sql.Tx) error { return c.restoreXML(tx, have) }, aside)
		return err
	}
	what := ""
	switch {
	case have.columns != want.columns:
		what = fmt.Sprintf("columns %+v and not %+v", have.columns, want.columns)
	case !bytes.Equal(have.nodes, want.nodes):
		what = "node table"
	case !slices.Equal(have.keywords, want.keywords):
		what = fmt.Sprintf("keywords %q and not %q", have.keywords, want.keywords)
	default:
		return nil
	}
	_, err = c.found("URD other than its XML", have.columns.id, what, func(tx *sql.Tx) error { return c.rewriteURD(tx, want) }, aside)
	return err
}

// restoreXML writes the XML of a URD again from its node table.
func (c *checker) restoreXML(tx *sql.Tx, have storedURD) error {
	u, err := xmlschema.StoredURD(have.nodes)
	if err != nil {
		return err
	}
	doc, err := encodeURD(u)
	if err != nil {
		return err
	}
	want, err := rederiveURD(storedURD{n: have.n, xml: doc.xml})
	if err != nil {
		return err
	}
	if want.columns != have.columns || !bytes.Equal(want.nodes, have.nodes) {
		return errors.New("the node table and the columns disagree")
	}
	return c.execute("INSERT INTO urd_xml VALUES (?, ?) ON CONFLICT (n) DO UPDATE SET xml = excluded.xml", have.n, doc.xml)(tx)
}

// rederiveURD returns a row as its XML wants it.
func rederiveURD(have storedURD) (want storedURD, err error) {
	u, err := decodeURD(have.xml)
	if err != nil {
		return want, err
	}
	if u.ID == "" || u.Owner == "" {
		return want, errors.New("it has no id or no owner")
	}
	want = storedURD{n: have.n, xml: have.xml}
	if want.columns, want.keywords, err = derive(u); err != nil {
		return want, err
	}
	doc, err := encode(have.xml)
	want.nodes = doc.nodes
	return want, err
}

func (c *checker) rewriteURD(tx *sql.Tx, want storedURD) error {
	_, err := tx.ExecContext(c.ctx, "UPDATE urd SET id = ?, owner = ?, uri = ?, crawl = ?, start = ?, protocol = ?, host = ?, urgency = ?, keywords = ?, nodes = ? WHERE n = ?",
		append(want.columns.args(), want.nodes, want.n)...)
	if err == nil {
		_, err = tx.ExecContext(c.ctx, "DELETE FROM keyword WHERE urd = ?", want.n)
	}
	if err != nil {
		return err
	}
	var keywords []any
	for _, key := range want.keywords {
		keywords = append(keywords, key, want.n)
	}
	rows := c.store.newStatements(c.ctx, tx)
	return rows.insertRows(keywordRows, 2, keywords)
}

// storedACI is a row of ACIs with all that is derived of it.
type storedACI struct {
	seq                 int64
	xml, nodes          []byte
	id, urd, owner, url string
	version             int
	time, retrieved     int64
}

// acis compares all that is derived of each ACI with its XML.
func (c *checker) acis() error {
	scan := func(r *sql.Rows) (a storedACI, err error) {
		return a, r.Scan(&a.seq, &a.xml, &a.nodes, &a.id, &a.urd, &a.owner, &a.url, &a.version, &a.time, &a.retrieved)
	}
	for row, err := range rows(c.ctx, c.store, "check ACIs", scan, "SELECT seq, xml, nodes, id, urd, owner, url, version, time, retrieved FROM aci ORDER BY seq") {
		if err == nil {
			err = c.aci(row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) aci(have storedACI) error {
	aside := func(tx *sql.Tx) error {
		if err := c.setAside(tx, "aci", have.xml, errors.New("its XML is damaged, or another ACI has its id")); err != nil {
			return err
		}
		return c.execute("DELETE FROM aci WHERE seq = ?", have.seq)(tx)
	}
	want, err := rederiveACI(have)
	if err != nil {
		_, err = c.found("unreadable ACI", have.id, err.Error(), aside)
		return err
	}
	sameNodes := bytes.Equal(have.nodes, want.nodes)
	what := "node table"
	if sameNodes {
		what = have.difference(want)
	}
	if what == "" {
		return nil
	}
	_, err = c.found("ACI other than its XML", have.id, what, c.execute(
		"UPDATE aci SET nodes = ?, id = ?, urd = ?, owner = ?, url = ?, version = ?, time = ?, retrieved = ? WHERE seq = ?",
		want.nodes, want.id, want.urd, want.owner, want.url, want.version, want.time, want.retrieved, want.seq), aside)
	return err
}

// difference returns what columns of two rows differ.
func (a storedACI) difference(b storedACI) string {
	columns := func(a storedACI) string {
		return fmt.Sprintf("%q of URD %q for %q about version %d of %q at %d, retrieved %d", a.id, a.urd, a.owner, a.version, a.url, a.time, a.retrieved)
	}
	if have, want := columns(a), columns(b); have != want {
		return fmt.Sprintf("columns say %s, and not %s", have, want)
	}
	return ""
}

// rederiveACI returns a row as its XML wants it.
func rederiveACI(have storedACI) (want storedACI, err error) {
	a, err := decodeACI(have.xml)
	if err != nil {
		return want, err
	}
	if a.ID == "" || a.URD == "" || a.Owner == "" {
		return want, errors.New("it has no id, no URD or no owner")
	}
	doc, err := encode(have.xml)
	want = storedACI{
		seq: have.seq, xml: have.xml, nodes: doc.nodes, id: a.ID, urd: a.URD, owner: a.Owner, url: a.URI,
		version: a.Docbase.Version, time: nanos.Of(a.UpdateTime), retrieved: have.retrieved,
	}
	if a.Expired { // which counts as retrieved
		want.retrieved = cmp.Or(have.retrieved, nanos.Of(time.Now()))
	}
	return want, err
}
