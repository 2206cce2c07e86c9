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
CREATE INDEX outbox_due     ON outbox (due, channel) WHERE message = '';
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

// Message is what was sent at once on a channel, or is. What it holds is stored before it is sent, so that after a
// crash the same is sent again under the same id.
type Message struct {
	ID       string
	Channel  int64
	State    MessageState
	Due      time.Time // of the next attempt; of the first, when the first of what it holds is
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

// NextDue returns when something is due next, after a moment: an entry of an active channel, or another attempt. It is
// zero if there is nothing.
func (s *Store) NextDue(ctx context.Context, after time.Time) (time.Time, error) {
	var next sql.NullInt64
	err := s.readRow(ctx, "look into the outbox", `SELECT min(due) FROM (
		SELECT min(due) AS due FROM outbox WHERE message = '' AND due > ?1 AND channel IN (SELECT n FROM channel WHERE state = 'active')
		UNION ALL SELECT min(due) FROM message WHERE ended = 0 AND due > ?1 AND channel IN (SELECT n FROM channel WHERE state = 'active')) AS first`, []any{nanos.Of(after)}, &next)
	return nanos.Time(next.Int64), err
}

// WaitingEntries returns how many entries of each channel wait to be put into a message, due or not, whatever its
// state.
func (s *Store) WaitingEntries(ctx context.Context) (map[int64]int, error) {
	return countsBy[int64](ctx, s, "look into the outbox", "SELECT channel, count(*) FROM outbox WHERE message = '' GROUP BY channel")
}

// DeadMessages returns how many messages of each channel were given up.
func (s *Store) DeadMessages(ctx context.Context) (map[int64]int, error) {
	return countsBy[int64](ctx, s, "look into the outbox", "SELECT channel, count(*) FROM message WHERE state = 'dead' GROUP BY channel")
}

const entryColumns = "n, channel, key, seq, body, urgency, due"

func scanEntry(scan func(...any) error) (e Entry, err error) {
	var due int64
	err = scan(&e.N, &e.Channel, &e.Key, &e.Seq, &e.Body, &e.Urgency, &due)
	e.Due = nanos.Time(due)
	return e, err
}

// EntriesOf returns what a message holds, in the order in which it was put.
func (s *Store) EntriesOf(ctx context.Context, message string) iter.Seq2[Entry, error] {
	return rows(ctx, s, "read a message", func(r *sql.Rows) (Entry, error) { return scanEntry(r.Scan) }, "SELECT "+entryColumns+" FROM outbox WHERE message <> '' AND message = ? ORDER BY n", message)
}

const messageColumns = "id, channel, state, due, attempts, said, created, ended"

func scanMessage(r *sql.Rows) (Message, error) { return scanMessageAnd(r) }

// scanMessageAnd scans a message, and the columns behind it.
func scanMessageAnd(r *sql.Rows, more ...any) (m Message, err error) {
	var due, created, ended int64
	err = r.Scan(append([]any{&m.ID, &m.Channel, &m.State, &due, &m.Attempts, &m.Said, &created, &ended}, more...)...)
	m.Due, m.Created, m.Ended = nanos.Time(due), nanos.Time(created), nanos.Time(ended)
	return m, err
}

// DueMessage is a message that is to be sent.
type DueMessage struct {
	Message
	Urgency int // the greatest of what it holds, and of what is due on its channel and waits for it
}

func scanDueMessage(r *sql.Rows) (m DueMessage, err error) {
	var held, waits int
	m.Message, err = scanMessageAnd(r, &held, &waits)
	m.Urgency = max(held, waits)
	return m, err
}

// DueMessages returns the messages on active channels that wait for an attempt which is due, those first that are due
// longest.
func (s *Store) DueMessages(ctx context.Context, now time.Time) iter.Seq2[DueMessage, error] {
	const query = "SELECT " + messageColumns + `, (SELECT coalesce(max(urgency), 0) FROM outbox WHERE outbox.message <> '' AND outbox.message = message.id), coalesce(waits, 0)
		FROM message LEFT JOIN (SELECT channel AS same, max(urgency) AS waits FROM outbox WHERE message = '' AND due <= ?1 GROUP BY channel) AS waiting ON same = channel
		WHERE ended = 0 AND due <= ?1 AND channel IN (SELECT n FROM channel WHERE state = 'active') ORDER BY due, id`
	return rows(ctx, s, "read messages", scanDueMessage, query, nanos.Of(now))
}

// Attempt is what came of sending a message.
type Attempt struct {
	Message string    // its id
	Taken   bool      // by the receiver
	Again   time.Time // when the next attempt is due, if it was not taken; zero: it is given up
	Said    string    // by the receiver
	Untried bool      // it was not tried, and does not count
}

// mostFailures is how many messages in a row a channel has refused when it is stopped.
const mostFailures = 5

// Attempted records attempts at messages that wait, all of them or none; others are left as they are. ACIs that a
// receiver has taken count as retrieved. A channel that has refused five messages in a row is stopped: stopped has
// their numbers.
func (s *Store) Attempted(ctx context.Context, attempts ...Attempt) (stopped []int64, err error) {
	now := nanos.Of(s.options.Now())
	err = s.write(ctx, allACIs, "record attempts at messages", func(tx *sql.Tx) error {
		stopped = nil
		for _, a := range attempts {
			channel, err := attempted(ctx, tx, a, now)
			if err != nil {
				return fmt.Errorf("message %s: %w", a.Message, err)
			}
			if channel > 0 {
				stopped = append(stopped, channel)
			}
		}
		return nil
	})
	return stopped, err
}

// attempted records one attempt, and returns the channel that it has stopped; 0 for none.
func attempted(ctx context.Context, tx *sql.Tx, a Attempt, now int64) (stopped int64, err error) {
	state, ended := MessageWaits, int64(0)
	switch {
	case a.Taken:
		state, ended = MessageSent, now
	case a.Again.IsZero():
		state, ended = MessageDead, now
	}
	var channel int64
	err = tx.QueryRowContext(ctx, "UPDATE message SET state = ?, due = ?, attempts = attempts + ?, said = ?, ended = ? WHERE id = ? AND ended = 0 RETURNING channel",
		string(state), nanos.Of(a.Again), 1-bit(a.Untried), a.Said, ended, a.Message).Scan(&channel)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, nil
	case err != nil || state == MessageWaits:
		return 0, err
	case a.Taken:
		_, err = tx.ExecContext(ctx, "UPDATE channel SET failures = 0, said = '' WHERE n = ?", channel)
		if err == nil {
			_, err = tx.ExecContext(ctx, "UPDATE aci SET retrieved = ? WHERE retrieved = 0 AND seq IN (SELECT seq FROM outbox WHERE message <> '' AND message = ?)", now, a.Message)
		}
		return 0, err
	}
	is, err := refuse(ctx, tx, channel, a.Said)
	if !is {
		channel = 0
	}
	return channel, err
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
	return s.sendAgain(ctx, id, "TRUE")
}

