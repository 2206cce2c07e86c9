package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// toldBench tells many people at once, each by a webhook of their own.
type toldBench struct {
	*bench
	dir, program  string
	people, waves int
	began         time.Time // when the first wave is due; 2,000 annotations are each second

	mu       sync.Mutex
	messages map[string]bool // that receivers took which work, by their keys
	repeated int             // of them, that came again
	waits    []time.Duration // of each annotation in them: since it was due
	last     time.Time       // when the last arrived
}

// filing files annotations, of a thousand people with two channels each, alone and beside those that are being put.
func (t *toldBench) filing() error {
	return t.with("filed", func(ctx context.Context, store *control.Store) error {
		channels, err := t.addPeople(ctx, store, 2, func(int) string { return "http://127.0.0.1:1" })
		if err != nil {
			return err
		}
		n := 20 * t.people
		if _, err := t.put(ctx, store, 0, n); err != nil {
			return err
		}
		alone, err := t.put(ctx, store, n, n)
		if err != nil {
			return err
		}
		tomorrow := func(int) time.Time { return time.Now().Add(24 * time.Hour) }
		filing, err := t.file(ctx, store, channels, 0, n, tomorrow)
		if err != nil {
			return err
		}
		filed := make(chan error, 1)
		go func() {
			_, err := t.file(ctx, store, channels, n, n, tomorrow)
			filed <- err
		}()
		beside, err := t.put(ctx, store, 2*n, n)
		if err := errors.Join(err, <-filed); err != nil {
			return err
		}
		t.table.value("file an annotation in an inbox, with two entries, wall", micros(filing)/float64(n), "µs", atMost(200))
		t.table.against("put an annotation while others are filed, wall", micros(beside)/float64(n), "µs", "alone", micros(alone)/float64(n), atMost(1.1))
		return nil
	})
}

// with runs a function over the store of a new data directory.
func (t *toldBench) with(name string, do func(ctx context.Context, store *control.Store) error) error {
	return withStore(filepath.Join(t.dir, name), func(_ *storage.Dir, store *control.Store) error { return do(context.Background(), store) })
}

// addPeople adds accounts, each with some webhooks at a URL, and returns the numbers of the webhooks.
func (t *toldBench) addPeople(ctx context.Context, store *control.Store, webhooks int, url func(i int) string) ([][]int64, error) {
	channels := make([][]int64, t.people)
	for i := range channels {
		if err := store.AddAccount(ctx, control.Account{Owner: owner(i), State: control.AccountActive}, false); err != nil {
			return nil, err
		}
		for j := range webhooks {
			n, err := store.Of(owner(i)).AddChannel(ctx, control.Channel{
				Kind: control.ChannelWebhook, Name: fmt.Sprint(j), Address: channel.NewAddress(url(i), "a key to sign with"),
				Settings: []byte("{}"), State: control.ChannelActive,
			})
			if err != nil {
				return nil, err
			}
			channels[i] = append(channels[i], n)
		}
	}
	return channels, nil
}

