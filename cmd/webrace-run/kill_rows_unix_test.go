//go:build unix

package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

// mortalDatabase is one of PostgreSQL that is read.
type mortalDatabase struct {
	*database
	file  string          // with the URDs
	known map[string]bool // the sessions that there were
	n     int             // the last number that a row has
}

func newMortalDatabase(t *testing.T, query string, urds func(*database) []*xmlschema.URD) mortalDatabase {
	d := databases["postgres"](t)
	d.declare("rows", query)
	file := filepath.Join(t.TempDir(), "urds.xml")
	writeFile(t, file, string(xmlschema.URDs(urds(d)).Canonical()))
	return mortalDatabase{database: d, file: file, known: make(map[string]bool)}
}

func (d *mortalDatabase) reads() *command {
	return newCommand(d.t, "dbrace", "--urds", d.file, "--data", d.data, "--config", d.config, "--set", "sql.backlog=0",
		"--set", "keyword-filter.summary=10000", "--set", "frontier.fresh=0s")
}

// asked is how many sessions there were that are not the test's.
func (d *mortalDatabase) asked() int {
	d.t.Helper()
	for _, session := range d.column("SELECT pid || ' ' || backend_start FROM pg_stat_activity WHERE datname = current_database() AND application_name <> '" + nameOfTest + "'") {
		d.known[session] = true
	}
	return len(d.known)
}

func (d *mortalDatabase) dataDir() string { return d.data }

// column returns what a query of the test's own answers with, which has one column.
func (d *mortalDatabase) column(query string) (all []string) {
	d.t.Helper()
	rows, err := d.db.QueryContext(d.t.Context(), query)
	if err != nil {
		d.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var value string
		if err := rows.Scan(&value); err != nil {
			d.t.Fatal(err)
		}
		all = append(all, value)
	}
	if err := rows.Err(); err != nil {
		d.t.Fatal(err)
	}
	return all
}

// mortalRows are rows that are documents, for two owners.
type mortalRows struct {
	mortalDatabase
	commit    func() // ends the transaction that is open; nil if none is
	beganWith int    // the number of its row
}

func newMortalRows(t *testing.T) mortalSource {
	query := "query = \"SELECT id, title, body, changed FROM posts WHERE changed > $mark\"\nkey = [\"id\"]\ntitle = \"title\"\nmark = \"changed\"\noverlap = \"1000\""
	m := &mortalRows{mortalDatabase: newMortalDatabase(t, query, func(d *database) (urds []*xmlschema.URD) {
		for owner, word := range map[string]string{"ann": "ferry", "ben": "storm"} {
			u := d.ask(owner, "db://rows")
			u.Keywords = xmlschema.Keywords{Threshold: 1, Keywords: []xmlschema.Keyword{{Key: word, Weight: 5}}}
			urds = append(urds, u)
		}
		return urds
	})}
	m.exec("CREATE TABLE posts (id INT PRIMARY KEY, title TEXT, body TEXT, changed BIGINT, was TEXT)")
	return m
}

// grow has a row come; now and then one that was there comes to have a word of ann's.
func (m *mortalRows) grow() {
	m.n++
	if m.commit != nil && m.n > m.beganWith+100 { // so that it is within the overlap
		m.commit()
		m.commit = nil
	}
	if m.n%7 == 0 {
		m.exec("UPDATE posts SET was = body, body = 'A ferry, number %d.', changed = %[1]d WHERE id = (SELECT min(id) FROM posts WHERE body LIKE 'Fish%%%%')", m.n)
		return
	}
	m.exec("%s", m.insert())
}

func (m *mortalRows) insert() string {
	words := []string{"Fish", "The ferry", "A storm", "No ferry in a storm"}
	return fmt.Sprintf("INSERT INTO posts VALUES (%d, 'Row %[1]d', '%s, number %[1]d.', %[1]d, '')", m.n, words[m.n%len(words)])
}

// upset begins a transaction that is committed when rows of later marks have been read.
func (m *mortalRows) upset() {
	if m.commit == nil {
		m.n++
		m.commit, m.beganWith = m.uncommitted(m.insert()), m.n
	}
}

func (m *mortalRows) wants() (documents, told []string) {
	return m.column("SELECT 'db://rows/' || id || ' ' || body FROM posts"),
		append(m.column("SELECT 'ann db://rows/' || id || ' ' || title FROM posts WHERE body LIKE '%ferry%'"),
			m.column("SELECT 'ben db://rows/' || id || ' ' || title FROM posts WHERE body LIKE '%storm%'")...)
}

// got leaves out how a row was before it changed, which may have been read or not.
func (m *mortalRows) got() (documents, told []string) {
	bodies := regexp.MustCompile(`<dd id="body">([^<]*)</dd>`)
	m.eachVersion(func(v objects.Version, page []byte) {
		if body := bodies.FindSubmatch(page); body != nil {
			documents = append(documents, v.URL+" "+string(body[1]))
		} else {
			documents = append(documents, v.URL+" has no body")
		}
	})
	return difference(documents, m.column("SELECT 'db://rows/' || id || ' ' || was FROM posts WHERE was <> ''")), tellings(m.acis())
}
