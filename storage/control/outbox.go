package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/webrace/webrace/storage/internal/nanos"
)

const outboxTable = `
CREATE TABLE outbox ( -- what is to be sent, or was
	n       INTEGER PRIMARY KEY,
	channel INTEGER NOT NULL,
	key     TEXT NOT NULL, -- what it is: no channel has it twice
	seq     INTEGER NOT NULL, -- aci.seq; 0 for what is told of something else
	body    BLOB NOT NULL, -- of what is no ACI
	urgency INTEGER NOT NULL,
	due     INTEGER NOT NULL, -- not before
	message TEXT NOT NULL, -- that it was sent with; empty while it waits
	UNIQUE (channel, key)
);
CREATE INDEX outbox_due     ON outbox (channel, due) WHERE message = '';
CREATE INDEX outbox_message ON outbox (message) WHERE message <> '';
CREATE INDEX outbox_seq     ON outbox (seq) WHERE seq > 0;
`

const messageTable = `
CREATE TABLE message (
	id       TEXT PRIMARY KEY, -- made of what it holds
	channel  INTEGER NOT NULL,
	state    TEXT NOT NULL,
	due      INTEGER NOT NULL, -- of the next attempt
	attempts INTEGER NOT NULL,
	said     TEXT NOT NULL, -- by the receiver, to the last attempt
	created  INTEGER NOT NULL,
	ended    INTEGER NOT NULL -- when it was taken, or given up; 0 while it waits
) WITHOUT ROWID;
CREATE INDEX message_channel ON message (channel, created);
CREATE INDEX message_due     ON message (due) WHERE ended = 0;
CREATE INDEX message_ended   ON message (ended) WHERE ended > 0;
`

// Entry is something that waits in the outbox of a channel, to be sent with others that are due.
type Entry struct {
	N       int64 // names it; given when it is stored
	Channel int64
	Key     string // what it is: a channel is never given it twice
	Seq     int64  // of an ACI; 0: it is something else, and Body says what
	Body    []byte
	Urgency int
	Due     time.Time // not before
}

// MessageState is how far a message has come.
type MessageState string

const (
	MessageWaits MessageState = "waiting" // for its first attempt, or for another
	MessageSent  MessageState = "sent"    // its receiver has taken it
	MessageDead  MessageState = "dead"    // given up: an owner may have it sent again
)

// Message is what was sent at once on a channel, or is. What it holds is stored before it is sent, so that after a crash
// the same is sent again under the same id.
type Message struct {
	ID       string
	Channel  int64
	State    MessageState
	Due      time.Time // of the next attempt
	Attempts int
	Said     string // by the receiver, to the last attempt
	Created  time.Time
	Ended    time.Time // when it was taken, or given up; zero while it waits
}

// insertEntries goes before rows of: channel, key, seq, body, urgency, due.
const insertEntries = "INSERT INTO outbox (channel, key, seq, body, urgency, due, message) SELECT column1, column2, column3, column4, column5, column6, '' FROM ("