// sendAgain is SendAgain of a message for which a condition holds.
func (s *Store) sendAgain(ctx context.Context, id, where string, args ...any) error {
	return s.write(ctx, allOutbox, "send message "+id+" again", func(tx *sql.Tx) error {
		return mustAffect(tx.ExecContext(ctx, "UPDATE message SET state = 'waiting', due = ?, attempts = 0, ended = 0 WHERE id = ? AND state = 'dead' AND "+where,
			append([]any{nanos.Of(s.options.Now()), id}, args...)...))
	})
}

// Messages returns those of all channels, the latest first.
func (s *Store) Messages(ctx context.Context) iter.Seq2[Message, error] {
	return rows(ctx, s, "read messages", scanMessage, "SELECT "+messageColumns+" FROM message ORDER BY created DESC, id")
}

// ToldBy returns the ACIs that a message tells of, as they are now, in the order in which they were put: so many at
// most. Those that were trimmed since it was sent are not there.
func (s *Store) ToldBy(ctx context.Context, message string, most int) iter.Seq2[ACI, error] {
	return rows(ctx, s, "read what a message tells of", func(r *sql.Rows) (ACI, error) {
		var stored record
		if err := r.Scan(&stored.document, &stored.number, &stored.second); err != nil {
			return ACI{}, err
		}
		return decodeStoredACI(stored)
	}, "SELECT xml, seq, retrieved FROM outbox JOIN aci USING (seq) WHERE outbox.seq > 0 AND message <> '' AND message = ? ORDER BY n LIMIT ?", message, most)
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
