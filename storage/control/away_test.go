package control_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

var stops = flag.Uint64("stops", 3, "how often TestAway stops the server under writes")

// load is what writes and reads while the server is stopped, each part with a store of its own.
type load struct {
	enough   atomic.Bool     // the parts that write are to end
	rounds   []*atomic.Int64 // that each part has done
	waits    atomic.Int64    // how often a store that waited found the server away
	working  sync.WaitGroup
	mu       sync.Mutex
	told     []string  // ids of ACIs that were acknowledged as new
	taken    []string  // ids of those that were given out
	letters  []string  // ids of dead letters
	urds     []string  // ids of URDs that were acknowledged as added
	used     []float64 // what was acknowledged as used, by part
	readings atomic.Int64
}

// store opens a store that waits for the server, and counts that.
func (l *load) store(t *testing.T, b backend) *control.Store {
	t.Helper()
	s, err := b.open(control.Options{Readers: 2, Retry: func(ctx context.Context, f func() error) error {
		return untilThere(ctx, func() error {
			err := f()
			if errors.As(err, new(*control.AwayError)) {
				l.waits.Add(1)
			}
			return err
		})
	}})
	ok(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// write runs rounds until there are enough of them. Each gets its number.
func (l *load) write(t *testing.T, b backend, part string, round func(s *control.Store, n int) error) {
	t.Helper()
	s, done := l.store(t, b), new(atomic.Int64)
	l.rounds = append(l.rounds, done)
	l.working.Go(func() {
		for n := 1; !l.enough.Load(); n++ {
			if err := round(s, n); err != nil {
				t.Errorf("%s, round %d: %v", part, n, err)
				return
			}
			done.Add(1)
		}
	})
}

// goesOn waits until every part has done something more.
func (l *load) goesOn(t *testing.T) {
	t.Helper()
	for part, done := range l.rounds {
		before := done.Load()
		testutil.Await(t, fmt.Sprint("part ", part, " goes on"), func() bool { return done.Load() > before+1 || t.Failed() })
	}
}

func (l *load) keep(list *[]string, names ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*list = append(*list, names...)
}

const usageDay = "2026-11-21"

// begin starts all parts.
func (l *load) begin(t *testing.T, b backend) {
	ctx := t.Context()
	l.used = make([]float64, 2)
	for part := range l.used {
		l.write(t, b, "usage", func(s *control.Store, n int) error {
			err := s.AddUsage(ctx, usageDay, map[string]float64{"eleni": 1}, map[string]int64{fmt.Sprint("meter", part): int64(n)})
			l.used[part] = float64(n)
			return err
		})
	}
	for part := range 2 {
		l.write(t, b, "ACIs", func(s *control.Store, n int) error {
			names := []string{fmt.Sprintf("p%d-%d-a", part, n), fmt.Sprintf("p%d-%d-b", part, n)}
			stored, err := s.PutACIs(ctx, []*xmlschema.ACI{of("eleni", names[0]), of("eleni", names[1])})
			if err == nil && (stored.Added != 2 || len(stored.New) != 2) {
				err = fmt.Errorf("%d of two are said to be new", stored.Added)
			}
			l.keep(&l.told, names...)
			return err
		})
		l.write(t, b, "taking", func(s *control.Store, n int) error { return l.take(ctx, s) })
	}
	l.write(t, b, "dead letters", func(s *control.Store, n int) error {
		id, err := s.PutDeadLetter(ctx, control.DeadLetter{Pipeline: "p", Item: []byte("{}")})
		l.keep(&l.letters, id)
		return err
	})
	l.write(t, b, "URDs", func(s *control.Store, n int) error {
		name := fmt.Sprint("urd", n)
		changes, err := s.Put(ctx, []*xmlschema.URD{urd(name, "eleni", "http://a.example/", "ibm")})
		if err == nil && changes[0].Effect != control.Added {
			err = fmt.Errorf("%v", changes)
		}
		l.keep(&l.urds, name)
		return err
	})
	l.write(t, b, "reading", func(s *control.Store, _ int) error { return l.read(ctx, s) })
	scanned := 0
	l.write(t, b, "scanning", func(s *control.Store, _ int) error {
		seen := 0
		for _, err := range s.Query(ctx, "/urd[starts-with(@id, 'urd')]") { // which no index finds
			if err != nil {
				return err
			}
			seen++
		}
		if seen < scanned {
			return fmt.Errorf("%d URDs, and %d before", seen, scanned)
		}
		scanned = seen
		return nil
	})
}

func (l *load) take(ctx context.Context, s *control.Store) error {
	taken, err := s.Take(ctx, "eleni")
	for _, a := range taken {
		l.keep(&l.taken, a.ID)
	}
	return err
}

// read reads what only grows.
func (l *load) read(ctx context.Context, s *control.Store) error {
	used, err := s.Usage(ctx, usageDay)
	if err != nil {
		return err
	}
	letters := int64(0)
	for _, err := range s.DeadLetters(ctx) {
		if err != nil {
			return err
		}
		letters++
	}
	if seen := int64(used["eleni"]) + letters; l.readings.Swap(seen) > seen {
		return fmt.Errorf("what was used, and letters, are fewer than they were: %d", seen)
	}
	return nil
}

// What a store has acknowledged is there however the server ends, and was done once; and all goes on when it is back.
func TestAway(t *testing.T) {
	t.Parallel()
	server := postgres.New(t, postgres.Options{Fsync: true})
	underLoad(t, onPostgres(t, server.Database(t)), func(l *load) {
		for n := range testutil.Seeds(*stops) {
			l.goesOn(t)
			away := l.waits.Load()
			if n%2 == 0 {
				server.Kill(t)
			} else {
				server.Stop(t)
			}
			testutil.Await(t, "stores find the server away", func() bool { return l.waits.Load() > away+3 || t.Failed() })
			server.Start(t)
		}
	})
}

// So it is where a synchronous standby takes the place of a server that is gone for good. What the standby has not
// heard of, because it was halted, was not acknowledged.
func TestAwayAStandbyTakesOver(t *testing.T) {
	if testing.Short() {
		t.Skip("another way to be away than that of TestAway: not in short mode")
	}
	t.Parallel()
	server := postgres.New(t, postgres.Options{})
	database, err := url.Parse(server.Database(t))
	ok(t, err)
	standby := server.Standby(t)
	database.Host += "," + standby.Address()
	database.RawQuery += "&target_session_attrs=read-write"
	underLoad(t, onPostgres(t, database.String()), func(l *load) {
		l.goesOn(t)
		standby.Freeze(t)
		testutil.Await(t, "writers wait for the standby", func() bool {
			return server.Query(t, "SELECT count(*) > 2 FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == "t"
		})
		server.Kill(t)
		standby.Thaw(t)
		standby.Promote(t)
	})
}

// So it is where nothing gets through any more, and no connection ends: what is asked is given up. Much of it arrives
// late.
func TestAwayWithoutAWord(t *testing.T) {
	if testing.Short() {
		t.Skip("another way to be away than that of TestAway: not in short mode")
	}
	t.Parallel()
	server := postgres.New(t, postgres.Options{})
	proxy := postgres.NewProxy(t, server)
	key, through := filepath.Join(t.TempDir(), control.KeyFile), proxy.URL(t, server.Database(t))
	b := backend{shared: true, open: func(o control.Options) (*control.Store, error) {
		return control.OpenImpatient(t.Context(), through, key, o, time.Second)
	}}
	underLoad(t, b, func(l *load) {
		for range testutil.Seeds(*stops) {
			l.goesOn(t)
			away := l.waits.Load()
			proxy.Freeze()
			testutil.Await(t, "stores find the server away", func() bool { return l.waits.Load() > away+3 || t.Failed() })
			proxy.Thaw()
		}
	})
}

// underLoad writes to a database while something is done to its server.
func underLoad(t *testing.T, b backend, disturb func(l *load)) {
	t.Helper()
	var l load
	follower, reviser := l.store(t, b), l.store(t, b)
	l.begin(t, b)
	var acis, urds []string
	var following sync.WaitGroup
	following.Go(func() { acis = followed(t, follower, func(string) {}) })
	following.Go(func() { urds = revised(t, reviser) })
	disturb(&l)
	l.goesOn(t)
	l.enough.Store(true)
	l.working.Wait()
	s := l.store(t, b)
	_, err := s.PutACIs(t.Context(), []*xmlschema.ACI{of("eleni", lastName)})
	ok(t, err)
	put(t, s, urd(lastName, "eleni", "http://a.example/"))
	ok(t, l.take(t.Context(), s))
	following.Wait()
	t.Logf("used %v, %d ACIs, %d letters, %d URDs, away %d times", l.used, len(l.told), len(l.letters), len(l.urds), l.waits.Load())

	mustBeAll(t, "ACIs", acis, append(l.told, lastName))
	mustBeAll(t, "taken ACIs", l.taken, append(l.told, lastName))
	mustBeAll(t, "URDs", urds, append(l.urds, lastName))
	var letters []string
	for _, letter := range gather(t, s.DeadLetters(t.Context())) {
		letters = append(letters, letter.ID)
	}
	mustBeAll(t, "dead letters", letters, l.letters)
	used, err := s.Usage(t.Context(), usageDay)
	ok(t, err)
	counted, err := s.Cursors(t.Context(), "meter")
	ok(t, err)
	if used["eleni"] != l.used[0]+l.used[1] || !maps.Equal(counted, map[string]int64{"0": int64(l.used[0]), "1": int64(l.used[1])}) {
		t.Errorf("used %v, counted up to %v, want %v", used, counted, l.used)
	}
}
