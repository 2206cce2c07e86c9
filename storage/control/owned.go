package control

import (
	"context"
	"database/sql"
	"fmt"
	"iter"

	"github.com/webrace/webrace/storage/internal/nanos"
)

// Owned is a store as one owner may see and change it: each of its statements names the owner, and what is another's is
// as if it were not there ([ErrNotFound]). Who serves people hands them this, and never the [Store].
type Owned struct {
	store *Store
	owner string
}

// Of returns what is an owner's.
func (s *Store) Of(owner string) Owned { return Owned{s, owner} }

// Owner returns whose it is.
func (o Owned) Owner() string { return o.owner }

// URDs returns the owner's URDs, in the order in which they were first added.
func (o Owned) URDs(ctx context.Context) iter.Seq2[URD, error] { return o.store.ByOwner(ctx, o.owner) }

// URD returns one of them, or [ErrNotFound].
func (o Owned) URD(ctx context.Context, id string) (URD, error) {
	c := condition{where: "id = ? AND owner = ?", args: []any{id, o.owner}, one: true}
	return one(documents(ctx, o.store, "read URD "+id, urdTable, c, decodeStoredURD), "URD "+id)
}

// Delete is [Store.Delete] of one of the owner's URDs.
func (o Owned) Delete(ctx context.Context, id string) error {
	return o.store.delete(ctx, id, func(tx *sql.Tx) error {
		var mine bool
		err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM urd WHERE id = ? AND owner = ?)", id, o.owner).Scan(&mine)
		if err == nil && !mine {
			err = ErrNotFound
		}
		return err
	})
}

// CheckNow is [Store.CheckNow] of one of the owner's URDs.
func (o Owned) CheckNow(ctx context.Context, id string) error {
	if _, err := o.URD(ctx, id); err != nil {
		return err
	}
	return o.store.CheckNow(ctx, id)
}

// ACIs returns what the owner was sent, in the order of arrival.
func (o Owned) ACIs(ctx context.Context) iter.Seq2[ACI, error] {
	c := condition{where: "owner = ?", args: []any{o.owner}}
	return documents(ctx, o.store, "read ACIs of "+o.owner, aciTable, c, decodeStoredACI)
}

// Take is [Store.Take] of so many of the owner's at most, and reports whether more wait.
func (o Owned) Take(ctx context.Context, most int) (taken []ACI, more bool, err error) {
	taken, err = o.store.take(ctx, o.owner, " AND seq IN (SELECT seq FROM aci WHERE owner = ? AND retrieved = 0 ORDER BY seq LIMIT ?)", o.owner, most)
	if err == nil && len(taken) == most {
		err = o.store.readRow(ctx, "count what waits for "+o.owner, "SELECT EXISTS (SELECT 1 FROM aci WHERE owner = ? AND retrieved = 0)", []any{o.owner}, &more)
	}
	return taken, more, err
}

// InboxItem is an ACI in an inbox.
type InboxItem struct {
	ACI
	State InboxState
}

// InboxFilter chooses from an inbox; the zero value chooses all of it.
type InboxFilter struct {
	States  []InboxState // in any of them; none: in whichever
	URD     string       // of that URD
	Urgency int          // at least
	Before  int64        // with a lesser Seq; 0: all
	Limit   int          // at most so many; 0: no limit

	// ByRelevance has the most relevant first, of equal ones the latest; otherwise the latest are first.
	ByRelevance bool
}

// Inbox returns what a filter chooses of the owner's inbox.
func (o Owned) Inbox(ctx context.Context, f InboxFilter) iter.Seq2[InboxItem, error] {
	from, where, args := "inbox_item", "inbox_item.owner = ?", []any{o.owner}
	and := func(condition string, arg any) { where, args = where+" AND "+condition, append(args, arg) }
	if len(f.States) > 0 {
		states := make([]string, len(f.States))
		for i, state := range f.States {
			states[i] = string(state)
		}
		and("state IN (SELECT value FROM json_each(?))", list(states))
	}
	if f.URD != "" {
		from = "aci JOIN inbox_item USING (seq)" // whose index has the latest of a URD first
		and("urd = ?", f.URD)
	}
	if f.Urgency > 0 {
		and("urgency >= ?", f.Urgency)
	}
	if f.Before > 0 {
		and("seq < ?", f.Before)
	}
	order, limit := " ORDER BY seq DESC", ""
	if f.ByRelevance {
		order = " ORDER BY relevance DESC, seq DESC"
	}
	if f.Limit > 0 {
		limit, args = " LIMIT ? ", append(args, f.Limit) // with a space, for it is no statement of mirrors (see differences)
	}
	// Those are chosen first whose XML is to be read.
	return o.inbox(ctx, "seq IN (SELECT seq FROM "+from+" WHERE "+where+order+limit+")"+order, args...)
}

