package controltest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// channel adds an active one, by mail.
func (s *session) channel(o control.Owned, name string) int64 {
	n, err := o.AddChannel(s.ctx, control.Channel{Kind: control.ChannelMail, Name: name, Address: channel.NewAddress(name+"@a.example", "key"), State: control.ChannelActive})
	s.ok(err)
	return n
}

// file files ACIs on channels, due at once, and returns how many were new.
func (s *session) file(seqs []int64, channels ...int64) int {
	names := make(map[int64]string)
	for _, a := range all(s, s.store.ACIs(s.ctx, control.Filter{})) {
		names[a.Seq] = a.ID
	}
	var filings []control.Filing
	for _, seq := range seqs {
		f := control.Filing{ID: names[seq], Relevance: int(seq) % 3, Urgency: 1 + int(seq)%3}
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
	own, others := s.channel(eleni, "own"), s.channel(costas, "others")
	s.putACIs(aci(1, "eleni"), aci(2, "eleni"), aci(3, "costas"), aci(4, "nobody"), aci(5, "eleni"))
	late := s.channel(eleni, "late") // which tells of none of them
	s.same("filed", s.file([]int64{1, 2, 3, 4, 5, 99}, own, others, late, 77), 4)
	s.reopen()
	eleni, costas = s.store.Of("eleni"), s.store.Of("costas")
	s.same("filed again", s.file([]int64{1, 2, 3, 4, 5}, own), 0)
	s.same("inbox of eleni", items(all(s, eleni.Inbox(s.ctx, control.InboxFilter{}))), "5 unread, 2 unread, 1 unread")
	s.same("inbox of costas", items(all(s, costas.Inbox(s.ctx, control.InboxFilter{}))), "3 unread")
	s.same("a channel gets what is its owner's", s.compose(9), []string{fmt.Sprint(own, ": aci 1+aci 2+aci 5"), fmt.Sprint(others, ": aci 3")})

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
	counts, latest, err := eleni.Counts(s.ctx)
	s.ok(err)
	s.same("the latest", latest, int64(5))
	s.same("counts", counts, map[control.InboxState]int{control.Unread: 1, control.Useful: 1, control.Bin: 1})
	byURD, err := eleni.InboxCounts(s.ctx, "u", "another")
	s.ok(err)
	s.same("counts by URD", byURD, map[string]map[control.InboxState]int{"u": counts})
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

// compose makes messages of what is due, and returns for each its channel and keys, which are its id.
func (s *session) compose(most int) (made []string) {
	composed, err := s.store.Compose(s.ctx, time.Now(), most, func(channel int64, keys []string) string {
		return fmt.Sprint(channel, ": ", strings.Join(keys, "+"))
	})
	s.ok(err)
	for _, c := range composed {
		made = append(made, c.ID)
	}
	return made
}

func (s *session) attempt(attempts ...control.Attempt) []int64 {
	stopped, err := s.store.Attempted(s.ctx, attempts...)
	s.ok(err)
	return stopped
}

func messagesAreComposedOnce(s *session) {
	eleni, costas := s.account("eleni"), s.account("costas")
	n, other := s.channel(eleni, "mail"), s.channel(costas, "mail")
	s.putACIs(aci(1, "eleni"), aci(2, "eleni"), aci(3, "eleni"))
	s.file([]int64{1, 2}, n)
	entry := func(channel int64, key string, due time.Time) {
		s.ok(s.store.PutEntry(s.ctx, control.Entry{Channel: channel, Key: key, Body: []byte("told of " + key), Due: due}))
	}
	tomorrow := time.Now().Add(24 * time.Hour)
	entry(other, "notice", time.Unix(1e9+1, 0))
	entry(n, "notice", time.Unix(1e9, 0))
	entry(n, "notice", tomorrow)
	entry(n, "later", tomorrow)
	s.absent("an entry of no channel", s.store.PutEntry(s.ctx, control.Entry{Channel: 999, Key: "notice"}))
	next, err := s.store.NextDue(s.ctx, time.Now())
	s.ok(err)
	s.must(next.Equal(tomorrow), "what is due next is said to be at %v", next)

	waits := func(want, wantOther int) {
		waiting, err := s.store.WaitingEntries(s.ctx)
		s.ok(err)
		s.same("entries that wait", []int{waiting[n], waiting[other]}, []int{want, wantOther})
		hers, err := eleni.WaitingEntries(s.ctx)
		s.ok(err)
		s.same("entries that wait for eleni", []int{hers[n], hers[other]}, []int{want, 0})
	}
	waits(4, 1)
	m := fmt.Sprint(n, ": aci 1+aci 2+notice")
	s.same("composed, of what waits longest", s.compose(1), []string{m})
	waits(1, 1)
	s.same("composed of the rest", s.compose(9), []string{fmt.Sprint(other, ": notice")})
	s.same("composed twice", len(s.compose(9)), 0)
	s.reopen()
	eleni, costas = s.store.Of("eleni"), s.store.Of("costas")
	waiting := all(s, s.store.DueMessages(s.ctx, time.Now()))
	s.must(len(waiting) == 2 && waiting[0].ID == m && waiting[0].Channel == n && waiting[0].Attempts == 0, "after a crash there wait %+v", waiting)
	held := all(s, s.store.EntriesOf(s.ctx, m))
	s.must(len(held) == 3 && held[0].Seq == 1 && string(held[2].Body) == "told of notice", "it holds %+v", held)
	s.same("it holds for its owner", len(all(s, eleni.EntriesOf(s.ctx, m))), 3)
	s.same("it holds for another", len(all(s, costas.EntriesOf(s.ctx, m))), 0)
	theirs := []string{m, "none", fmt.Sprint(other, ": notice")}
	counts, err := eleni.EntriesIn(s.ctx, theirs...)
	s.ok(err)
	s.same("entries in eleni's", []int{len(counts), counts[m]}, []int{1, 3})
	counts, err = costas.EntriesIn(s.ctx, theirs...)
	s.ok(err)
	s.same("entries in costas's", []int{len(counts), counts[theirs[2]]}, []int{1, 1})
	s.same("it tells of", seqs(all(s, s.store.ToldBy(s.ctx, m, 9))), "[1 2]")
	s.same("it tells of one at most", seqs(all(s, s.store.ToldBy(s.ctx, m, 1))), "[1]")

	s.attempt(control.Attempt{Message: m, Again: time.Now(), Said: "no server", Untried: true})
	s.attempt(control.Attempt{Message: m, Again: tomorrow, Said: "busy"}, control.Attempt{Message: "none", Taken: true})
	s.same("due before its time", len(all(s, s.store.DueMessages(s.ctx, time.Now()))), 1)
	s.file([]int64{3}, n)
	s.same("composed while one waits", len(s.compose(9)), 0)
	s.attempt(control.Attempt{Message: m, Taken: true, Said: "thanks"})
	s.attempt(control.Attempt{Message: m, Said: "too late to refuse"})
	for _, a := range all(s, s.store.ACIs(s.ctx, control.Filter{})) {
		s.must(a.Retrieved.IsZero() == (a.Seq == 3), "ACI %d: retrieved %v", a.Seq, a.Retrieved)
	}
	mine := all(s, eleni.Messages(s.ctx))
	s.must(len(mine) == 1 && mine[0].State == control.MessageSent && mine[0].Attempts == 2 && mine[0].Said == "thanks" && !mine[0].Ended.IsZero(), "messages: %+v", mine)
	s.same("messages to costas", len(all(s, costas.Messages(s.ctx))), 1)
	s.absent("sending again what was taken", s.store.SendAgain(s.ctx, m))
	s.same("composed when it was taken", s.compose(9), []string{fmt.Sprint(n, ": aci 3")})

	s.same("trimmed", s.trimMessages(time.Now().Add(-time.Hour)), 0)
	s.same("trimmed", s.trimMessages(time.Now().Add(time.Hour)), 1)
	s.same("left", len(all(s, s.store.Messages(s.ctx))), 2)
	s.same("what it held", len(all(s, s.store.EntriesOf(s.ctx, m))), 0)
	s.same("filed again", s.file([]int64{1, 2}, n), 0)
}

func theUrgentIsComposedFirst(s *session) {
	owners := []control.Owned{s.account("eleni"), s.account("costas")}
	urgencies := make(map[int64]int)
	for i := range 30 {
		n := s.channel(owners[i/15], fmt.Sprint("c", i))
		urgencies[n] = 1 + i%3
		for urgency := range urgencies[n] + 1 { // the greatest counts
			s.ok(s.store.PutEntry(s.ctx, control.Entry{Channel: n, Key: fmt.Sprint(urgency), Urgency: urgency, Due: time.Unix(1e9+int64(i), 0)}))
		}
	}
	due := func() (order []int64, count [4]int) {
		for _, m := range all(s, s.store.DueMessages(s.ctx, time.Now())) {
			s.same("the urgency of a message", m.Urgency, urgencies[m.Channel])
			s.same("due", m.Due.Unix()-1e9, m.Channel-1)
			order = append(order, m.Channel)
			count[m.Urgency]++
		}
		return order, count
	}
	s.same("composed", len(s.compose(12)), 12)
	order, count := due()
	s.same("composed of each urgency", count, [4]int{0, 1, 3, 8})
	s.must(slices.IsSorted(order), "they are handed out in the order %v", order)
	s.same("composed", len(s.compose(99)), 18)
	_, count = due()
	s.same("composed of each urgency", count, [4]int{0, 10, 10, 10})
	s.ok(s.store.PutEntry(s.ctx, control.Entry{Channel: 1, Key: "later", Urgency: 3, Due: time.Now().Add(time.Hour)}))
	due()
	s.ok(s.store.PutEntry(s.ctx, control.Entry{Channel: 1, Key: "urgent", Urgency: 3, Due: time.Unix(1e9, 0)}))
	urgencies[1] = 3
	due()
}

func (s *session) trimMessages(before time.Time) int {
	n, err := s.store.TrimMessages(s.ctx, before)
	s.ok(err)
	return n
}

func refusingChannelsStop(s *session) {
	eleni := s.account("eleni")
	s.account("costas")
	n := s.channel(eleni, "mail")
	var ids []string
	for i := range 5 {
		s.ok(s.store.PutEntry(s.ctx, control.Entry{Channel: n, Key: fmt.Sprint(i), Due: time.Unix(1e9, 0)}))
		ids = append(ids, s.compose(1)...)
		s.attempt(control.Attempt{Message: ids[i], Again: time.Now(), Said: "busy"}) // which is no refusal
		stopped := s.attempt(control.Attempt{Message: ids[i], Said: "no such mailbox"})
		s.must((len(stopped) == 1 && stopped[0] == n) == (i == 4), "after %d messages that were refused %v are stopped", i+1, stopped)
	}
	s.reopen()
	eleni = s.store.Of("eleni")
	costas := s.store.Of("costas")
	is, err := eleni.Channel(s.ctx, n)
	s.ok(err)
	s.must(is.State == control.ChannelStopped && is.Failures == 5 && is.Said == "no such mailbox", "the channel: %+v", is)
	s.ok(s.store.PutEntry(s.ctx, control.Entry{Channel: n, Key: "waits", Due: time.Unix(1e9, 0)}))
	s.same("composed for what is stopped", len(s.compose(9)), 0)
	waiting, err := s.store.WaitingEntries(s.ctx)
	s.ok(err)
	s.same("entries that wait on what is stopped", waiting[n], 1)
	dead, err := s.store.DeadMessages(s.ctx)
	s.ok(err)
	s.same("messages that were given up", dead, map[int64]int{n: 5})
	is.State = control.ChannelActive
	s.ok(eleni.ChangeChannel(s.ctx, is))
	is, err = eleni.Channel(s.ctx, n)
	s.ok(err)
	s.same("failures of what goes on", is.Failures, 0)
	s.same("composed then", len(s.compose(9)), 1)

	s.absent("sending another's message again", costas.SendAgain(s.ctx, ids[0]))
	s.ok(eleni.SendAgain(s.ctx, ids[0]))
	s.absent("again what waits", eleni.SendAgain(s.ctx, ids[0]))
	s.same("waiting", len(all(s, s.store.DueMessages(s.ctx, time.Now()))), 2)
	s.attempt(control.Attempt{Message: ids[0], Taken: true})
	s.ok(s.store.SendAgain(s.ctx, ids[3]))
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
	made := s.compose(1)
	s.same("left while they are sent", trim(), "[1 2]")
	s.attempt(control.Attempt{Message: made[0], Taken: true})
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
	s.same("her ACIs", seqs(all(s, eleni.ACIs(s.ctx))), "[1]")
	s.same("his ACIs", len(all(s, costas.ACIs(s.ctx))), 0)
	s.same("ACIs of no name", len(all(s, s.store.Of("").ACIs(s.ctx))), 0)
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
