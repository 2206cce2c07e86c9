package control

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// What other processes write is found by looking at the counters every second, and sooner if a notification comes. That
// is sent apart from what it tells of, because a transaction that notifies holds a lock of the whole server while it
// commits.

const (
	lookEvery   = time.Second
	tellEvery   = time.Second / 20
	listenAgain = 10 * time.Second
)

// follow begins to wake those who wait here for what other processes write, if the store is one that several have.
func (s *Store) follow() {
	if s.postgres == nil {
		return
	}
	s.postgres.following.Do(func() {
		heard := make(chan struct{}, 1)
		s.postgres.working.Go(func() { s.look(heard) })
		s.postgres.working.Go(func() { s.postgres.listen(heard) })
	})
}

func (p *postgres) stop() {
	p.end()
	p.working.Wait()
}

// counters are those that tell what was written.
type counters struct {
	Point
	acis, secrets int64
}

// look wakes who waits for what has changed since it looked last.
func (s *Store) look(heard <-chan struct{}) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	ctx := s.postgres.ended
	for seen := (counters{}); ctx.Err() == nil; {
		now, err := s.counters(ctx)
		if err == nil {
			s.awake(seen, now)
			seen = now
		}
		select {
		case <-heard:
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

func (s *Store) counters(ctx context.Context) (c counters, err error) {
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	err = s.readers.QueryRowContext(ctx, `SELECT sum(value) FILTER (WHERE name = 'revision'), sum(value) FILTER (WHERE name = 'checks'),
		sum(value) FILTER (WHERE name = 'quotas'), sum(value) FILTER (WHERE name = 'aci'), sum(value) FILTER (WHERE name = 'secrets') FROM counter`).
		Scan(&c.Revision, &c.Checks, &c.Quotas, &c.acis, &c.secrets)
	return c, err
}

func (s *Store) awake(seen, now counters) {
	if now.Point != seen.Point {
		s.changed.Broadcast()
	}
	if now.acis != seen.acis {
		s.told.Broadcast()
	}
	if now.secrets != seen.secrets && seen != (counters{}) {
		s.secretVersions.nextOfAll()
	}
}

// tellOthers has other processes told soon that something was written.
func (s *Store) tellOthers() {
	s.postgres.telling.Do(func() { s.postgres.working.Go(s.tell) })
	select {
	case s.postgres.news <- struct{}{}:
	default: // it is going to be told anyway
	}
}

// tell notifies other processes of what this one has written, until the store is closed, and then of what is left. What
// is not told they find by themselves.
func (s *Store) tell() {
	p := s.postgres
	for {
		select {
		case <-p.news:
			s.notify()
		case <-p.ended.Done():
			select {
			case <-p.news:
				s.notify()
			default:
			}
			return
		}
		select {
		case <-time.After(tellEvery):
		case <-p.ended.Done():
		}
	}
}

func (s *Store) notify() {
	ctx, cancel := context.WithTimeout(context.Background(), connectWithin)
	defer cancel()
	_, _ = s.writer.ExecContext(ctx, "SELECT pg_notify(?, ?)", schemaName, s.postgres.self)
}

// listen passes notifications on, until the store is closed. Where they do not come, the counters are looked at anyway.
func (p *postgres) listen(heard chan<- struct{}) {
	for !errors.Is(p.listenOnce(heard), errPooled) {
		select {
		case <-time.After(listenAgain):
		case <-p.ended.Done():
			return
		}
	}
}

// errPooled means that a connection is not to one process of the server for good.
var errPooled = errors.New("what pools connections is in between")

func (p *postgres) listenOnce(heard chan<- struct{}) error {
	conn, err := pgx.ConnectConfig(p.ended, Patient(p.config))
	if err != nil {
		return err
	}
	defer conn.Close(context.Background())
	if is, err := isDirect(p.ended, conn); err != nil || !is {
		return cmp.Or(err, errPooled)
	}
	if _, err := conn.Exec(p.ended, "LISTEN "+schemaName); err != nil {
		return err
	}
	for {
		told, err := conn.WaitForNotification(p.ended)
		if err != nil {
			return err
		}
		if told.Payload == p.self {
			continue
		}
		select {
		case heard <- struct{}{}:
		default:
		}
	}
}
