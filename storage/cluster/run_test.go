package cluster

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"regexp"
	"strconv"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/storage/frontier"
)

// idle is a queue that has nothing to do, and cannot read what begins with an x.
type idle struct{}

func (idle) Receive(data []byte, done func(error)) {
	if bytes.HasPrefix(data, []byte("x")) {
		done(&frontier.EnvelopeError{Err: errors.New("it is of another version")})
		return
	}
	done(nil)
}
func (idle) Requests(string) (uint64, error)       { return 0, nil }
func (idle) Pending(all []frontier.Pass) []bool    { return make([]bool, len(all)) }
func (idle) Leaving() []frontier.Pass              { return nil }
func (idle) End(_ frontier.Pass, done func(error)) { done(nil) }
func (idle) Idle() bool                            { return true }
func (idle) Wake()                                 {}

// takePart opens the rest of the cluster for an idle queue that is asked by the test alone.
func takePart(t *testing.T, c *Cluster, p int) *attached {
	t.Helper()
	rest, err := c.Elsewhere("p", p, true)
	if err != nil {
		t.Fatal(err)
	}
	return &attached{link: rest.(*link), to: idle{}, gone: make(chan struct{})}
}

// endsRun has the node of a queue note whether that has anything left to do, and end the run if nobody has.
func (a *attached) endsRun() error { return a.endRuns([]*attached{a}, true) }

func isOver(t *testing.T, c *Cluster) (over bool) {
	t.Helper()
	if err := c.db.QueryRowContext(t.Context(), "SELECT over FROM webrace.run").Scan(&over); err != nil {
		t.Fatal(err)
	}
	return over
}

// A partition that comes back while another has just seen that all have done begins no work in a run that is over.
func TestWhoTakesPartWhileARunIsEndedHoldsItUp(t *testing.T) {
	t.Parallel()
	c := join(t, made(t, Shape{2, 1}), 0, "here")
	first, second := takePart(t, c, 0), takePart(t, c, 1)
	if err := second.endsRun(); err != nil || isOver(t, c) {
		t.Fatalf("one of two has done: over %v, %v", isOver(t, c), err)
	}
	tx, err := c.db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if err := second.join(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- first.endsRun() }()
	testutil.Await(t, "the end of the run waits for who takes part", func() bool {
		var waits bool
		err := c.db.QueryRow("SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')").Scan(&waits)
		return err == nil && waits
	})
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil || isOver(t, c) || first.Over() {
		t.Errorf("over %v, for the first %v, error %v", isOver(t, c), first.Over(), err)
	}
	second.state = busy
	if err := second.endsRun(); err != nil || !isOver(t, c) || !second.Over() {
		t.Errorf("at the end: over %v, for the second %v, error %v", isOver(t, c), second.Over(), err)
	}
}

// What a process that was killed had under way may reach the server late, after the next one took part.
func TestAProcessThatWasKilledEndsNothingOfTheNext(t *testing.T) {
	t.Parallel()
	url := made(t, Shape{1, 1})
	killed := takePart(t, join(t, url, 0, "here"), 0)
	c := join(t, url, 0, "here")
	next := takePart(t, c, 0)
	if err := killed.endsRun(); err != nil || isOver(t, c) {
		t.Errorf("over %v, error %v", isOver(t, c), err)
	}
	if err := next.endsRun(); err != nil || !isOver(t, c) {
		t.Errorf("over %v, error %v", isOver(t, c), err)
	}
}

// An envelope that cannot be read holds up its run, says which it is, and can be removed.
func TestAnEnvelopeThatCannotBeReadIsKeptAndNamed(t *testing.T) {
	t.Parallel()
	url, log := made(t, Shape{1, 1}), new(testutil.Buffer)
	c, err := Open(t.Context(), url, 0, Options{Place: "here", Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	l := takePart(t, c, 0)
	sent := make(chan error, 1)
	l.Send([]frontier.Envelope{{Data: []byte("a")}, {Data: []byte("x")}}, func(err error) { sent <- err })
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	detach := l.Attach(idle{})
	defer detach()
	command := regexp.MustCompile(`another version \(webrace-store cluster skip 0 (\d+) `)
	testutil.Await(t, "it is named", func() bool { return command.FindStringSubmatch(log.String()) != nil })
	id, _ := strconv.ParseInt(command.FindStringSubmatch(log.String())[1], 10, 64) // digits
	if l.Over() {
		t.Error("the run is over with an envelope in an inbox")
	}
	for _, want := range []bool{true, false} {
		if there, err := Skip(context.Background(), url, 0, id); err != nil || there != want {
			t.Errorf("skip: %v, %v, want %v", there, err, want)
		}
	}
	testutil.Await(t, "the run is over", l.Over)
}