// Item returns an ACI of the owner's inbox, or [ErrNotFound].
func (o Owned) Item(ctx context.Context, seq int64) (InboxItem, error) {
	return one(o.inbox(ctx, "inbox_item.owner = ? AND seq = ?", o.owner, seq), fmt.Sprintf("annotation %d", seq))
}

func (o Owned) inbox(ctx context.Context, where string, args ...any) iter.Seq2[InboxItem, error] {
	return rows(ctx, o.store, "read the inbox of "+o.owner, func(r *sql.Rows) (i InboxItem, err error) {
		var stored record
		if err := r.Scan(&stored.document, &stored.number, &stored.second, &i.State); err != nil {
			return i, err
		}
		i.ACI, err = decodeStoredACI(stored)
		return i, err
	}, "SELECT xml, seq, retrieved, state FROM inbox_item JOIN aci USING (seq) WHERE "+where, args...)
}

// Counts returns how many ACIs of the owner's inbox are in each state, and the Seq of the latest; 0 if there is none.
func (o Owned) Counts(ctx context.Context) (counts map[InboxState]int, latest int64, err error) {
	states := []InboxState{Unread, Read, Useful, Useless, Bin}
	numbers, to := make([]int, len(states)), []any{&latest}
	for i := range states {
		to = append(to, &numbers[i])
	}
	// All in one pass, where groups would be sorted first.
	const query = `SELECT coalesce(max(seq), 0), count(*) FILTER (WHERE state = 'unread'), count(*) FILTER (WHERE state = 'read'), count(*) FILTER (WHERE state = 'useful'),
		count(*) FILTER (WHERE state = 'useless'), count(*) FILTER (WHERE state = 'bin') FROM inbox_item WHERE owner = ?`
	if err := o.store.readRow(ctx, "count the inbox of "+o.owner, query, []any{o.owner}, to...); err != nil {
		return nil, 0, err
	}
	counts = make(map[InboxState]int)
	for i, n := range numbers {
		if n > 0 {
			counts[states[i]] = n
		}
	}
	return counts, latest, nil
}

// Mark gives ACIs of the owner's inbox a state, and returns how many there were of them. What its owner has read, or
// said something of, counts as retrieved.
func (o Owned) Mark(ctx context.Context, state InboxState, seqs ...int64) (n int, err error) {
	if err := state.check(); err != nil {
		return 0, err
	}
	doing := "mark annotations of " + o.owner
	err = o.store.write(ctx, allACIs, doing, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, "UPDATE inbox_item SET state = ? WHERE owner = ? AND seq IN (SELECT CAST(value AS BIGINT) FROM json_each(?) AS wanted)", string(state), o.owner, list(seqs))
		if err != nil {
			return err
		}
		count, err := result.RowsAffected()
		n = int(count)
		if err == nil && state != Unread {
			_, err = tx.ExecContext(ctx, "UPDATE aci SET retrieved = ? WHERE retrieved = 0 AND owner = ? AND seq IN (SELECT CAST(value AS BIGINT) FROM json_each(?) AS wanted)",
				nanos.Of(o.store.options.Now()), o.owner, list(seqs))
		}
		return err
	})
	return n, err
}

// Withheld is [Store.Withheld] of the owner.
func (o Owned) Withheld(ctx context.Context) iter.Seq2[ACI, error] {
	return rows(ctx, o.store, "read withheld ACIs", scanWithheld, "SELECT xml FROM withheld WHERE owner = ? ORDER BY day DESC, relevance DESC, id", o.owner)
}
