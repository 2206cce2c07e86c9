package control

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/webrace/webrace/storage/internal/nanos"
)

const inboxTable = `
CREATE TABLE inbox_item ( -- the ACIs of owners who have an account
	seq       INTEGER PRIMARY KEY, -- aci.seq
	owner     TEXT NOT NULL,
	state     TEXT NOT NULL,
	relevance INTEGER NOT NULL,
	urgency   INTEGER NOT NULL
);
CREATE INDEX inbox_item_owner ON inbox_item (owner, seq, state, relevance); -- all that choosing and ordering a page takes
`

// InboxState is what an owner has said of an ACI, or has done with it.
type InboxState string

const (
	Unread  InboxState = "unread"
	Read    InboxState = "read"
	Useful  InboxState = "useful"  // read, and worth it
	Useless InboxState = "useless" // read, and not worth it
	Bin     InboxState = "bin"     // thrown away: out of sight, until it is taken out again or removed for its age
)

func (s InboxState) check() error {
	switch s {
	case Unread, Read, Useful, Useless, Bin:
		return nil
	}
	return fmt.Errorf("%q is no state of an annotation", s)
}

// Filing puts an ACI into the inbox of its owner, and what is to be sent of it into the outbox.
type Filing struct {
	ID                 string // of the ACI
	Relevance, Urgency int
	Entries            []Entry // by the owner's channels
}

// File files ACIs, all of them or none, and returns how many were new. An ACI whose owner has no account is not filed;
// one that was filed before is left as it is, with its entries; one that is not stored, or not any more, is passed
// over. Entries on channels that are not the owner's, or are gone, are dropped.
func (s *Store) File(ctx context.Context, filings []Filing) (n int, err error) {
	err = s.write(ctx, allACIs, "file ACIs", func(tx *sql.Tx) error {
		n = 0
		f := filer{statements: s.newStatements(ctx, tx)}
		for group := range slices.Chunk(filings, putGroup) {
			filed, err := f.file(group)
			if err != nil {
				return err
			}
			n += filed
		}
		return nil
	})
	return n, err
}

// filer files ACIs within one transaction.
type filer struct{ statements }

// filed is an ACI that can be filed.
type filed struct {
	seq   int64
	owner string
}

// file files a group, and returns how many of it were new.
func (f *filer) file(group []Filing) (int, error) {
	known, err := f.lookUp(group)
	if err != nil {
		return 0, err
	}
	fresh, err := f.insert(group, known)
	if err != nil || len(fresh) == 0 {
		return 0, err
	}
	var entries []any
	for _, g := range group {
		seq := known[g.ID].seq
		if !fresh[seq] {
			continue
		}
		for _, e := range g.Entries {
			entries = append(entries, e.Channel, fmt.Sprint("aci ", seq), seq, []byte{}, g.Urgency, nanos.Of(e.Due))
		}
	}
	return len(fresh), f.withRows(insertEntries, 6, entries, `) AS given JOIN channel ON n = column1 AND since < column3 AND owner = (SELECT owner FROM inbox_item WHERE seq = column3)
		WHERE TRUE ON CONFLICT (channel, key) DO NOTHING`)
}

// lookUp returns the ACIs of a group that are stored and have an owner with an account, by id.
func (f *filer) lookUp(group []Filing) (map[string]filed, error) {
	ids := make([]string, len(group))
	for i, g := range group {
		ids[i] = g.ID
	}
	known := make(map[string]filed)
	const query = "SELECT id, seq, owner FROM aci WHERE id IN (SELECT value FROM json_each(?)) AND owner IN (SELECT owner FROM account)"
	return known, f.each(query, []any{list(ids)}, func(scan func(...any) error) error {
		var id string
		var one filed
		err := scan(&id, &one.seq, &one.owner)
		known[id] = one
		return err
	})
}

// insert puts the ACIs of a group that are known into inboxes, and returns the Seq of those that were new there.
func (f *filer) insert(group []Filing, known map[string]filed) (map[int64]bool, error) {
	var values []any
	for _, g := range group {
		if to, is := known[g.ID]; is {
			values = append(values, to.seq, to.owner, g.Relevance, g.Urgency)
		}
	}
	fresh := make(map[int64]bool)
	const insert = "INSERT INTO inbox_item (seq, owner, state, relevance, urgency) SELECT column1, column2, 'unread', column3, column4 FROM ("
	return fresh, f.eachWithRows(insert, 4, values, ") AS given WHERE TRUE ON CONFLICT (seq) DO NOTHING RETURNING seq", func(scan func(...any) error) error {
		var seq int64
		err := scan(&seq)
		fresh[seq] = true
		return err
	})
}

// inherit puts the ACIs that are stored of an owner into their inbox, and nothing into the outbox.
func (s *Store) inherit(ctx context.Context, tx *sql.Tx, owner string) error {
	var values []any
	err := each(ctx, tx, "SELECT xml, seq, retrieved, 0 FROM aci WHERE owner = ? ORDER BY seq", func(r record) error {
		a, err := decodeACI(r.document)
		state := Unread
		if r.second > 0 {
			state = Read
		}
		if err == nil {
			values = append(values, r.number, owner, string(state), a.Relevance, a.Urgency)
		}
		return err
	}, owner)
	if err != nil {
		return err
	}
	rows := s.newStatements(ctx, tx)
	return rows.insertRows("inbox_item (seq, owner, state, relevance, urgency)", 5, values)
}
