package cluster

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/storage/frontier"
)

// reader is a queue that reads envelopes of which the first byte is not zero.
type reader struct {
	frontier.Receiver // what is not asked
	got               chan string
}

func (r reader) Receive(data []byte, done func(error)) {
	if data[0] == 0 {
		done(&frontier.EnvelopeError{Err: errors.New("it is of version 0")})
		return
	}
	r.got <- string(data)
	done(nil)
}

func (r reader) Requests(string) (uint64, error)    { return 0, nil }
func (r reader) Pending(all []frontier.Pass) []bool { return make([]bool, len(all)) }
func (r reader) Leaving() []frontier.Pass           { return nil }

// An envelope that cannot be read keeps those behind it waiting until it is skipped, by the command that the log names.
func TestWhatCannotBeReadIsSkippedByWhoSaysSo(t *testing.T) {
	t.Parallel()
	url := made(t, Shape{2, 1})
	var log testutil.Buffer
	c, err := Open(t.Context(), url, 0, Options{Place: "here", Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	to, err := c.Elsewhere("p", 1, false)
	if err != nil {
		t.Fatal(err)
	}
	from, err := c.Elsewhere("p", 0, false)
	if err != nil {
		t.Fatal(err)
	}
	sent := make(chan error, 1)
	from.Send([]frontier.Envelope{{To: 1, Data: []byte("first")}, {To: 1, Data: []byte{0}}, {To: 1, Data: []byte("second")}}, func(err error) { sent <- err })
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	r := reader{got: make(chan string, 8)}
	detach := to.Attach(r)
	defer detach()
	for _, want := range []string{"first", "second"} { // what comes with it is received, once
		if got := <-r.got; got != want {
			t.Errorf("%q comes, want %q", got, want)
		}
	}
	const command = "webrace-store cluster skip "
	testutil.Await(t, "the log to name the command", func() bool { return strings.Contains(log.String(), command) })
	var p int
	var id int64
	if _, err := fmt.Sscanf(log.String()[strings.Index(log.String(), command)+len(command):], "%d %d", &p, &id); err != nil || p != 1 {
		t.Fatalf("partition %d, envelope %d, %v:\n%s", p, id, err, log.String())
	}
	for i, want := range []bool{true, false} {
		if there, err := Skip(t.Context(), url, p, id); err != nil || there != want {
			t.Errorf("skipped for the %d. time: %v, %v", i+1, there, err)
		}
	}
	from.Send([]frontier.Envelope{{To: 1, Passes: []frontier.Pass{{Crawl: "c", Number: 1}}, Data: []byte("next")}}, func(err error) { sent <- err })
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	if got := <-r.got; got != "next" {
		t.Errorf("then comes %q", got)
	}
	testutil.Await(t, "its inbox to be empty", func() bool {
		s, err := StatusOf(t.Context(), url)
		return err == nil && s.Nodes[0].Inbox == 0
	})
}
