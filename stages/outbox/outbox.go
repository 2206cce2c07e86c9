// Package outbox is the queue through which people are told: it files annotations into the inboxes of owners who have
// an account, keeps what is to be sent on each of their channels until that is due, and hands it out as one message a
// channel.
//
// It guarantees: an item is acknowledged once its annotation is in the inbox, and what is to be sent of it in the
// outbox; filed again, it changes nothing. What a message holds is stored before it is handed out, so that after a
// crash the same is sent again under the same id, and nothing is in two messages. A message is over when its receiver
// has taken it, or when it was given up: after three days, or because the receiver refuses it. Nothing is sent before
// it is due. A channel has one message under way, and a receiver two, so that one that is down delays its own alone. Of
// those that are due, the urgencies 3, 2 and 1 are handed out in the proportion 8:3:1.
//
// Mails of accounts, with a link that works for an hour, come composed, and pass in memory: before all else, and sent
// again for an hour. The item that brought one ends when it is known what came of it, and learns that, a
// [delivery.Result]. One that is not taken though that may pass was not sent for an hour, or until the run was over or
// reloaded. A run that is ended gives back what waits as not done.
//
// The stage queue keeps items, too, but knows no time before which one may not come out.
package outbox

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/broadcast"
	"github.com/webrace/webrace/internal/urgency"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// Options of the stage.
type Options struct {
	URL    string            `toml:"url" doc:"where people read what they are told, for links in messages: https://alerts.example.org; empty: messages lead to the pages alone"`
	Leases int               `toml:"leases" doc:"how many messages may be out at once"`
	Keep   pipeline.Duration `toml:"keep" doc:"how long messages are remembered that were sent, or given up"`
}

var defaults = Options{Leases: 64, Keep: pipeline.Duration(30 * 24 * time.Hour)}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "outbox",
		Summary: "tells people: files annotations into their inboxes, and sends messages on their channels when they are due",
		Doc: "People are owners who have an account (`webrace-store account add`); nothing is done for others. Their channels are made in the web application (stage portal). A channel has one message at a time, of all that is due on it; those whose most urgent annotation is of urgency 3, 2 and 1 are sent in the proportion 8:3:1. The stage that sends it, mail-out or " +
			"http-out, tries once; it is sent again after a minute to six hours, for three days. A channel that has refused five messages in a row is stopped, and its owner is told on the others. " +
			"A mail of an account, with a link that confirms an address or sets a password, comes written, is sent before all else, and again for an hour, in which it is in memory alone: what emits it is told what came of it. " +
			"`filed` counts annotations, `taken`, `put_off` and `given_up` what came of messages.",
		In:    pipeline.Kinds(pipeline.KindOf[*xmlschema.ACI](), pipeline.KindOf[*webrace.Notice](), pipeline.KindOf[*delivery.Message]()),
		Out:   []pipeline.Port{{Kind: pipeline.KindOf[*delivery.Message](), Doc: "a message that is due"}},
		Queue: true,
		Whole: "a message could be under way in several parts at once",
		Needs: pipeline.NoParts,
	}, defaults, newStage)
}

// Validate refuses addresses that no link begins with, and numbers below one.
func (o Options) Validate() error {
	if u, err := url.Parse(o.URL); o.URL != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		return &pipeline.OptionError{Option: "url", Err: fmt.Errorf("%q is no http or https URL with a host", o.URL)}
	}
	switch {
	case o.Leases < 1:
		return &pipeline.OptionError{Option: "leases", Err: fmt.Errorf("%d is not at least 1", o.Leases)}
	case o.Keep <= 0:
		return &pipeline.OptionError{Option: "keep", Err: fmt.Errorf("%v is not more than 0", o.Keep)}
	}
	return nil
}

// Lends returns how many messages may be out at once.
func (o Options) Lends() (leases int, option string) { return o.Leases, "leases" }

// Waits says that mails of accounts may wait for those who take, so that it stands in no cycle.
func (o Options) Waits() (option string) { return "leases" }

