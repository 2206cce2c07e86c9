package controltest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// channel adds an active one, by mail.
func (s *session) channel(o control.Owned, name string) int64 {
	n, err := o.AddChannel(s.ctx, control.Channel{Kind: control.ChannelMail, Name: name, Address: control.NewAddress(name + "@a.example"), State: control.ChannelActive})
	s.ok(err)
	return n
}

// file files ACIs on channels, due at once, and returns how many were new.
func (s *session) file(seqs []int64, channels ...int64) int {
	var filings []control.Filing
	for _, seq := range seqs {
		f := control.Filing{Seq: seq, Relevance: int(seq) % 3, Urgency: 1 + int(seq)%3}
		for _, n := range channels {
			f.Entries = append(f.Entries, control.Entry{Channel: n, Due: time.Unix(1e9, 0)})
		}
		filings = append(filings, f)
	}
	n, err := s.store.File(s.ctx, filings)
	s.ok(err)
	return n
}

func items(found []control.InboxItem) string {
	var all []string
	for _, i := range found {
		all = append(all, fmt.Sprint(i.Seq, " ", i.State))
	}
	return strings.Join(all, ", ")
}

func annotationsAreFiledOnce(s *session) {
	eleni, costas := s.account("eleni"), s.account("costas")
	s.putACIs(aci(1, "eleni"), aci(2, "eleni"), aci(3, "costas"), aci(4, "nobody"), aci(5, "eleni"))
	own, others := s.channel(eleni, "own"), s.channel(costas, "others")
	s.same("filed", s.file([]int64{1, 2, 3, 4, 5, 99}, own, others, 77), 4)
	s.reopen()
	eleni, costas = s.store.Of("eleni"), s.store.Of("costas")
	s.same("filed again", s.file([]int64{1, 2, 3, 4, 5}, own), 0)
	s.same("inbox of eleni", items(all(s, eleni.Inbox(s.ctx, control.InboxFilter{}))), "5 unread, 2 unread, 1 unread")
	s.same("inbox of costas", items(all(s, costas.Inbox(s.ctx, control.InboxFilter{}))), "3 unread")
	var due []string
	for _, d := range all(s, s.store.DueChannels(s.ctx, time.Now())) {
		due = append(due, fmt.Sprint(d.Channel == own, " ", d.Entries, " ", d.Urgency))
	}
	s.same("due: a channel gets what is its owner's", due, "[true 3 3 false 1 1]")

	mark := func(state control.InboxState, want int, seqs ...int64) {
		n, err := eleni.Mark(s.ctx, state, seqs...)
		s.ok(err)
		s.same("marked "+string(state), n, want)
	}
	mark(control.Useful, 1, 2, 3, 99)
	mark(control.Bin, 1, 5)
	s.same("marked by another", items(all(s, costas.Inbox(s.ctx, control.InboxFilter{}))), "3 unread")
	_, err := eleni.Mark(s.ctx, "thrilled", 1)
	s.must(err != nil, "a mark that there is not is accepted")
	counts, err := eleni.Counts(s.ctx)
	s.ok(err)
	s.same("counts", counts, map[control.InboxState]int{control.Unread: 1, control.Useful: 1, control.Bin: 1})
	for _, c := range []struct {
		filter control.InboxFilter
		want   string
	}{
		{control.InboxFilter{}, "5 bin, 2 useful, 1 unread"},
		{control.InboxFilter{States: []control.InboxState{control.Unread, control.Useful}}, "2 useful, 1 unread"},
		{control.InboxFilter{States: []control.InboxState{control.Unread}}, "1 unread"},
		{control.InboxFilter{Limit: 1}, "5 bin"},
		{control.InboxFilter{Before: 5, Limit: 1}, "2 useful"},
		{control.InboxFilter{Urgency: 3}, "5 bin, 2 useful"},
		{control.InboxFilter{URD: "u", ByRelevance: true}, "5 bin, 2 useful, 1 unread"},
		{control.InboxFilter{URD: "other"}, ""},
	} {
		s.same(fmt.Sprintf("chosen by %+v", c.filter), items(all(s, eleni.Inbox(s.ctx, c.filter))), c.want)
	}
	item, err := eleni.Item(s.ctx, 2)
	s.ok(err)
	s.must(item.State == control.Useful && item.ID == "aci2" && !item.Retrieved.IsZero(), "what was read does not count as retrieved: %+v", item)
	item, err = eleni.Item(s.ctx, 1)
	s.ok(err)
	s.must(item.Retrieved.IsZero(), "what was not read counts as retrieved")
}

