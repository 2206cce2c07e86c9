package control_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// writing is a call of a method that writes. What it returns is told as text, without what is made anew each time.
type writing struct {
	method string
	call   func(context.Context, *control.Store) (any, error)
}

func only(call func(context.Context, *control.Store) error) func(context.Context, *control.Store) (any, error) {
	return func(ctx context.Context, s *control.Store) (any, error) { return nil, call(ctx, s) }
}

func putting(urds ...*xmlschema.URD) func(context.Context, *control.Store) (any, error) {
	return func(ctx context.Context, s *control.Store) (any, error) { return s.Put(ctx, urds) }
}

func telling(acis ...*xmlschema.ACI) func(context.Context, *control.Store) (any, error) {
	return func(ctx context.Context, s *control.Store) (any, error) {
		stored, err := s.PutACIs(ctx, acis)
		return fmt.Sprint(stored.Added, stored.Withheld, stored.Mirrors, len(stored.New)), err
	}
}

func taking(ctx context.Context, s *control.Store) (any, error) {
	taken, err := s.Take(ctx, "eleni")
	return numbers(taken), err
}

// of is an ACI for an owner.
func of(owner, name string) *xmlschema.ACI {
	a := told(name)
	a.Owner = owner
	return a
}

// showing is an ACI of a document that shows a text.
func showing(name string, text uint64) *xmlschema.ACI {
	a := told(name)
	a.Docbase.Shown, a.Docbase.Matched = text, text
	return a
}

// channelOf returns the number of eleni's only channel: a server gives the next where a transaction was repeated.
func channelOf(ctx context.Context, s *control.Store) int64 {
	for c, err := range s.ChannelsOf(ctx, "eleni") {
		if err == nil {
			return c.N
		}
	}
	return 0
}

