package control_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// What calls put that come all the time is stored together; each call is told what became of its own, and what is wrong
// with one is not with another.
func TestWhatSeveralCallsPutIsStoredTogether(t *testing.T) {
	t.Parallel()
	const calls, rounds = 8, 30
	database := postgres.Database(t)
	s, err := onPostgres(t, database).open(control.Options{Gather: 50 * time.Millisecond})
	ok(t, err)
	defer s.Close()
	var working sync.WaitGroup
	for call := range calls {
		working.Go(func() {
			for n := range rounds {
				name := fmt.Sprintf("%d-%d", call, n)
				if call == 0 && n%10 == 9 {
					if _, err := s.PutACIs(t.Context(), []*xmlschema.ACI{of("eleni", "zero\x00")}); err == nil {
						t.Error("an id with a zero byte is stored")
					}
					continue
				}
				stored, err := s.PutACIs(t.Context(), []*xmlschema.ACI{of("eleni", name), of("eleni", "of-all")})
				if err != nil || len(stored.New) == 0 || len(stored.New) != stored.Added || stored.New[0].ID != name {
					t.Errorf("%s: %+v, %v", name, stored, err)
				}
			}
		})
	}
	working.Wait()
	last, err := s.LastACI(t.Context())
	ok(t, err)
	if want := int64(calls*rounds - 3 + 1); last != want {
		t.Errorf("%d are stored, want %d", last, want)
	}
	conn, err := pgx.Connect(t.Context(), database)
	ok(t, err)
	defer conn.Close(t.Context())
	var transactions int
	ok(t, conn.QueryRow(t.Context(), "SELECT sum(note) FROM webrace.mark").Scan(&transactions))
	if transactions > 3*rounds { // one a round, a few alone
		t.Errorf("%d calls took %d transactions", calls*rounds, transactions)
	}
}

// A call that is given up before it is stored with others is not; one that is being stored is told what became of it.
func TestACallThatIsGivenUpHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	s, err := onPostgres(t, postgres.Database(t)).open(control.Options{Gather: time.Hour})
	ok(t, err)
	var enough []*xmlschema.ACI // not to be waited for
	for n := range 64 {
		enough = append(enough, of("eleni", fmt.Sprint(n)))
	}
	_, err = s.PutACIs(t.Context(), enough)
	ok(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	put := func(ctx context.Context, id string) {
		_, err := s.PutACIs(ctx, []*xmlschema.ACI{of("eleni", id)})
		ended <- err
	}
	go put(ctx, "given-up")
	testutil.Await(t, "it waits", func() bool { return control.Gathered(s) == 1 })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	go put(t.Context(), "kept")
	testutil.Await(t, "it waits", func() bool { return control.Gathered(s) == 1 })
	ok(t, s.Close()) // which stores what waits
	ok(t, <-ended)
}
