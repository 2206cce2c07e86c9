package control

import (
	"context"
	"database/sql"
	"time"

	"github.com/webrace/webrace/storage/internal/nanos"
)

// Composed is a message that was made, with what it holds in the order in which it was put.
type Composed struct {
	Message
	Entries []Entry
}

// Compose makes messages of what is due, each of all the entries of one channel that are; its id is what the caller
// makes of their keys. It does so for so many channels at most, and leaves out channels that are not active, and those
// of which a message waits: what refuses one message gets no second. Those whose most urgent entry is of urgency 3, 2
// and 1 are chosen in the proportion 8:3:1, and of each those first that have waited longest.
func (s *Store) Compose(ctx context.Context, now time.Time, most int, name func(channel int64, keys []string) string) (made []Composed, err error) {
	var some bool // asked first, because reading waits for no writer
	err = s.readRow(ctx, "look into the outbox", "SELECT EXISTS (SELECT 1 FROM outbox WHERE message = '' AND due <= ?)", []any{nanos.Of(now)}, &some)
	if err != nil || !some {
		return nil, err
	}
	err = s.write(ctx, allOutbox, "compose messages", func(tx *sql.Tx) error {
		p := s.newStatements(ctx, tx)
		if made, err = dueEntries(&p, now, most); err != nil {
			return err
		}
		var messages, entries []any
		for i := range made {
			m := &made[i]
			keys := make([]string, len(m.Entries))
			for j, e := range m.Entries {
				keys[j] = e.Key
			}
			m.ID, m.State, m.Created = name(m.Channel, keys), MessageWaits, now
			messages = append(messages, m.ID, m.Channel, string(MessageWaits), nanos.Of(m.Due), 0, "", nanos.Of(now), 0)
			for _, e := range m.Entries {
				entries = append(entries, e.N, m.ID)
			}
		}
		if err := p.insertRows("message (id, channel, state, due, attempts, said, created, ended)", 8, messages); err != nil {
			return err
		}
		return p.withRows("UPDATE outbox SET message = column2 FROM (", 2, entries, ") AS given WHERE n = column1")
	})
	return made, err
}

// dueEntries returns the entries that are due, by channels.
func dueEntries(p *statements, now time.Time, most int) (made []Composed, err error) {
	// This is weighted fair queueing: each has its turn after as many steps as 24 divided by the weight of its urgency.
	const query = "SELECT " + entryColumns + ` FROM outbox WHERE message = '' AND due <= ?1 AND channel IN (SELECT channel FROM (
			SELECT channel, min(due) AS since, CASE WHEN max(urgency) > 2 THEN 3 WHEN max(urgency) = 2 THEN 8 ELSE 24 END AS step
			FROM outbox WHERE message = '' AND due <= ?1 AND channel IN (SELECT n FROM channel WHERE state = 'active')
			AND channel NOT IN (SELECT channel FROM message WHERE ended = 0) GROUP BY channel) AS candidate
		ORDER BY step * row_number() OVER (PARTITION BY step ORDER BY since, channel), step LIMIT ?2) ORDER BY channel, n`
	return made, p.each(query, []any{nanos.Of(now), most}, func(scan func(...any) error) error {
		e, err := scanEntry(scan)
		if len(made) == 0 || made[len(made)-1].Channel != e.Channel {
			made = append(made, Composed{Message: Message{Channel: e.Channel, Due: e.Due}})
		}
		last := &made[len(made)-1]
		if e.Due.Before(last.Due) {
			last.Due = e.Due
		}
		last.Entries = append(last.Entries, e)
		return err
	})
}
