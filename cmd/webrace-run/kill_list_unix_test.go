//go:build unix

package main

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

// mortalList is a list, for an owner who asks for each change of it.
type mortalList struct{ mortalDatabase }

func newMortalList(t *testing.T) mortalSource {
	m := &mortalList{newMortalDatabase(t, "query = \"SELECT id, name FROM items\"\nkey = [\"id\"]", func(d *database) []*xmlschema.URD {
		u := d.ask("ann", "db://rows")
		u.ProcessType = xmlschema.ProcessNonFilter
		return []*xmlschema.URD{u}
	})}
	m.exec("CREATE TABLE items (id INT PRIMARY KEY, name TEXT)")
	m.exec("INSERT INTO items VALUES (0, 'Row 0')") // what is there at first is shown in part
	p := m.reads()
	p.begin()
	p.mustExit(cli.OK)
	return m
}

func (m *mortalList) grow() {
	if m.n++; m.n%4 > 0 { // a summary has room for so many
		return
	}
	m.exec("INSERT INTO items VALUES (%d, 'Row %[1]d')", m.n)
}

// upset has the rows come in another order.
func (m *mortalList) upset() { m.exec("UPDATE items SET name = name WHERE id %% 3 = 0") }

func (m *mortalList) wants() (documents, told []string) {
	all := m.column("SELECT name FROM items")
	return all, all
}

func (m *mortalList) got() (documents, told []string) {
	var last []struct{ Name string }
	m.eachVersion(func(_ objects.Version, body []byte) {
		last = nil
		if err := json.Unmarshal(body, &last); err != nil {
			m.t.Error(err)
		}
	})
	for _, row := range last {
		documents = append(documents, row.Name)
	}
	names := regexp.MustCompile(`Row \d+`)
	for _, a := range m.acis() {
		told = append(told, names.FindAllString(a.Summary, -1)...)
	}
	return documents, told
}