func messagesAreComposedOnce(s *session) {
	eleni := s.account("eleni")
	costas := s.account("costas")
	n := s.channel(eleni, "mail")
	s.putACIs(aci(1, "eleni"), aci(2, "eleni"), aci(3, "eleni"))
	s.file([]int64{1, 2}, n)
	s.ok(s.store.PutEntry(s.ctx, control.Entry{Channel: n, Key: "notice", Body: []byte("told"), Due: time.Unix(1e9, 0)}))
	s.ok(s.store.PutEntry(s.ctx, control.Entry{Channel: n, Key: "notice", Body: []byte("told again"), Due: time.Unix(1e9, 0)}))
	s.absent("an entry of no channel", s.store.PutEntry(s.ctx, control.Entry{Channel: 999, Key: "notice"}))
	tomorrow := time.Now().Add(24 * time.Hour)
	s.ok(s.store.PutEntry(s.ctx, control.Entry{Channel: n, Key: "later", Due: tomorrow}))
	next, err := s.store.NextDue(s.ctx, time.Now())
	s.ok(err)
	s.must(next.Equal(tomorrow), "what is due next is said to be at %v", next)

	waits := func(want int) {
		waiting, err := s.store.WaitingEntries(s.ctx)
		s.ok(err)
		s.same("entries that wait", waiting[n], want)
	}
	waits(4)
	name := func(keys []string) string { return strings.Join(keys, "+") }
	m, entries, err := s.store.Compose(s.ctx, n, time.Now(), name)
	s.ok(err)
	s.must(m.ID == "aci 1+aci 2+notice" && len(entries) == 3 && string(entries[2].Body) == "told" && entries[0].Seq == 1, "composed: %+v of %+v", m, entries)
	waits(1)
	again, none, err := s.store.Compose(s.ctx, n, time.Now(), name)
	s.ok(err)
	s.must(again.ID == "" && none == nil, "composed twice: %+v", again)
	s.reopen()
	eleni, costas = s.store.Of("eleni"), s.store.Of("costas")
	waiting := all(s, s.store.DueMessages(s.ctx, time.Now()))
	s.must(len(waiting) == 1 && waiting[0].ID == m.ID && waiting[0].Channel == n, "after a crash there wait %+v", waiting)
	s.same("what it holds", len(all(s, s.store.EntriesOf(s.ctx, m.ID))), 3)

	attempt := func(id string, a control.Attempt) bool {
		stopped, err := s.store.Attempted(s.ctx, id, a)
		s.ok(err)
		return stopped
	}
	attempt(m.ID, control.Attempt{Again: tomorrow, Said: "busy"})
	s.same("due before its time", len(all(s, s.store.DueMessages(s.ctx, time.Now()))), 0)
	again, _, err = s.store.Compose(s.ctx, n, time.Now(), name)
	s.ok(err)
	s.same("composed anew", again.ID, "")
	attempt(m.ID, control.Attempt{Taken: true, Said: "thanks"})
	_, err = s.store.Attempted(s.ctx, m.ID, control.Attempt{Taken: true})
	s.absent("an attempt at what has ended", err)
	for _, a := range all(s, s.store.ACIs(s.ctx, control.Filter{})) {
		s.must(a.Retrieved.IsZero() == (a.Seq == 3), "ACI %d: retrieved %v", a.Seq, a.Retrieved)
	}
	mine := all(s, eleni.Messages(s.ctx))
	s.must(len(mine) == 1 && mine[0].State == control.MessageSent && mine[0].Attempts == 2 && mine[0].Said == "thanks" && !mine[0].Ended.IsZero(), "messages: %+v", mine)
	s.same("messages to costas", len(all(s, costas.Messages(s.ctx))), 0)
	s.absent("sending again what was taken", s.store.SendAgain(s.ctx, m.ID))

	s.same("trimmed", s.trimMessages(time.Now().Add(-time.Hour)), 0)
	s.same("trimmed", s.trimMessages(time.Now().Add(time.Hour)), 1)
	s.same("left", len(all(s, s.store.Messages(s.ctx))), 0)
	s.same("what it held", len(all(s, s.store.EntriesOf(s.ctx, m.ID))), 0)
	s.same("filed again", s.file([]int64{1, 2}, n), 0)
	s.same("due", len(all(s, s.store.DueChannels(s.ctx, time.Now()))), 0)
}

func (s *session) trimMessages(before time.Time) int {
	n, err := s.store.TrimMessages(s.ctx, before)
	s.ok(err)
	return n
}

