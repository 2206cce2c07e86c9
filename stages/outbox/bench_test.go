package outbox

import (
	"fmt"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
)

// BenchmarkMessages hands out messages of one entry on 1,000 channels with a receiver each, and has them recorded as
// taken, as fast as a sender would be that takes no time.
func BenchmarkMessages(b *testing.B) {
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	dir, err := storage.Open(b.TempDir(), storage.Options{})
	must(err)
	defer dir.Close()
	store, err := dir.Control()
	must(err)
	var channels []int64
	for i := range 1000 {
		owner := fmt.Sprint("owner", i)
		must(store.AddAccount(b.Context(), control.Account{Owner: owner, State: control.AccountActive}, false))
		n, err := store.Of(owner).AddChannel(b.Context(), control.Channel{
			Kind: control.ChannelWebhook, Name: "hook", Address: channel.NewAddress(fmt.Sprintf("https://host%d.example/x", i), "key"), State: control.ChannelActive,
		})
		must(err)
		channels = append(channels, n)
	}
	r := new(pipeline.Resources)
	pipeline.Provide(r, dir)
	made, err := newStage(defaults, pipeline.NewEnv("tell", "outbox", r))
	must(err)
	s := made.(*stage)
	must(s.Open(b.Context()))
	defer s.Close()
	for i := range b.N {
		must(store.PutEntry(b.Context(), control.Entry{Channel: channels[i%len(channels)], Key: fmt.Sprint(i), Body: []byte(`{"title": "Told", "url": "https://a.example/"}`), Due: time.Unix(1, 0)}))
	}
	s.mayBeDue()
	b.ResetTimer()
	entries := 0
	for entries < b.N {
		l, err := s.Take(b.Context())
		must(err)
		entries += messageIn(l.(*lease)).Entries
		l.Done(pipeline.Outcome{Learned: []any{delivery.Result{Taken: true}}})
	}
	b.StopTimer()
	s.recording.wait()
}
