package cluster

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/internal/pace"
)

// What others have written is found by looking every second, and sooner if a notification comes. That is sent apart
// from what it tells of, because a transaction that notifies holds a lock of the whole server while it commits.

const (
	channel     = "webrace_cluster"
	lookEvery   = time.Second
	tellEvery   = time.Second / 20
	listenAgain = 10 * time.Second
)

// tellOthers has other nodes look soon.
func (c *Cluster) tellOthers() { raise(c.news) }

// tell tells others, unless there is something all the time: then they find it as they look every second. Each
// notification wakes all who listen, and the processes of the server that do so for them.
func (c *Cluster) tell() {
	told := pace.Pace{Later: lookEvery}
	for {
		select {
		case <-c.news:
		case <-c.ended.Done():
			return
		}
		if told.Next(time.Now()) {
			_, _ = c.db.ExecContext(c.ended, `SELECT pg_notify($1, $2)`, channel, c.boot) // what is not told is found anyway
		}
		select {
		case <-time.After(tellEvery):
		case <-c.ended.Done():
			return
		}
	}
}

// listen has the node look into the inboxes of its partitions when another has written.
func (c *Cluster) listen() {
	for c.ended.Err() == nil {
		_ = c.listenOnce() // what is not told is found anyway
		select {
		case <-time.After(listenAgain):
		case <-c.ended.Done():
		}
	}
}

func (c *Cluster) listenOnce() error {
	conn, err := pgx.ConnectConfig(c.ended, control.Patient(c.config))
	if err != nil {
		return err
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(c.ended, "LISTEN "+channel); err != nil {
		return err
	}
	for {
		told, err := conn.WaitForNotification(c.ended)
		if err != nil {
			return err
		}
		if told.Payload == c.boot {
			continue
		}
		c.lookSoon()
	}
}
