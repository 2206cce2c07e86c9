package nntp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil/inn"
)

// TestINN reads a server that others run, as its readers do: over TLS with an account, and without either.
func TestINN(t *testing.T) {
	t.Parallel()
	own := certificate(t)
	for name, o := range map[string]inn.Options{"with TLS and an account": {Certificate: &own, Account: true}, "for anybody": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := inn.New(t, o, "local.boats", "local.ferries")
			source := "nntp://" + s.Address + "/local.boats"
			r := newReader(t)
			if o.Account {
				if got := r.visit(source, nil); !strings.Contains(got.Visit.Error, "names no secret") {
					t.Errorf("without an account: %q, %v", got.Visit.Error, got.Err)
				}
				r.logsIn(s.Address, "another-password", false)
				if got := r.visit(source, nil); !strings.Contains(got.Visit.Error, "does not accept secret news") {
					t.Errorf("with another password: %q, %v", got.Visit.Error, got.Err)
				}
				r.logsIn(s.Address, inn.Password, false)
			}
			receives := func(from, to int) {
				t.Helper()
				for i := from; i <= to; i++ {
					s.Receive(t, post("local.boats", fmt.Sprint(i, "@a.example"), fmt.Sprint(i)))
				}
			}
			empty := r.visit(source, nil)
			if len(empty.Documents) != 0 || empty.Visit.Error != "" || empty.Err != nil {
				t.Fatalf("of an empty group: %q, %v", empty.Visit.Error, empty.Err)
			}
			receives(0, 6)
			s.Cancel(t, "5@a.example")
			r.options.Backlog = 3
			first := r.visit(source, nil)
			if first.subjects() != "3 4 6" {
				t.Fatalf("the first visit brings %s: %q, %v", first.subjects(), first.Visit.Error, first.Err)
			}
			if got := r.visit(source, empty); got.subjects() != "0 1 2 3 4 6" {
				t.Errorf("after an empty one: %s", got.subjects())
			}
			d := first.Documents[0]
			if d.URL != "news:3@a.example" || !strings.HasPrefix(string(d.Body), "Message-ID: <3@a.example>\r\n") || !strings.HasSuffix(string(d.Body), "\r\n\r\nText of 3.\r\n.\r\n..dots\r\n") || strings.Contains(string(d.Body), "Xref") {
				t.Errorf("%s: %q", d.URL, d.Body)
			}
			second := r.visit(source, first)
			if len(second.Documents) != 0 || second.Visit.Digest != first.Visit.Digest {
				t.Errorf("the second brings %s", second.subjects())
			}
			s.Receive(t, post("local.boats,local.ferries", "7@a.example", "7"))
			third := r.visit(source, second)
			if third.subjects() != "7" {
				t.Errorf("one more brings %s", third.subjects())
			}
			other := r.visit("nntp://"+s.Address+"/local.ferries", nil)
			if len(other.Documents) != 1 || other.Documents[0].URL != third.Documents[0].URL || string(other.Documents[0].Body) != string(third.Documents[0].Body) {
				t.Errorf("posted to both: %+v", other.Documents)
			}
			s.Remove(t, "local.boats")
			if got := r.visit(source, third); !strings.Contains(got.Visit.Error, "it has no such newsgroup") || string(got.Visit.State) != string(third.Visit.State) {
				t.Errorf("removed: %q", got.Visit.Error)
			}
			s.Create(t, "local.boats")
			receives(10, 14)
			if got := r.visit(source, third); got.subjects() != "12 13 14" || got.Counters["renumbered"] != 1 {
				t.Errorf("numbered anew: %s, %v", got.subjects(), got.Counters)
			}
			const posted = "trackposts" // the folder with a copy of each
			if said := s.Said(t); !strings.Contains(said, "Tracking Enabled") || strings.Contains(said, posted) {
				t.Errorf("said: %s", said)
			}
			if !o.Account {
				s.Post(t, post("local.boats", "15@a.example", "15"))
				if said := s.Said(t); !strings.Contains(said, posted) {
					t.Errorf("the server does not note who posts: %s", said)
				}
			}
		})
	}
}
