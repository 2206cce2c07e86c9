package outbox

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// world is a data directory with people in it, and an outbox at a time of its own.
type world struct {
	t     *testing.T
	dir   *storage.Dir
	store *control.Store
	stage *stage
	now   time.Time
	acis  int
}

func newWorld(t *testing.T, now time.Time) *world {
	t.Helper()
	dir, err := storage.Open(t.TempDir(), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	store, err := dir.Control()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, store: store, now: now}
	w.start(defaults)
	t.Cleanup(func() {
		w.ok(w.stage.Close())
		w.ok(dir.Close())
	})
	return w
}

func (w *world) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) resources() *pipeline.Resources {
	r := new(pipeline.Resources)
	pipeline.Provide(r, w.dir)
	return r
}

// start makes a new outbox, as after a crash: of the one before, nothing that it had in memory is left.
func (w *world) start(o Options) {
	w.t.Helper()
	if w.stage != nil {
		w.ok(w.stage.Close())
	}
	made, err := newStage(o, pipeline.NewEnv("tell", "outbox", w.resources()))
	w.ok(err)
	w.stage = made.(*stage)
	w.stage.now = func() time.Time { return w.now }
	w.ok(w.stage.Open(w.t.Context()))
}

// person adds an account with a channel by mail that is set so, and returns the channel's number.
func (w *world) person(owner, settings string) int64 {
	w.t.Helper()
	w.ok(w.store.AddAccount(w.t.Context(), control.Account{Owner: owner, State: control.AccountActive}, true))
	return w.channel(owner, "mail", control.ChannelMail, owner+"@"+owner+".example", settings)
}

func (w *world) channel(owner, name string, kind control.ChannelKind, to, settings string) int64 {
	w.t.Helper()
	n, err := w.store.Of(owner).AddChannel(w.t.Context(), control.Channel{
		Kind: kind, Name: name, Address: channel.NewAddress(to, "key"), Settings: []byte(settings), State: control.ChannelActive,
	})
	w.ok(err)
	return n
}

// aci stores a new annotation for an owner, and puts it into the outbox.
func (w *world) aci(owner string, urgency int) *xmlschema.ACI {
	w.t.Helper()
	w.acis++
	a := &xmlschema.ACI{
		ID: fmt.Sprint("a", w.acis), URD: "u", Owner: owner, URI: fmt.Sprintf("http://a.example/%d", w.acis), Title: fmt.Sprint("Title ", w.acis),
		Format: xmlschema.FormatHTML, Relevance: 70, Urgency: urgency, UpdateTime: w.now, Docbase: xmlschema.Docbase{Version: 1},
	}
	_, err := w.store.PutACIs(w.t.Context(), []*xmlschema.ACI{a})
	w.ok(err)
	w.put(a)
	return a
}

func (w *world) put(values ...any) {
	w.t.Helper()
	for _, v := range values {
		w.ok(w.stage.Put(w.t.Context(), &pipeline.Item{Value: v}))
	}
	w.stage.filing.wait()
}

// take returns the messages that may be handed out now.
func (w *world) take() (all []pipeline.Lease) {
	w.t.Helper()
	w.stage.mayBeDue() // as the timer of Take says
	w.stage.lookIdle = time.Time{}
	for {
		l, err := w.stage.next(w.t.Context())
		w.ok(err)
		if l == nil {
			return all
		}
		all = append(all, l)
	}
}

// end ends leases with what came of them, and waits until that is stored.
func (w *world) end(r delivery.Result, all ...pipeline.Lease) {
	for _, l := range all {
		l.Done(pipeline.Outcome{Learned: []any{r}})
	}
	w.stage.recording.wait()
}

func messageOf(l pipeline.Lease) *delivery.Message { return l.Item().Value.(*delivery.Message) }

// titles returns which annotations a mail tells of, in its order.
func titles(l pipeline.Lease) string {
	var told []string
	for line := range strings.Lines(messageOf(l).Text) {
		if _, title, is := strings.Cut(line, "Title "); is {
			told = append(told, strings.TrimSpace(title))
		}
	}
	return strings.Join(told, " ")
}
