package frontiertest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/frontier"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shipped is the frontier of this repository, on a disk that loses power.
type shipped struct{ disk *vfs.MemFS }

func newShipped() *shipped { return &shipped{vfs.NewCrashableMem()} }

func (b *shipped) Open(now func() time.Time) (Store, error) {
	s, err := frontier.Open("frontier", frontier.Options{FS: b.disk, Now: now})
	if err != nil {
		return nil, err
	}
	return shippedStore{s}, nil
}

func (b *shipped) Kill(s Store) error {
	after := b.disk.CrashClone(vfs.CrashCloneCfg{})
	err := s.Close()
	b.disk = after
	return err
}

type shippedStore struct{ *frontier.Store }

func (s shippedStore) Queue(pipeline string, o frontier.QueueOptions) (Queue, error) {
	q, err := s.Store.Queue(pipeline, o)
	if err != nil {
		return nil, err
	}
	return shippedQueue{q}, nil
}

type shippedQueue struct{ *frontier.Queue }

func (q shippedQueue) Take(ctx context.Context) (Lease, error) {
	l, err := q.Queue.Take(ctx)
	if err != nil {
		return nil, err
	}
	return l, nil
}

func TestTheShippedFrontierKeepsItsPromises(t *testing.T) {
	t.Parallel()
	Run(t, func(*testing.T) Backend { return newShipped() })
}

// broken is a frontier that does not do what it promises, in one way.
type broken struct {
	*shipped
	offer func(Queue, *webrace.Links, func(frontier.Offered, error))
	take  func(context.Context, Queue) (Lease, error)
	done  func(Lease, frontier.Outcome, func(error))
}

func (b *broken) Open(now func() time.Time) (Store, error) {
	s, err := b.shipped.Open(now)
	return brokenStore{s, b}, err
}

type brokenStore struct {
	Store
	how *broken
}

func (s brokenStore) Queue(pipeline string, o frontier.QueueOptions) (Queue, error) {
	q, err := s.Store.Queue(pipeline, o)
	return brokenQueue{q, s.how}, err
}

type brokenQueue struct {
	Queue
	how *broken
}

func (q brokenQueue) Offer(l *webrace.Links, done func(frontier.Offered, error)) {
	if q.how.offer != nil {
		q.how.offer(q.Queue, l, done)
		return
	}
	q.Queue.Offer(l, done)
}

func (q brokenQueue) Take(ctx context.Context) (l Lease, err error) {
	if q.how.take != nil {
		l, err = q.how.take(ctx, q.Queue)
	} else {
		l, err = q.Queue.Take(ctx)
	}
	if err != nil {
		return nil, err
	}
	return brokenLease{l, q.how}, nil
}

type brokenLease struct {
	Lease
	how *broken
}

func (l brokenLease) Done(o frontier.Outcome, done func(error)) {
	if l.how.done != nil {
		l.how.done(l.Lease, o, done)
		return
	}
	l.Lease.Done(o, done)
}

// handsOutTwice gives every fifth lease to the next caller as well.
func handsOutTwice() func(context.Context, Queue) (Lease, error) {
	var last Lease
	n := 0
	return func(ctx context.Context, q Queue) (Lease, error) {
		if n++; n%5 == 0 && last != nil {
			return last, nil
		}
		l, err := q.Take(ctx)
		last = l
		return l, err
	}
}

func TestTheSuiteCatchesBrokenFrontiers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		broken broken
		want   string // a guarantee that is found broken, among others
	}{
		"loses an offer": {broken{offer: func(q Queue, l *webrace.Links, done func(frontier.Offered, error)) {
			kept := *l
			kept.URLs = slices.DeleteFunc(slices.Clone(l.URLs), func(u string) bool { return strings.HasSuffix(u, "/7") })
			q.Offer(&kept, func(o frontier.Offered, err error) {
				o.Accepted += len(l.URLs) - len(kept.URLs)
				done(o, err)
			})
		}}, "what was accepted is handed out after a power loss"},
		"hands out twice": {broken{take: handsOutTwice()}, "a URL is out once at a time"},
		"forgets a delay": {broken{done: func(l Lease, o frontier.Outcome, done func(error)) {
			if !o.RetryAt.IsZero() {
				o.RetryAt = time.Unix(1, 0)
			}
			l.Done(o, done)
		}}, "a delay survives a power loss"},
		"says that it is done before it is": {broken{done: func(l Lease, _ frontier.Outcome, done func(error)) {
			l.Release(webrace.HostReport{})
			done(nil)
		}}, "what was done is not handed out again in its round"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, g := range guarantees {
				if g.name != c.want {
					continue
				}
				b := c.broken
				b.shipped = newShipped()
				err := g.holds(t.Context(), &b)
				if err == nil {
					t.Errorf("%q is not found broken", g.name)
				}
				return
			}
			t.Errorf("there is no guarantee %q", c.want)
		})
	}
}