// writings call every method that writes, each with something to do.
func writings(t *testing.T) []writing {
	changed := urd("a", "eleni", "http://a.example/", "java")
	day := "2026-11-21"
	later := time.Now().Add(time.Hour)
	return []writing{
		{"Put", putting(urd("a", "eleni", "http://a.example/", "ibm"), urd("b", "eleni", "http://b.example/"))},
		{"Put", putting(changed, urd("c", "eleni", "http://c.example/"))},
		{"Add", func(ctx context.Context, s *control.Store) (any, error) {
			return s.Of("eleni").Add(ctx, urd("", "eleni", "http://added.example/", "ibm"))
		}},
		{"Change", func(ctx context.Context, s *control.Store) (any, error) {
			return s.Change(ctx, []string{"b", "c"}, func(u *xmlschema.URD) error { u.Title += "x"; return nil })
		}},
		{"Change", func(ctx context.Context, s *control.Store) (any, error) {
			return s.Of("eleni").Change(ctx, []string{"c"}, func(u *xmlschema.URD) error { u.Title += "x"; return nil })
		}},
		{"Delete", only(func(ctx context.Context, s *control.Store) error { return s.Delete(ctx, "b") })},
		{"CheckNow", only(func(ctx context.Context, s *control.Store) error { return s.CheckNow(ctx, "a") })},
		{"PutACIs", telling(of("eleni", "one"), of("eleni", "two"), showing("text", 7), showing("mirror", 7))},
		{"PutEachACI", only(func(ctx context.Context, s *control.Store) error {
			stored, err := s.PutEachACI(ctx, []*xmlschema.ACI{showing("each", 7)})
			if err == nil && stored.Added != 1 {
				err = fmt.Errorf("%+v", stored)
			}
			return err
		})},
		{"ReplaceACI", only(func(ctx context.Context, s *control.Store) error {
			mended := of("eleni", "two")
			mended.Title = "Mended"
			return s.ReplaceACI(ctx, mended)
		})},
		{"Take", taking},
		{"PutACIs", telling(of("eleni", "three"))},
		{"Take", taking},
		{"PutACIs", telling(of("eleni", "some"), of("eleni", "more"))},
		{"Take", func(ctx context.Context, s *control.Store) (any, error) {
			taken, more, err := s.Of("eleni").Take(ctx, 1)
			return fmt.Sprint(numbers(taken), more), err
		}},
		{"Take", taking},
		{"SetQuota", only(func(ctx context.Context, s *control.Store) error { return s.SetQuota(ctx, "eleni", 7) })},
		{"SetBudget", only(func(ctx context.Context, s *control.Store) error {
			return s.SetBudget(ctx, "eleni", &control.Budget{Alerts: 3})
		})},
		{"PutACIs", telling(of("eleni", "beyond"), of("costas", "four"))},
		{"Notices", func(ctx context.Context, s *control.Store) (any, error) {
			notices, err := s.Notices(ctx, "eleni")
			return len(notices), err
		}},
		{"AddUsage", only(func(ctx context.Context, s *control.Store) error {
			return s.AddUsage(ctx, day, map[string]float64{"eleni": 1.5}, map[string]int64{"meter": 1})
		})},
		{"AddUsage", only(func(ctx context.Context, s *control.Store) error {
			return s.AddUsage(ctx, day, map[string]float64{"eleni": 0.25}, map[string]int64{"meter": 2})
		})},
		{"Expire", func(ctx context.Context, s *control.Store) (any, error) { return s.Expire(ctx, time.Now()) }},
		{"Trim", func(ctx context.Context, s *control.Store) (any, error) {
			return s.Trim(ctx, time.Now().Add(time.Hour))
		}},
		{"SetSecret", only(func(ctx context.Context, s *control.Store) error {
			return s.SetSecret(ctx, "bank", secret(t, credentials.KindBasic, "eleni", hush))
		})},
		{"SetSecret", only(func(ctx context.Context, s *control.Store) error {
			return s.SetSecret(ctx, "shop", secret(t, credentials.KindBasic, "eleni", hush))
		})},
		{"SetSession", only(func(ctx context.Context, s *control.Store) error { return s.SetSession(ctx, "bank", "cookies") })},
		{"RotateKey", func(ctx context.Context, s *control.Store) (any, error) { return s.RotateKey(ctx) }},
		{"DeleteSecret", only(func(ctx context.Context, s *control.Store) error { return s.DeleteSecret(ctx, "shop", false) })},
		{"SetCursor", only(func(ctx context.Context, s *control.Store) error { return s.SetCursor(ctx, "x", 5) })},
		{"DropCursor", only(func(ctx context.Context, s *control.Store) error { return s.DropCursor(ctx, "x") })},
		{"PutDeadLetter", func(ctx context.Context, s *control.Store) (any, error) {
			id, err := s.PutDeadLetter(ctx, control.DeadLetter{Pipeline: "p", Item: []byte("{}")})
			return id != "", err
		}},
		{"PutDeadLetter", func(ctx context.Context, s *control.Store) (any, error) {
			return s.PutDeadLetter(ctx, control.DeadLetter{ID: "a", Pipeline: "p", Item: []byte("{}")})
		}},
		{"MarkReplay", only(func(ctx context.Context, s *control.Store) error { return s.MarkReplay(ctx, "a") })},
		{"DeleteDeadLetter", only(func(ctx context.Context, s *control.Store) error { return s.DeleteDeadLetter(ctx, "a") })},
		{"AddAccount", only(func(ctx context.Context, s *control.Store) error {
			return s.AddAccount(ctx, control.Account{Owner: "eleni", State: control.AccountInvited}, true)
		})},
		{"SetPassword", only(func(ctx context.Context, s *control.Store) error { return s.SetPassword(ctx, "eleni", "hash") })},
		{"ChangeAccount", only(func(ctx context.Context, s *control.Store) error {
			return s.ChangeAccount(ctx, "eleni", func(a *control.Account) error { a.Mail += "x"; return nil })
		})},
		{"AddToken", only(func(ctx context.Context, s *control.Store) error {
			return s.AddToken(ctx, "link", control.Token{Owner: "eleni", Purpose: control.PurposeReset, Expires: later})
		})},
		{"UseToken", func(ctx context.Context, s *control.Store) (any, error) {
			token, err := s.UseToken(ctx, "link", control.PurposeReset)
			return token.Owner, err
		}},
		{"AddToken", only(func(ctx context.Context, s *control.Store) error {
			return s.AddToken(ctx, "program", control.Token{Owner: "eleni", Purpose: control.PurposeAPI, Expires: later})
		})},
		{"DeleteToken", only(func(ctx context.Context, s *control.Store) error {
			for token, err := range s.Of("eleni").Tokens(ctx, control.PurposeAPI) {
				return errors.Join(err, s.Of("eleni").DeleteToken(ctx, token.ID))
			}
			return control.ErrNotFound
		})},
		{"AddToken", only(func(ctx context.Context, s *control.Store) error {
			return s.Of("eleni").AddToken(ctx, "address", control.Token{Purpose: control.PurposeConfirm, Expires: later})
		})},
		{"UseToken", func(ctx context.Context, s *control.Store) (any, error) {
			token, err := s.Of("eleni").UseToken(ctx, "address", control.PurposeConfirm)
			return token.Owner, err
		}},
		{"ChangeAccount", only(func(ctx context.Context, s *control.Store) error {
			return s.Of("eleni").ChangeAccount(ctx, func(a *control.Account) error { a.Mail += "y"; return nil })
		})},
		{"SetPassword", only(func(ctx context.Context, s *control.Store) error { return s.Of("eleni").SetPassword(ctx, "another") })},
		{"PutWebSession", only(func(ctx context.Context, s *control.Store) error {
			return s.PutWebSession(ctx, control.WebSession{Hash: "a", Owner: "eleni", Expires: later})
		})},
		{"EndWebSessions", func(ctx context.Context, s *control.Store) (any, error) {
			return s.Of("eleni").EndWebSessions(ctx, "a", false)
		}},
		{"DeleteWebSession", only(func(ctx context.Context, s *control.Store) error { return s.DeleteWebSession(ctx, "a") })},
		{"GrantSecret", only(func(ctx context.Context, s *control.Store) error { return s.GrantSecret(ctx, "bank", "eleni") })},
		{"RevokeSecret", only(func(ctx context.Context, s *control.Store) error { return s.RevokeSecret(ctx, "bank", "eleni") })},
		{"AddChannel", func(ctx context.Context, s *control.Store) (any, error) {
			n, err := s.Of("eleni").AddChannel(ctx, control.Channel{Kind: control.ChannelMail, Name: "mail", State: control.ChannelActive})
			return n > 0, err
		}},
		{"ChangeChannel", only(func(ctx context.Context, s *control.Store) error {
			return s.Of("eleni").ChangeChannel(ctx, control.Channel{N: channelOf(ctx, s), Kind: control.ChannelMail, Name: "post", State: control.ChannelActive})
		})},
		{"PutACIs", telling(of("eleni", "five"))},
		{"SetBudget", only(func(ctx context.Context, s *control.Store) error { return s.SetBudget(ctx, "eleni", nil) })},
		{"PutACIs", telling(of("eleni", "six"))},
		{"File", func(ctx context.Context, s *control.Store) (any, error) {
			return s.File(ctx, []control.Filing{{ID: "six", Entries: []control.Entry{{Channel: channelOf(ctx, s)}}}})
		}},
		{"Mark", func(ctx context.Context, s *control.Store) (any, error) {
			last, err := s.LastACI(ctx)
			if err != nil {
				return nil, err
			}
			return s.Of("eleni").Mark(ctx, control.Useful, last)
		}},
		{"PutEntry", only(func(ctx context.Context, s *control.Store) error {
			return s.PutEntry(ctx, control.Entry{Channel: channelOf(ctx, s), Key: "notice"})
		})},
		{"Compose", func(ctx context.Context, s *control.Store) (any, error) {
			made, err := s.Compose(ctx, time.Now(), 9, func(_ int64, keys []string) string { return keys[1] })
			return len(made), err
		}},
		{"Attempted", func(ctx context.Context, s *control.Store) (any, error) {
			return s.Attempted(ctx, control.Attempt{Message: "notice", Said: "no"})
		}},
		{"SendAgain", only(func(ctx context.Context, s *control.Store) error { return s.SendAgain(ctx, "notice") })},
		{"SendAgain", only(func(ctx context.Context, s *control.Store) error {
			if _, err := s.Attempted(ctx, control.Attempt{Message: "notice", Said: "no"}); err != nil {
				return err
			}
			return s.Of("eleni").SendAgain(ctx, "notice")
		})},
		{"Attempted", func(ctx context.Context, s *control.Store) (any, error) {
			return s.Attempted(ctx, control.Attempt{Message: "notice", Taken: true})
		}},
		{"TrimMessages", func(ctx context.Context, s *control.Store) (any, error) { return s.TrimMessages(ctx, later) }},
		{"DeleteChannel", only(func(ctx context.Context, s *control.Store) error {
			return s.Of("eleni").DeleteChannel(ctx, channelOf(ctx, s))
		})},
		{"Leave", only(func(ctx context.Context, s *control.Store) error { return s.Of("eleni").Leave(ctx) })},
		{"EraseOwner", func(ctx context.Context, s *control.Store) (any, error) { return s.EraseOwner(ctx, "eleni") }},
	}
}

