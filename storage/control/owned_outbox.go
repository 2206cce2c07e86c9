package control

import (
	"context"
	"database/sql"
)

// counted is how many of something there are, by what they belong to.
type counted[K comparable] struct {
	of K
	n  int
}

func scanCounted[K comparable](r *sql.Rows) (c counted[K], err error) { return c, r.Scan(&c.of, &c.n) }

// WaitingEntries is [Store.WaitingEntries] of the owner's channels.
func (o Owned) WaitingEntries(ctx context.Context) (map[int64]int, error) {
	return o.store.waitingEntries(ctx, "channel IN (SELECT n FROM channel WHERE owner = ?)", o.owner)
}

// waitingEntries is WaitingEntries of channels for which a condition holds.
func (s *Store) waitingEntries(ctx context.Context, where string, args ...any) (map[int64]int, error) {
	waiting := make(map[int64]int)
	for c, err := range rows(ctx, s, "look into the outbox", scanCounted[int64],
		"SELECT channel, count(*) FROM outbox WHERE message = '' AND "+where+" GROUP BY channel", args...) {
		if err != nil {
			return nil, err
		}
		waiting[c.of] = c.n
	}
	return waiting, nil
}

// EntriesIn returns how many entries are in some messages on the owner's channels, by the messages' ids.
func (o Owned) EntriesIn(ctx context.Context, messages ...string) (map[string]int, error) {
	in := make(map[string]int)
	for c, err := range rows(ctx, o.store, "count what messages hold", scanCounted[string],
		`SELECT message, count(*) FROM outbox WHERE message <> '' AND message IN (SELECT value FROM json_each(?))
		AND channel IN (SELECT n FROM channel WHERE owner = ?) GROUP BY message`, list(messages), o.owner) {
		if err != nil {
			return nil, err
		}
		in[c.of] = c.n
	}
	return in, nil
}
