package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/storage/internal/nanos"
)

const channelTable = `
CREATE TABLE channel (
	n        INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again, so that no message goes to another
	owner    TEXT NOT NULL,
	kind     TEXT NOT NULL,
	name     TEXT NOT NULL, -- by which its owner knows it
	key      TEXT NOT NULL, -- the id of the key that the address is encrypted under
	sealed   BLOB NOT NULL, -- the address
	settings BLOB NOT NULL, -- JSON
	state    TEXT NOT NULL,
	since    INTEGER NOT NULL, -- the last ACI when it was made
	failures INTEGER NOT NULL, -- one after the other
	said     TEXT NOT NULL, -- what the receiver said to the last
	created  INTEGER NOT NULL,
	UNIQUE (owner, name)
);
`

// ChannelKind is how what an owner is told reaches them.
type ChannelKind string

const (
	ChannelMail    ChannelKind = "mail"
	ChannelWebhook ChannelKind = "webhook"
	ChannelFeed    ChannelKind = "feed" // which they fetch
)

// ChannelState is whether anything is sent on a channel.
type ChannelState string

const (
	ChannelUnconfirmed ChannelState = "unconfirmed" // the owner has not shown yet that the address is theirs
	ChannelActive      ChannelState = "active"
	ChannelPaused      ChannelState = "paused"  // by its owner
	ChannelStopped     ChannelState = "stopped" // because its receiver refused too often
)

// Channel is a way by which an owner is told. It is stored by [Owned.AddChannel].
type Channel struct {
	N        int64 // names it; given when it is added
	Owner    string
	Kind     ChannelKind
	Name     string          // by which its owner knows it: no two of theirs have the same
	Address  channel.Address // where messages go: encrypted where it is stored
	Settings []byte          // JSON of the caller: when what is sent
	State    ChannelState
	Since    int64  // the Seq of the last ACI when it was added: it tells of later ones
	Failures int    // messages that were refused since the last that was taken
	Said     string // what its receiver said to the last one that was refused
	Created  time.Time
}

// boundToChannel is what a sealed address is bound to: moved to another owner's channel, it cannot be read.
func boundToChannel(c *Channel) string {
	return "webrace channel\x00" + string(c.Kind) + "\x00" + c.Owner
}

const channelColumns = "n, owner, kind, name, key, sealed, settings, state, since, failures, said, created"

// sealedChannel is a channel as it is stored.
type sealedChannel struct {
	Channel
	key    string
	sealed []byte
}

func scanChannel(scan func(...any) error) (c sealedChannel, err error) {
	var created int64
	err = scan(&c.N, &c.Owner, &c.Kind, &c.Name, &c.key, &c.sealed, &c.Settings, &c.State, &c.Since, &c.Failures, &c.Said, &created)
	c.Created = nanos.Time(created)
	return c, err
}

// open returns the channel with its address.
func (c sealedChannel) open(keys []secretKey) (Channel, error) {
	plain, err := openUnder(keys, c.key, c.sealed, boundToChannel(&c.Channel))
	to, key, _ := strings.Cut(string(plain), "\x00")
	c.Address = channel.NewAddress(to, key)
	return c.Channel, err
}

// openUnder decrypts what is sealed under the key with an id.
func openUnder(keys []secretKey, id string, sealed []byte, boundTo string) ([]byte, error) {
	for _, k := range keys {
		if k.id == id {
			return k.open(sealed, boundTo)
		}
	}
	return nil, fmt.Errorf("it is encrypted under key %s, and the key file has key %s: that is another store's, or an older one", id, keys[0].id)
}

// ChannelsOf returns the channels of some owners, in the order in which they were added.
func (s *Store) ChannelsOf(ctx context.Context, owners ...string) iter.Seq2[Channel, error] {
	return s.channels(ctx, "owner IN (SELECT value FROM json_each(?))", list(owners))
}

// Channel returns one by its number, or [ErrNotFound].
func (s *Store) Channel(ctx context.Context, n int64) (Channel, error) {
	return one(s.channels(ctx, "n = ?", n), fmt.Sprintf("channel %d", n))
}

// AllChannels returns all there are, in the order in which they were added: without their addresses, so that no key is
// needed.
func (s *Store) AllChannels(ctx context.Context) iter.Seq2[Channel, error] {
	return rows(ctx, s, "read channels", func(r *sql.Rows) (Channel, error) {
		sealed, err := scanChannel(r.Scan)
		return sealed.Channel, err
	}, "SELECT "+channelColumns+" FROM channel ORDER BY n")
}

func (s *Store) channels(ctx context.Context, where string, args ...any) iter.Seq2[Channel, error] {
	return func(yield func(Channel, error) bool) {
		var keys []secretKey
		for sealed, err := range rows(ctx, s, "read channels", func(r *sql.Rows) (sealedChannel, error) { return scanChannel(r.Scan) },
			"SELECT "+channelColumns+" FROM channel WHERE "+where+" ORDER BY n", args...) {
			if err == nil && keys == nil {
				keys, err = readKeys(s.keyFile)
			}
			var c Channel
			if err == nil {
				c, err = sealed.open(keys)
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// sealChannel writes the address of a channel, encrypted.
func sealChannel(ctx context.Context, tx *sql.Tx, k secretKey, c *Channel) error {
	to, key := c.Address.Reveal()
	sealed, err := k.seal([]byte(to+"\x00"+key), boundToChannel(c))
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE channel SET key = ?, sealed = ? WHERE n = ? AND owner = ?", k.id, sealed, c.N, c.Owner)
	}
	return err
}

// resealChannels encrypts the addresses of all channels under the first key.
func resealChannels(ctx context.Context, tx *sql.Tx, keys []secretKey) error {
	found, err := tx.QueryContext(ctx, "SELECT "+channelColumns+" FROM channel")
	if err != nil {
		return err
	}
	defer found.Close()
	var all []sealedChannel
	for found.Next() {
		sealed, err := scanChannel(found.Scan)
		if err != nil {
			return err
		}
		all = append(all, sealed)
	}
	if err := errors.Join(found.Err(), found.Close()); err != nil {
		return err
	}
	for _, sealed := range all {
		c, err := sealed.open(keys)
		if err == nil {
			err = sealChannel(ctx, tx, keys[0], &c)
		}
		if err != nil {
			return fmt.Errorf("channel %d: %w", sealed.N, err)
		}
	}
	return nil
}