// readings are the methods that write nothing, or what no store keeps.
var readings = strings.Fields(`ACIs Account AccountByMail Accounts All AllChannels AllTimesSince Asked Backup Budget ByCrawl ByHost ByOwner Channel
	ChannelsOf Check Close Copied Cursor Cursors DeadLetter DeadLetters DeadMessages DueMessages EntriesOf Get Grants IDsByCrawl Keep LastACI
	Messages MirrorOf NextACIs NextChange NextDue Now Of Owners Password Query Quota Referred RenewSecret Replays RequestOf Revised Revision
	Secret SecretVersion Secrets Session SourceOf StartOf TimesSince ToldBy Token UnknownSecrets Usage UsageOf VersionsTold Waiting WaitingEntries WebSession Withheld WithheldOn`)

// ownReadings are those of [control.Owned].
var ownReadings = strings.Fields("ACIs Account Channel Channels Counts EntriesIn EntriesOf Inbox InboxCounts Item Messages Owner Password Secrets Token Tokens URD URDs WaitingEntries WebSessions Withheld")

// picture tells what a store holds, without what is made anew each time.
func picture(t *testing.T, s *control.Store) string {
	t.Helper()
	var all strings.Builder
	ctx := t.Context()
	for r, err := range s.Revised(ctx, 0) {
		ok(t, err)
		fmt.Fprintln(&all, "revision", r.Number, r.ID, r.URD != nil && !r.URD.CheckAsked.IsZero(), r.URD != nil && r.URD.Title == "xx")
	}
	for a, err := range s.ACIs(ctx, control.Filter{}) {
		ok(t, err)
		fmt.Fprintln(&all, "ACI", a.Seq, a.ID, a.Title, a.Also, a.Expired, a.Retrieved.IsZero())
	}
	for a, err := range s.Withheld(ctx, "") {
		ok(t, err)
		fmt.Fprintln(&all, "withheld", a.ID)
	}
	for o, err := range s.Owners(ctx) {
		ok(t, err)
		budget, err := s.Budget(ctx, o.Name)
		ok(t, err)
		fmt.Fprintln(&all, "owner", o, budget)
	}
	for i, err := range s.Secrets(ctx) {
		ok(t, err)
		session, err := s.Session(ctx, i.Name)
		ok(t, err)
		fmt.Fprintln(&all, "secret", i.Name, i.Kind, i.Unreadable, session)
	}
	for l, err := range s.DeadLetters(ctx) {
		ok(t, err)
		fmt.Fprintln(&all, "letter", l.Pipeline, l.Replay)
	}
	for a, err := range s.Accounts(ctx) {
		ok(t, err)
		counts, latest, err := s.Of(a.Owner).Counts(ctx)
		ok(t, err)
		hash, err := s.Password(ctx, a.Owner)
		ok(t, err)
		fmt.Fprintln(&all, "account", a.Owner, a.State, a.Mail, hash, counts, latest, a.Seen.IsZero(), len(gather(t, s.Of(a.Owner).WebSessions(ctx))),
			len(gather(t, s.Of(a.Owner).Tokens(ctx, control.PurposeAPI))), len(gather(t, s.Of(a.Owner).Tokens(ctx, control.PurposeReset))))
	}
	for c, err := range s.ChannelsOf(ctx, "eleni") {
		ok(t, err)
		fmt.Fprintln(&all, "channel", c.Name, c.State, c.Failures, c.Said)
	}
	for m, err := range s.Messages(ctx) {
		ok(t, err)
		fmt.Fprintln(&all, "message", m.ID, m.State, m.Attempts, m.Said, len(gather(t, s.EntriesOf(ctx, m.ID))))
	}
	fmt.Fprintln(&all, gather(t, s.Grants(ctx)))
	now, err := s.Now(ctx)
	ok(t, err)
	used, err := s.Usage(ctx, "2026-11-21")
	ok(t, err)
	cursors, err := s.Cursors(ctx, "")
	ok(t, err)
	last, err := s.LastACI(ctx)
	ok(t, err)
	fmt.Fprintln(&all, now, used, cursors, last)
	return all.String()
}