type stage struct {
	options Options
	env     *pipeline.Env
	store   *control.Store
	now     func() time.Time

	filing    *gatherer[filed]
	recording *gatherer[ended]
	room      chan struct{} // for items that are being filed
	mailRoom  chan struct{} // for mails of accounts
	stop      context.CancelFunc
	closing   context.Context // ends when it is closed
	giveBack  context.CancelFunc
	cancelled sync.Once // the run's context is watched
	trimming  sync.WaitGroup
	watching  sync.WaitGroup // of mails of accounts
	changed   broadcast.Cond // there may be something to hand out, or nothing more

	mu        sync.Mutex
	mails     []*mail // of accounts, that wait or are out, in the order in which they came
	ready     lanes
	turns     urgency.Turns    // of the lanes
	known     map[string]bool  // the ids of messages that are out, until it is stored what came of them
	out       int              // how many are, with mails of accounts
	sending   map[int64]bool   // channels that have one
	busy      map[string]int   // how many are out, by their receivers' hosts
	hosts     map[int64]string // of channels, as they were last
	stale     bool             // more may be due in the store than is ready
	back      map[string]bool  // the ids of messages that came back while the store is being looked into; else nil
	lookAgain time.Time        // for what is due, while something is ready
	lookIdle  time.Time        // for what is due, while nothing is; by the clock of the machine
	more      bool             // the last look left some that are due
	sealed    bool
}

var (
	_ pipeline.Queue  = (*stage)(nil)
	_ pipeline.Opener = (*stage)(nil)
	_ pipeline.Closer = (*stage)(nil)
	_ pipeline.Lender = Options{}
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	dir, err := pipeline.Resource[*storage.Dir](env)
	if err != nil {
		return nil, err
	}
	store, err := dir.Control()
	if err != nil {
		return nil, err
	}
	return &stage{
		options: o, env: env, store: store, now: time.Now, room: make(chan struct{}, 4*mostTogether), mailRoom: make(chan struct{}, mostMails), stale: true,
		known: make(map[string]bool), sending: make(map[int64]bool), busy: make(map[string]int), hosts: make(map[int64]string),
	}, nil
}

// Open begins to file and to record.
func (s *stage) Open(context.Context) error {
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.closing, s.giveBack = context.WithCancel(ctx)
	s.filing = gather(func(all []filed) { s.file(ctx, all) })
	s.recording = gather(func(all []ended) { s.record(ctx, all) })
	now := s.now()
	s.trimming.Go(s.env.Guard(func() { s.keepTrimming(ctx, now) }))
	return nil
}

// closesWithin is how long the store may take over what is left.
const closesWithin = 10 * time.Second

// Close waits until what was handed in is filed, and what came of messages recorded. Where the store cannot be written,
// what is left comes again in the next run. Mails that wait are given back.
func (s *stage) Close() error {
	if s.stop == nil {
		return nil
	}
	defer time.AfterFunc(closesWithin, s.stop).Stop()
	s.giveBack()
	s.watching.Wait()
	s.filing.close()
	s.recording.close()
	s.stop()
	s.trimming.Wait()
	return nil
}

// trimEvery is how often messages are removed that are older than they are to be kept.
const trimEvery = time.Hour

func (s *stage) keepTrimming(ctx context.Context, now time.Time) {
	ticker := time.NewTicker(trimEvery)
	defer ticker.Stop()
	for {
		if _, err := s.store.TrimMessages(ctx, now.Add(-time.Duration(s.options.Keep))); err != nil && ctx.Err() == nil {
			s.env.Logger.Warn("old messages are not removed", "error", err)
		}
		select {
		case <-ticker.C:
			now = s.now()
		case <-ctx.Done():
			return
		}
	}
}

// Seal tells that nothing more will come.
func (s *stage) Seal() {
	s.filing.wait() // what is being filed may be due
	s.mu.Lock()
	s.sealed = true
	s.mu.Unlock()
	s.mayBeDue()
}
