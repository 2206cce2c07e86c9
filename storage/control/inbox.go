package control

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/webrace/webrace/storage/internal/nanos"
)

const inboxTable = `
CREATE TABLE inbox ( -- the ACIs of owners who have an account
	seq       INTEGER PRIMARY KEY, -- aci.seq
	owner     TEXT NOT NULL,
	state     TEXT NOT NULL,
	relevance INTEGER NOT NULL,
	urgency   INTEGER NOT NULL
);
CREATE INDEX inbox_owner ON inbox (owner, state, seq);
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
	Seq                int64
	Relevance, Urgency int
	Entries            []Entry // by the owner's channels
}

// File files ACIs, all of them or none, and returns how many were new. An ACI whose owner has no account is not filed; one that
// was filed before is left as it is, with its entries; one that is not stored any more is passed over. Entries on
// channels that are not the owner's, or are gone, are dropped.
func (s *Store) File(ctx context.Context, filings []Filing) (n int, err error) {
	err = s.write(ctx, allACIs, "file ACIs", func(tx *sql.Tx) error {
		n = 0
		p := s.newStatements(ctx, tx)
		for group := range slices.Chunk(filings, putGroup) {
			fresh, err := fileGroup(&p, group)
			if err != nil {
				return err
			}
			n += len(fresh)
		}
		return nil
	})
	return n, err
}

func fileGroup(p *statements, group []Filing) (fresh map[int64]bool, err error) {
	var values, entries []any
	for _, f := range group {
		values = append(values, f.Seq, f.Relevance, f.Urgency)
	}
	fresh = make(map[int64]bool)
	if len(values) == 0 {
		return fresh, nil
	}
	const insert = "INSERT INTO inbox (seq, owner, state, relevance, urgency) SELECT seq, owner, 'unread', column2, column3 FROM ("
	err = p.eachWithRows(insert, 3, values, `) AS given JOIN aci ON aci.seq = column1 WHERE owner IN (SELECT owner FROM account)
		ON CONFLICT (seq) DO NOTHING RETURNING seq`, func(scan func(...any) error) error {
		var seq int64
		err := scan(&seq)
		fresh[seq] = true
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, f := range group {
		if fresh[f.Seq] {
			for _, e := range f.Entries {
				entries = append(entries, e.Channel, fmt.Sprint("aci ", f.Seq), f.Seq, []byte{}, f.Urgency, nanos.Of(e.Due))
			}
		}
	}
	return fresh, p.withRows(insertEntries, 6, entries, `) AS given JOIN channel ON n = column1 AND owner = (SELECT owner FROM inbox WHERE seq = column3)
		WHERE TRUE ON CONFLICT (channel, key) DO NOTHING`)
}