// put puts annotations of all people in turn, 1,000 at a time, and returns how long it took.
func (t *toldBench) put(ctx context.Context, store *control.Store, first, n int) (time.Duration, error) {
	began := time.Now()
	for n += first; first < n; first += 1000 {
		var acis []*xmlschema.ACI
		for i := first; i < min(first+1000, n); i++ {
			acis = append(acis, numbered(i, i%t.people))
		}
		if _, err := store.PutEachACI(ctx, acis); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

// file files annotations that were put, 512 at a time as the stage does, with an entry for each webhook of their owner.
func (t *toldBench) file(ctx context.Context, store *control.Store, channels [][]int64, first, n int, due func(i int) time.Time) (time.Duration, error) {
	began := time.Now()
	var filings []control.Filing
	for i := first; i < first+n; i++ {
		f := control.Filing{ID: fmt.Sprint("a", i), Relevance: i % 101, Urgency: 1}
		for _, c := range channels[i%t.people] {
			f.Entries = append(f.Entries, control.Entry{Channel: c, Due: due(i)})
		}
		if filings = append(filings, f); len(filings) < 512 && i+1 < first+n {
			continue
		}
		if _, err := store.File(ctx, filings); err != nil {
			return 0, err
		}
		filings = filings[:0]
	}
	return time.Since(began), nil
}

// tell has the pipeline tell each person of annotations, 2,000 of which are due each second. Of the receivers, a tenth
// is out of order, and a hundredth never answers.
func (t *toldBench) tell() error {
	receivers := &http.Server{Handler: t}
	defer receivers.Close()
	urls := make([]string, t.people)
	for i := range urls {
		// Each is a host of its own: of one, two messages are out at once.
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.%d.%d:0", 1+i/200, 1+i%200))
		if err != nil {
			return err
		}
		urls[i] = fmt.Sprintf("http://%s/%d", l.Addr(), i)
		go receivers.Serve(l) // until it is closed
	}
	t.messages = make(map[string]bool)
	t.began = time.Now().Add(30 * time.Second) // when all is filed, and the program runs
	err := t.with("told", func(ctx context.Context, store *control.Store) error {
		channels, err := t.addPeople(ctx, store, 1, func(i int) string { return urls[i] })
		if err != nil {
			return err
		}
		n := t.people * t.waves
		if _, err := t.put(ctx, store, 0, n); err != nil {
			return err
		}
		_, err = t.file(ctx, store, channels, 0, n, t.due)
		return err
	})
	if err != nil {
		return err
	}
	if time.Now().After(t.began) {
		return fmt.Errorf("it took %v too long to file what is to be told", time.Since(t.began))
	}
	p := exec.Command(t.program, "portal", "--config", "../pipelines.toml", "--data", filepath.Join(t.dir, "told"),
		"--set", "portal.listen=127.0.0.1:0", "--set", "portal.http-out.allow_networks=loopback")
	p.Env = append(os.Environ(), "WEBRACE_CONTACT=https://operator.example/")
	var said syncBuffer
	p.Stdout, p.Stderr = &said, &said
	if err := p.Start(); err != nil {
		return err
	}
	want := t.works() * t.waves
	for deadline := t.began.Add(2 * time.Minute); t.arrived() < want && time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
	}
	err = p.Process.Signal(syscall.SIGINT)
	_ = p.Wait() // an interrupted run ends with a status of its own
	if got := t.arrived(); got != want {
		return errors.Join(err, fmt.Errorf("%d annotations arrived of %d: %s", got, want, said.String()))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	slices.Sort(t.waits)
	t.note("portal: %s annotations arrived in %s messages, of which %d came twice", grouped(want), grouped(len(t.messages)), t.repeated)
	name := fmt.Sprintf("%s receivers, 2,000 annotations due a second, 10 %% out of order, 1 %% silent: ", grouped(t.people))
	t.table.value(name+"wall a message", micros(t.last.Sub(t.began))/float64(len(t.messages)), "µs", atMost(1000))
	t.table.value(name+"wait of those that work, p50", percentile(t.waits, 50).Seconds(), "s", nil)
	t.table.value(name+"wait of those that work, p99", percentile(t.waits, 99).Seconds(), "s", atMost(5))
	return err
}

func (t *toldBench) due(i int) time.Time {
	return t.began.Add(time.Duration(i/t.people) * time.Duration(t.people) * 500 * time.Microsecond)
}

// works returns how many receivers do.
func (t *toldBench) works() (n int) {
	for i := range t.people {
		if stateOf(i) == working {
			n++
		}
	}
	return n
}

func (t *toldBench) arrived() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waits)
}

// What a receiver does.
const (
	working = iota
	outOfOrder
	silent
)

func stateOf(receiver int) int {
	switch {
	case receiver%100 == 7:
		return silent
	case receiver%10 == 3:
		return outOfOrder
	}
	return working
}

var toldOf = regexp.MustCompile(`"title":"A page with the number (\d+)"`)

// ServeHTTP is a receiver.
func (t *toldBench) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	receiver, wrong := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
	if err != nil || wrong != nil {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	switch stateOf(receiver) {
	case silent:
		<-r.Context().Done()
	case outOfOrder:
		http.Error(w, "out of order", http.StatusServiceUnavailable)
	default:
		t.receive(r.Header.Get("Idempotency-Key"), body)
	}
}

// receive takes down what a message tells of.
func (t *toldBench) receive(key string, body []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.messages[key] {
		t.repeated++
		return
	}
	t.messages[key], t.last = true, time.Now()
	for _, of := range toldOf.FindAllSubmatch(body, -1) {
		if i, err := strconv.Atoi(string(of[1])); err == nil {
			t.waits = append(t.waits, t.last.Sub(t.due(i)))
		}
	}
}