// PutEntry stores what is no ACI for a channel, unless the channel was given its key before: then nothing is done. It
// returns [ErrNotFound] if there is no such channel.
func (s *Store) PutEntry(ctx context.Context, e Entry) error {
	return s.write(ctx, allOutbox, "put an entry into the outbox", func(tx *sql.Tx) error {
		known := false
		if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM channel WHERE n = ?)", e.Channel).Scan(&known); err != nil {
			return err
		}
		if !known {
			return fmt.Errorf("channel %d: %w", e.Channel, ErrNotFound)
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO outbox (channel, key, seq, body, urgency, due, message) VALUES (?, ?, 0, ?, ?, ?, '')
			ON CONFLICT (channel, key) DO NOTHING`, e.Channel, e.Key, blob(e.Body), e.Urgency, nanos.Of(e.Due))
		return err
	})
}

// isNotInOutbox holds for an ACI that no message is still to tell of.
const isNotInOutbox = "NOT EXISTS (SELECT 1 FROM outbox WHERE seq > 0 AND seq = aci.seq AND (message = '' OR message IN (SELECT id FROM message WHERE ended = 0)))"

// DueChannel is a channel with entries that are due.
type DueChannel struct {
	Channel int64
	Urgency int       // the greatest of these entries
	Due     time.Time // of the first of them
	Entries int
}

// DueChannels returns the active channels that have entries which are due, those first that are due longest.
func (s *Store) DueChannels(ctx context.Context, now time.Time) iter.Seq2[DueChannel, error] {
	return rows(ctx, s, "look into the outbox", func(r *sql.Rows) (d DueChannel, err error) {
		var due int64
		err = r.Scan(&d.Channel, &d.Urgency, &due, &d.Entries)
		d.Due = nanos.Time(due)
		return d, err
	}, `SELECT channel, max(urgency), min(due), count(*) FROM outbox WHERE message = '' AND due <= ?
		AND channel IN (SELECT n FROM channel WHERE state = 'active') GROUP BY channel ORDER BY min(due), channel`, nanos.Of(now))
}

// NextDue returns when something is due next, after a moment: an entry of an active channel, or another attempt. It is
// zero if there is nothing.
func (s *Store) NextDue(ctx context.Context, after time.Time) (time.Time, error) {
	var next sql.NullInt64
	err := s.readRow(ctx, "look into the outbox", `SELECT min(due) FROM (
		SELECT min(due) AS due FROM outbox WHERE message = '' AND due > ?1 AND channel IN (SELECT n FROM channel WHERE state = 'active')
		UNION ALL SELECT min(due) FROM message WHERE ended = 0 AND due > ?1) AS first`, []any{nanos.Of(after)}, &next)
	return nanos.Time(next.Int64), err
}

// WaitingEntries returns how many entries of each channel wait to be put into a message, due or not, whatever its state.
func (s *Store) WaitingEntries(ctx context.Context) (map[int64]int, error) {
	waiting := make(map[int64]int)
	for d, err := range rows(ctx, s, "look into the outbox", func(r *sql.Rows) (d DueChannel, err error) { return d, r.Scan(&d.Channel, &d.Entries) },
		"SELECT channel, count(*) FROM outbox WHERE message = '' GROUP BY channel") {
		if err != nil {
			return nil, err
		}
		waiting[d.Channel] = d.Entries
	}
	return waiting, nil
}

// Compose makes a message of all entries of a channel that are due, in the order in which they were put; its id is what
// the caller makes of their keys. It returns no entries if none is due or the channel is not active.
func (s *Store) Compose(ctx context.Context, channel int64, now time.Time, name func(keys []string) string) (m Message, entries []Entry, err error) {
	err = s.write(ctx, allOutbox, "compose a message", func(tx *sql.Tx) error {
		m, entries = Message{}, nil
		if entries, err = scanEntries(tx.QueryContext(ctx, "SELECT "+entryColumns+` FROM outbox WHERE message = '' AND channel = ?1 AND due <= ?2
			AND channel IN (SELECT n FROM channel WHERE state = 'active') ORDER BY n`, channel, nanos.Of(now))); err != nil || len(entries) == 0 {
			return err
		}
		keys, numbers := make([]string, len(entries)), make([]int64, len(entries))
		for i, e := range entries {
			keys[i], numbers[i] = e.Key, e.N
		}
		m = Message{ID: name(keys), Channel: channel, State: MessageWaits, Due: now, Created: now}
		if _, err := tx.ExecContext(ctx, "INSERT INTO message (id, channel, state, due, attempts, said, created, ended) VALUES (?, ?, 'waiting', ?, 0, '', ?, 0)",
			m.ID, channel, nanos.Of(now), nanos.Of(now)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE outbox SET message = ? WHERE n IN (SELECT value FROM json_each(?))", m.ID, list(numbers))
		return err
	})
	return m, entries, err
}

const entryColumns = "n, channel, key, seq, body, urgency, due"

func scanEntries(found *sql.Rows, err error) (entries []Entry, _ error) {
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		e, err := scanEntry(found)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, errors.Join(found.Err(), found.Close())
}

func scanEntry(r *sql.Rows) (e Entry, err error) {
	var due int64
	err = r.Scan(&e.N, &e.Channel, &e.Key, &e.Seq, &e.Body, &e.Urgency, &due)
	e.Due = nanos.Time(due)
	return e, err
}

// EntriesOf returns what a message holds, in the order in which it was put.
func (s *Store) EntriesOf(ctx context.Context, message string) iter.Seq2[Entry, error] {
	return rows(ctx, s, "read a message", scanEntry, "SELECT "+entryColumns+" FROM outbox WHERE message <> '' AND message = ? ORDER BY n", message)
}

const messageColumns = "id, channel, state, due, attempts, said, created, ended"

func scanMessage(r *sql.Rows) (m Message, err error) {
	var due, created, ended int64
	err = r.Scan(&m.ID, &m.Channel, &m.State, &due, &m.Attempts, &m.Said, &created, &ended)
	m.Due, m.Created, m.Ended = nanos.Time(due), nanos.Time(created), nanos.Time(ended)
	return m, err
}

// DueMessages returns the messages that wait for an attempt which is due, those first that are due longest.
func (s *Store) DueMessages(ctx context.Context, now time.Time) iter.Seq2[Message, error] {
	return rows(ctx, s, "read messages", scanMessage, "SELECT "+messageColumns+" FROM message WHERE ended = 0 AND due <= ? ORDER BY due, id", nanos.Of(now))
}

// Attempt is what came of sending a message.
type Attempt struct {
	Taken bool      // by the receiver
	Again time.Time // when the next attempt is due, if it was not taken; zero: it is given up
	Said  string    // by the receiver
}

// mostFailures is how many messages in a row a channel has refused when it is stopped.
const mostFailures = 5

// Attempted records an attempt at a message that waits; [ErrNotFound] if none of that id does. ACIs that the receiver has taken
// count as retrieved. A channel that has refused five messages in a row is stopped: then stopped is true.
func (s *Store) Attempted(ctx context.Context, id string, a Attempt) (stopped bool, err error) {
	now := nanos.Of(s.options.Now())
	err = s.write(ctx, allACIs, "record an attempt at message "+id, func(tx *sql.Tx) error {
		stopped = false
		state, ended := MessageWaits, int64(0)
		switch {
		case a.Taken:
			state, ended = MessageSent, now
		case a.Again.IsZero():
			state, ended = MessageDead, now
		}
		var channel int64
		err := tx.QueryRowContext(ctx, "UPDATE message SET state = ?, due = ?, attempts = attempts + 1, said = ?, ended = ? WHERE id = ? AND ended = 0 RETURNING channel",
			string(state), nanos.Of(a.Again), a.Said, ended, id).Scan(&channel)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNotFound
		}
		switch {
		case err != nil:
		case a.Taken:
			_, err = tx.ExecContext(ctx, "UPDATE channel SET failures = 0, said = '' WHERE n = ?", channel)
			if err == nil {
				_, err = tx.ExecContext(ctx, "UPDATE aci SET retrieved = ? WHERE retrieved = 0 AND seq IN (SELECT seq FROM outbox WHERE message <> '' AND message = ?)", now, id)
			}
		case state == MessageDead:
			stopped, err = refuse(ctx, tx, channel, a.Said)
		}
		return err
	})
	return stopped, err
}

// refuse counts a message that was given up, and stops the channel after too many.
func refuse(ctx context.Context, tx *sql.Tx, channel int64, said string) (stopped bool, err error) {
	if _, err := tx.ExecContext(ctx, "UPDATE channel SET failures = failures + 1, said = ? WHERE n = ?", said, channel); err != nil {
		return false, err
	}
	return affected(tx.ExecContext(ctx, "UPDATE channel SET state = 'stopped' WHERE n = ? AND state = 'active' AND failures >= ?", channel, mostFailures))
}

// SendAgain has a message sent that was given up; [ErrNotFound] if none of that id was.
func (s *Store) SendAgain(ctx context.Context, id string) error {
	return s.write(ctx, allOutbox, "send message "+id+" again", func(tx *sql.Tx) error {
		return mustAffect(tx.ExecContext(ctx, "UPDATE message SET state = 'waiting', due = ?, attempts = 0, ended = 0 WHERE id = ? AND state = 'dead'", nanos.Of(s.options.Now()), id))
	})
}

// Messages returns those of all channels, the latest first.
func (s *Store) Messages(ctx context.Context) iter.Seq2[Message, error] {
	return rows(ctx, s, "read messages", scanMessage, "SELECT "+messageColumns+" FROM message ORDER BY created DESC, id")
}

// TrimMessages removes the messages that ended before a time, with what they held, and returns how many.
func (s *Store) TrimMessages(ctx context.Context, before time.Time) (n int, err error) {
	return batches(func() (int, error) {
		var count int64
		err := s.write(ctx, allOutbox, "trim messages", func(tx *sql.Tx) error {
			const chosen = "SELECT id FROM message WHERE ended > 0 AND ended < ? ORDER BY ended, id LIMIT ?"
			if _, err := tx.ExecContext(ctx, "DELETE FROM outbox WHERE message <> '' AND message IN ("+chosen+")", nanos.Of(before), expireBatch); err != nil {
				return err
			}
			result, err := tx.ExecContext(ctx, "DELETE FROM message WHERE id IN ("+chosen+")", nanos.Of(before), expireBatch)
			if err == nil {
				count, err = result.RowsAffected()
			}
			return err
		})
		return int(count), err
	})
}
