package control

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"strings"

	"github.com/webrace/webrace/storage/internal/nanos"
)

// MostChannels is how many channels one owner may have.
const MostChannels = 20

// Channels returns the owner's channels, in the order in which they were added.
func (o Owned) Channels(ctx context.Context) iter.Seq2[Channel, error] {
	return o.store.channels(ctx, "owner = ?", o.owner)
}

// Channel returns one of them, or [ErrNotFound].
func (o Owned) Channel(ctx context.Context, n int64) (Channel, error) {
	return one(o.store.channels(ctx, "n = ? AND owner = ?", n, o.owner), fmt.Sprintf("channel %d", n))
}

// AddChannel adds a channel, which tells of what arrives from now on, and returns its number. Its name is a
// [TakenError] if another of the owner's has it. It returns [ErrNotFound] if the owner has no account.
func (o Owned) AddChannel(ctx context.Context, c Channel) (n int64, err error) {
	c.Owner = o.owner
	if err := c.check(); err != nil {
		return 0, fmt.Errorf("add channel %q: %w", c.Name, err)
	}
	s := o.store
	err = s.write(ctx, allSecrets, fmt.Sprintf("add channel %q", c.Name), func(tx *sql.Tx) error {
		if err := mustHaveAccount(ctx, tx, o.owner, ""); err != nil {
			return err
		}
		if err := o.mustBeNew(ctx, tx, &c); err != nil {
			return err
		}
		keys, err := s.keys(ctx, tx)
		if err != nil {
			return err
		}
		const insert = `INSERT INTO channel (owner, kind, name, key, sealed, settings, state, since, failures, said, created)
			VALUES (?, ?, ?, '', ?, ?, ?, (` + lastACI + `), 0, '', ?) RETURNING n`
		err = tx.QueryRowContext(ctx, insert, c.Owner, string(c.Kind), c.Name, []byte{}, blob(c.Settings), string(c.State), nanos.Of(s.options.Now())).Scan(&c.N)
		if err == nil {
			err = sealChannel(ctx, tx, keys[0], &c)
		}
		return err
	})
	return c.N, err
}

func (c *Channel) check() error {
	switch {
	case c.Name == "" || len(c.Name) > mostName || strings.ContainsFunc(c.Name, isControl):
		return fmt.Errorf("a name has 1 to %d bytes, none of them control characters", mostName)
	case c.Kind != ChannelMail && c.Kind != ChannelWebhook && c.Kind != ChannelFeed:
		return fmt.Errorf("%q is no kind of channel", c.Kind)
	case c.State != ChannelUnconfirmed && c.State != ChannelActive && c.State != ChannelPaused && c.State != ChannelStopped:
		return fmt.Errorf("%q is no state of a channel", c.State)
	}
	return nil
}

// mustBeNew refuses a channel whose name another has, or that is one too many.
func (o Owned) mustBeNew(ctx context.Context, tx *sql.Tx, c *Channel) error {
	var same bool
	var count int
	err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM channel WHERE owner = ?1 AND name = ?2 AND n <> ?3), (SELECT count(*) FROM channel WHERE owner = ?1 AND n <> ?3)",
		o.owner, c.Name, c.N).Scan(&same, &count)
	switch {
	case err != nil:
		return err
	case same:
		return &TakenError{What: "channel", Name: c.Name}
	case count >= MostChannels:
		return fmt.Errorf("there are %d channels, and no more than that may be: remove one first", count)
	}
	return nil
}

// ChangeChannel writes a channel's name, address, settings and state over those of the one with its number;
// [ErrNotFound] if the owner has none. One that is active again has refused nothing.
func (o Owned) ChangeChannel(ctx context.Context, c Channel) error {
	doing := fmt.Sprintf("change channel %d", c.N)
	c.Owner = o.owner
	if err := c.check(); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	s := o.store
	return s.write(ctx, allSecrets, doing, func(tx *sql.Tx) error {
		if err := o.mustBeNew(ctx, tx, &c); err != nil {
			return err
		}
		keys, err := s.keys(ctx, tx)
		if err != nil {
			return err
		}
		err = mustAffect(tx.ExecContext(ctx, `UPDATE channel SET name = ?, settings = ?, failures = CASE WHEN state = 'stopped' THEN 0 ELSE failures END, state = ?
			WHERE n = ? AND owner = ? AND kind = ?`, c.Name, blob(c.Settings), string(c.State), c.N, o.owner, string(c.Kind)))
		if err == nil {
			err = sealChannel(ctx, tx, keys[0], &c)
		}
		return err
	})
}

