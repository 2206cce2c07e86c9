package control_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// withInboxes makes a store of owners with two channels each, and as many annotations in turn.
func withInboxes(b *testing.B, owners, acis int) (*control.Store, [][2]int64) {
	b.Helper()
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	s, err := control.Open(filepath.Join(b.TempDir(), "control.db"), control.Options{})
	must(err)
	b.Cleanup(func() { must(s.Close()) })
	channels := make([][2]int64, owners)
	for i := range owners {
		owner := fmt.Sprint("owner", i)
		must(s.AddAccount(b.Context(), control.Account{Owner: owner, State: control.AccountActive}, false))
		for j := range 2 {
			channels[i][j], err = s.Of(owner).AddChannel(b.Context(), control.Channel{
				Kind: control.ChannelMail, Name: fmt.Sprint(j), Address: channel.NewAddress("a@b.example", ""), State: control.ChannelActive,
			})
			must(err)
		}
	}
	for first := 0; first < acis; first += 1000 {
		var some []*xmlschema.ACI
		for n := first; n < min(first+1000, acis); n++ {
			a := aci(n)
			a.Owner = fmt.Sprint("owner", n%owners)
			some = append(some, a)
		}
		_, err := s.PutACIs(b.Context(), some)
		must(err)
	}
	return s, channels
}

// filings are those of annotations from one on, with an entry on each channel of their owners.
func filings(channels [][2]int64, first, n int) []control.Filing {
	all := make([]control.Filing, n)
	for i := range all {
		to := channels[(first+i)%len(channels)]
		all[i] = control.Filing{ID: fmt.Sprint("aci", first+i), Relevance: i % 100, Urgency: 1, Entries: []control.Entry{{Channel: to[0], Due: time.Unix(1, 0)}, {Channel: to[1], Due: time.Unix(1, 0)}}}
	}
	return all
}

// BenchmarkFile files annotations, with two entries in the outbox each, as the stage does: 512 at a time.
func BenchmarkFile(b *testing.B) {
	const together = 512
	s, channels := withInboxes(b, 100, b.N)
	b.ResetTimer()
	for first := 0; first < b.N; first += together {
		if _, err := s.File(b.Context(), filings(channels, first, min(together, b.N-first))); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkInbox reads the first page of an inbox of 10,000, in a store of 50,000.
func BenchmarkInbox(b *testing.B) {
	s, channels := withInboxes(b, 5, 50_000)
	for first := 0; first < 50_000; first += 1000 {
		if _, err := s.File(b.Context(), filings(channels, first, 1000)); err != nil {
			b.Fatal(err)
		}
	}
	for name, f := range map[string]control.InboxFilter{
		"newest":       {},
		"not in bin":   {States: []control.InboxState{control.Unread, control.Read, control.Useful, control.Useless}},
		"none useful":  {States: []control.InboxState{control.Useful}},
		"by relevance": {ByRelevance: true},
		"of a URD":     {URD: "u1"},
	} {
		f.Limit = 50
		b.Run(name, func(b *testing.B) {
			for range b.N {
				n := 0
				for _, err := range s.Of("owner1").Inbox(b.Context(), f) {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				if n != 50 && name != "none useful" {
					b.Fatal(n)
				}
			}
		})
	}
}
