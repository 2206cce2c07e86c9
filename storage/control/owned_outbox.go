package control

import (
	"context"
	"database/sql"
)

// countsBy reads how many of something there are, by what they belong to.
func countsBy[K comparable](ctx context.Context, s *Store, doing, query string, args ...any) (map[K]int, error) {
	type counted struct {
		of K
		n  int
	}
	counts := make(map[K]int)
	for c, err := range rows(ctx, s, doing, func(r *sql.Rows) (c counted, err error) { return c, r.Scan(&c.of, &c.n) }, query, args...) {
		if err != nil {
			return nil, err
		}
		counts[c.of] = c.n
	}
	return counts, nil
}

// WaitingEntries is [Store.WaitingEntries] of the owner's channels.
func (o Owned) WaitingEntries(ctx context.Context) (map[int64]int, error) {
	return countsBy[int64](ctx, o.store, "look into the outbox",
		"SELECT channel, count(*) FROM outbox WHERE message = '' AND channel IN (SELECT n FROM channel WHERE owner = ?) GROUP BY channel", o.owner)
}

// EntriesIn returns how many entries are in some messages on the owner's channels, by the messages' ids.
func (o Owned) EntriesIn(ctx context.Context, messages ...string) (map[string]int, error) {
	return countsBy[string](ctx, o.store, "count what messages hold",
		`SELECT message, count(*) FROM outbox WHERE message <> '' AND message IN (SELECT value FROM json_each(?))
		AND channel IN (SELECT n FROM channel WHERE owner = ?) GROUP BY message`, list(messages), o.owner)
}