// DeleteChannel removes a channel, with what waits to be sent on it and what was; [ErrNotFound] if the owner has none
// of that number.
func (o Owned) DeleteChannel(ctx context.Context, n int64) error {
	return o.store.write(ctx, everything, fmt.Sprintf("delete channel %d", n), func(tx *sql.Tx) error {
		if err := mustAffect(tx.ExecContext(ctx, "DELETE FROM channel WHERE n = ? AND owner = ?", n, o.owner)); err != nil {
			return err
		}
		for _, part := range []string{"DELETE FROM outbox WHERE channel = ?", "DELETE FROM message WHERE channel = ?"} {
			if _, err := tx.ExecContext(ctx, part, n); err != nil {
				return err
			}
		}
		return nil
	})
}

// Messages returns what was sent on the owner's channels, or is, the latest first.
func (o Owned) Messages(ctx context.Context) iter.Seq2[Message, error] {
	return rows(ctx, o.store, "read messages of "+o.owner, scanMessage,
		"SELECT "+messageColumns+" FROM message WHERE channel IN (SELECT n FROM channel WHERE owner = ?) ORDER BY created DESC, id", o.owner)
}

// EntriesOf is [Store.EntriesOf] of a message to the owner; another's holds nothing.
func (o Owned) EntriesOf(ctx context.Context, message string) iter.Seq2[Entry, error] {
	return rows(ctx, o.store, "read a message to "+o.owner, func(r *sql.Rows) (Entry, error) { return scanEntry(r.Scan) },
		"SELECT "+entryColumns+" FROM outbox WHERE message <> '' AND message = ? AND channel IN (SELECT n FROM channel WHERE owner = ?) ORDER BY n", message, o.owner)
}

// SendAgain is [Store.SendAgain] of a message to the owner.
func (o Owned) SendAgain(ctx context.Context, id string) error {
	return o.store.sendAgain(ctx, id, "channel IN (SELECT n FROM channel WHERE owner = ?)", o.owner)
}

// WebSessions returns where the owner is logged in, the latest first.
func (o Owned) WebSessions(ctx context.Context) iter.Seq2[WebSession, error] {
	return rows(ctx, o.store, "read web sessions of "+o.owner, func(r *sql.Rows) (WebSession, error) { return scanWebSession(r.Scan) },
		"SELECT "+webSessionColumns+" FROM web_session WHERE owner = ? AND expires > ? ORDER BY created DESC, hash", o.owner, nanos.Of(o.store.options.Now()))
}

// EndWebSessions ends one of the owner's sessions, by its hash, or all but that one, and returns how many.
func (o Owned) EndWebSessions(ctx context.Context, hash string, others bool) (n int, err error) {
	err = o.store.write(ctx, singleRows, "end web sessions of "+o.owner, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, "DELETE FROM web_session WHERE owner = ? AND expires > ? AND (hash = ?) <> CAST(? AS BOOLEAN)",
			o.owner, nanos.Of(o.store.options.Now()), hash, others)
		if err != nil {
			return err
		}
		count, err := result.RowsAffected()
		n = int(count)
		return err
	})
	return n, err
}

// Tokens returns the owner's tokens of a purpose, in the order in which they were added.
func (o Owned) Tokens(ctx context.Context, purpose Purpose) iter.Seq2[Token, error] {
	return o.store.tokens(ctx, "owner = ? AND purpose = ? AND expires > ?", o.owner, string(purpose), nanos.Of(o.store.options.Now()))
}

// DeleteToken makes a token of the owner's useless, by its ID; [ErrNotFound] if there is none.
func (o Owned) DeleteToken(ctx context.Context, id string) error {
	return o.store.write(ctx, singleRows, "delete a token of "+o.owner, func(tx *sql.Tx) error {
		return mustAffect(tx.ExecContext(ctx, "DELETE FROM token WHERE hash = ? AND owner = ?", id, o.owner))
	})
}