// Where a connection breaks while a transaction is committed, what was called does what it does once, and returns that.
func TestAwayAnswersAreLost(t *testing.T) {
	t.Parallel()
	type outcome struct{ method, returned, held string }
	var want []outcome
	undisturbed := onSQLite(t).store(t)
	for _, w := range writings(t) {
		returned, err := w.call(t.Context(), undisturbed)
		ok(t, err)
		want = append(want, outcome{w.method, fmt.Sprint(returned), picture(t, undisturbed)})
	}
	server := postgres.New(t, postgres.Options{})
	for name, lose := range map[string]func(p *postgres.Proxy, cuts *atomic.Int64){
		"the answer": func(p *postgres.Proxy, cuts *atomic.Int64) {
			p.AtAnswer(func() bool { return cuts.Add(1) <= 3 }) // a store that repeats what was done comes to an end, too
		},
		"the commit": func(p *postgres.Proxy, cuts *atomic.Int64) {
			p.AtCommit(func() bool { return cuts.Add(1) == 1 })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := postgres.NewProxy(t, server)
			s := onPostgres(t, proxy.URL(t, server.Database(t))).store(t)
			var cuts atomic.Int64
			lose(proxy, &cuts)
			for i, w := range writings(t) {
				cuts.Store(0)
				returned, err := w.call(t.Context(), s)
				got := outcome{w.method, fmt.Sprint(returned), picture(t, s)}
				if err != nil || got != want[i] {
					t.Fatalf("got %+v, %v, want %+v", got, err, want[i])
				}
				if cuts.Load() == 0 {
					t.Errorf("%s committed nothing", w.method)
				}
			}
		})
	}
}