func refusingChannelsStop(s *session) {
	eleni, costas := s.account("eleni"), s.account("costas")
	n := s.channel(eleni, "mail")
	fail := func(i int) (id string, stopped bool) {
		s.ok(s.store.PutEntry(s.ctx, control.Entry{Channel: n, Key: fmt.Sprint(i), Due: time.Unix(1e9, 0)}))
		m, _, err := s.store.Compose(s.ctx, n, time.Now(), func(keys []string) string { return "m" + keys[0] })
		s.ok(err)
		stopped, err = s.store.Attempted(s.ctx, m.ID, control.Attempt{Said: "no such mailbox"})
		s.ok(err)
		return m.ID, stopped
	}
	for i := range 4 {
		_, stopped := fail(i)
		s.must(!stopped, "stopped after %d", i+1)
	}
	id, stopped := fail(4)
	s.must(stopped, "it goes on after five messages that were refused")
	s.reopen()
	eleni, costas = s.store.Of("eleni"), s.store.Of("costas")
	is, err := eleni.Channel(s.ctx, n)
	s.ok(err)
	s.must(is.State == control.ChannelStopped && is.Failures == 5 && is.Said == "no such mailbox", "the channel: %+v", is)
	s.ok(s.store.PutEntry(s.ctx, control.Entry{Channel: n, Key: "waits", Due: time.Unix(1e9, 0)}))
	s.same("due on what is stopped", len(all(s, s.store.DueChannels(s.ctx, time.Now()))), 0)
	waiting, err := s.store.WaitingEntries(s.ctx)
	s.ok(err)
	s.same("waiting on what is stopped", waiting[n], 1)
	m, _, err := s.store.Compose(s.ctx, n, time.Now(), func([]string) string { return "x" })
	s.ok(err)
	s.same("composed", m.ID, "")
	is.State = control.ChannelActive
	s.ok(eleni.ChangeChannel(s.ctx, is))
	is, err = eleni.Channel(s.ctx, n)
	s.ok(err)
	s.same("failures of what goes on", is.Failures, 0)
	s.same("due then", len(all(s, s.store.DueChannels(s.ctx, time.Now()))), 1)

	s.absent("sending another's message again", costas.SendAgain(s.ctx, id))
	s.ok(eleni.SendAgain(s.ctx, id))
	s.absent("again what waits", eleni.SendAgain(s.ctx, id))
	s.same("waiting", len(all(s, s.store.DueMessages(s.ctx, time.Now()))), 1)
	_, err = s.store.Attempted(s.ctx, id, control.Attempt{Taken: true})
	s.ok(err)
	s.ok(s.store.SendAgain(s.ctx, "m3"))
}

func whatIsToBeSentIsNotTrimmed(s *session) {
	eleni := s.account("eleni")
	n := s.channel(eleni, "mail")
	s.putACIs(aci(1, "eleni"), aci(2, "eleni"), aci(3, "eleni"))
	s.file([]int64{1, 2}, n)
	s.file([]int64{3})
	_, err := s.store.Take(s.ctx, "eleni")
	s.ok(err)
	trim := func() string {
		_, err := s.store.Trim(s.ctx, time.Now().Add(time.Hour))
		s.ok(err)
		s.same("in the inbox as in the store", len(all(s, eleni.Inbox(s.ctx, control.InboxFilter{}))), len(all(s, s.store.ACIs(s.ctx, control.Filter{}))))
		return fmt.Sprint(seqs(all(s, s.store.ACIs(s.ctx, control.Filter{}))))
	}
	s.same("left while two wait", trim(), "[1 2]")
	m, _, err := s.store.Compose(s.ctx, n, time.Now(), func([]string) string { return "m" })
	s.ok(err)
	s.same("left while they are sent", trim(), "[1 2]")
	_, err = s.store.Attempted(s.ctx, m.ID, control.Attempt{Taken: true})
	s.ok(err)
	s.same("left when they were", trim(), "[]")
	s.same("new when told again", s.putACIs(aci(1, "eleni"), aci(3, "eleni")), 0)
}

func nobodySeesAnothers(s *session) {
	eleni, costas := s.account("eleni"), s.account("costas")
	s.put(urd("a", "eleni", "http://a.example/"))
	s.putACIs(aci(1, "eleni"))
	s.ok(s.store.SetBudget(s.ctx, "eleni", &control.Budget{Alerts: 1}))
	s.putACIs(aci(2, "eleni"))
	s.file([]int64{1}, s.channel(eleni, "mail"))
	s.same("owner", costas.Owner(), "costas")
	got, err := eleni.URD(s.ctx, "a")
	s.ok(err)
	s.same("her URD", got.ID, "a")
	_, err = costas.URD(s.ctx, "a")
	s.absent("another's URD", err)
	_, err = costas.Item(s.ctx, 1)
	s.absent("another's ACI", err)
	s.absent("deleting another's URD", costas.Delete(s.ctx, "a"))
	s.absent("checking another's URD", costas.CheckNow(s.ctx, "a"))
	s.same("her URDs", len(all(s, eleni.URDs(s.ctx))), 1)
	s.same("his URDs", len(all(s, costas.URDs(s.ctx))), 0)
	s.same("withheld from her", len(all(s, eleni.Withheld(s.ctx))), 1)
	s.same("withheld from him", len(all(s, costas.Withheld(s.ctx))), 0)
	_, err = costas.Put(s.ctx, []*xmlschema.URD{urd("a", "eleni", "http://evil.example/")})
	s.must(err != nil && !errors.Is(err, control.ErrNotFound), "another's URD is replaced: %v", err)
	changes, err := costas.Put(s.ctx, []*xmlschema.URD{urd("b", "eleni", "http://b.example/")})
	s.ok(err)
	s.same("put", len(changes), 1)
	stored, err := s.store.Get(s.ctx, "b")
	s.ok(err)
	s.same("whose a URD is that he puts", stored.Owner, "costas")
	s.ok(costas.CheckNow(s.ctx, "b"))
	s.ok(costas.Delete(s.ctx, "b"))
	s.ok(eleni.Delete(s.ctx, "a"))
}