func TestAwayIsTriedOnEveryMethodThatWrites(t *testing.T) {
	t.Parallel()
	tried := make(map[string]bool)
	for _, w := range writings(t) {
		tried[w.method] = true
	}
	for method := range reflect.TypeFor[*control.Store]().Methods() {
		if tried[method.Name] == slices.Contains(readings, method.Name) {
			t.Errorf("%s: is it one that writes?", method.Name)
		}
	}
	for method := range reflect.TypeFor[control.Owned]().Methods() {
		if tried[method.Name] == slices.Contains(ownReadings, method.Name) {
			t.Errorf("%s of what is owned: is it one that writes?", method.Name)
		}
	}
}

// A server that is killed may give the number of a transaction that it has lost to another, which commits.
func TestAwayACommitIsNotTakenForAnothers(t *testing.T) {
	t.Parallel()
	server := postgres.New(t, postgres.Options{})
	proxy := postgres.NewProxy(t, server)
	database := server.Database(t)
	b := onPostgres(t, database)
	other := b.store(t)
	s := onPostgres(t, proxy.URL(t, database)).store(t)
	const day = "2026-11-21"
	var once atomic.Bool
	others := make(chan struct{})
	proxy.AtCommit(func() bool {
		if once.Swap(true) {
			return false
		}
		defer close(others)
		server.Kill(t)
		server.Start(t)
		for range 10 {
			if err := other.AddUsage(t.Context(), day, map[string]float64{"costas": 1}, nil); err != nil {
				t.Error(err)
			}
		}
		return true
	})
	ok(t, s.AddUsage(t.Context(), day, map[string]float64{"eleni": 1}, nil))
	<-others
	used, err := other.Usage(t.Context(), day)
	ok(t, err)
	if used["eleni"] != 1 || used["costas"] != 10 {
		t.Errorf("used: %v", used)
	}
}
