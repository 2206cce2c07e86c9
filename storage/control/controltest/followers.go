package controltest

import (
	"errors"
	"time"

	"github.com/webrace/webrace/storage/control"
)

func cursorsAreKept(s *session) {
	for _, c := range []struct {
		name     string
		position int64
	}{{"mail", 41}, {"mail", 42}, {"p/a", 1}, {"p/b", 2}, {"pq/a", 3}, {"_/a", 4}, {"%/a", 5}, {"λ/a", 6}} {
		s.ok(s.store.SetCursor(s.ctx, c.name, c.position))
	}
	s.reopen()
	cursor := func(name string) int64 {
		position, err := s.store.Cursor(s.ctx, name)
		s.ok(err)
		return position
	}
	s.same("cursor", cursor("mail"), 42)
	s.same("cursor that was never set", cursor("none"), 0)
	for prefix, want := range map[string]map[string]int64{"p/": {"a": 1, "b": 2}, "_/": {"a": 4}, "%/": {"a": 5}, "λ": {"/a": 6}, "none": {}} {
		cursors, err := s.store.Cursors(s.ctx, prefix)
		s.ok(err)
		s.same("cursors "+prefix, cursors, want)
	}
	s.ok(s.store.DropCursor(s.ctx, "mail"))
	s.ok(s.store.DropCursor(s.ctx, "mail"))
	s.reopen()
	s.same("cursor that was dropped", cursor("mail"), 0)
	s.same("another", cursor("p/a"), 1)
}

func lettersAreKept(s *session) {
	first := control.DeadLetter{
		ID: "z", Time: time.Unix(5, 7).UTC(), Pipeline: "p", Stage: "s", Error: "a: b", Attempts: 3, Kind: "document", Item: []byte(`{"URL":"http://a.example/"}`),
	}
	for _, l := range []control.DeadLetter{first, {ID: "a", Pipeline: "p", Stage: "s", Item: []byte("{}")}, {ID: "b", Pipeline: "p", Item: []byte("{}")}} {
		_, err := s.store.PutDeadLetter(s.ctx, l)
		s.ok(err)
	}
	s.must(errors.Is(s.store.MarkReplay(s.ctx, "a", "none"), control.ErrNotFound), "marking what is not there is no error")
	s.same("replays after a failure", len(all(s, s.store.Replays(s.ctx, "p"))), 0)
	s.ok(s.store.MarkReplay(s.ctx, "b"))
	s.reopen()
	s.same("letters, oldest first", letterIDs(all(s, s.store.DeadLetters(s.ctx))), "[z a b]")
	kept, err := s.store.DeadLetter(s.ctx, "z")
	s.ok(err)
	s.same("letter", kept, first)
	replays := all(s, s.store.Replays(s.ctx, "p"))
	s.must(len(replays) == 1 && replays[0].ID == "b", "replays: %+v", replays)
	s.ok(s.store.DeleteDeadLetter(s.ctx, "b"))
	_, err = s.store.DeadLetter(s.ctx, "b")
	s.must(errors.Is(err, control.ErrNotFound), "reading what was deleted: %v", err)
	s.must(errors.Is(s.store.DeleteDeadLetter(s.ctx, "b"), control.ErrNotFound), "deleting twice is no error")
	first.Attempts = 4
	s.ok(s.store.MarkReplay(s.ctx, "z"))
	_, err = s.store.PutDeadLetter(s.ctx, first) // it failed again
	s.ok(err)
	given, err := s.store.PutDeadLetter(s.ctx, control.DeadLetter{Item: []byte("{}")})
	s.must(err == nil && given != "", "a letter without an id gets %q, %v", given, err)
	s.same("letters left", letterIDs(all(s, s.store.DeadLetters(s.ctx))), []string{"z", "a", given})
	s.same("replays after it failed again", len(all(s, s.store.Replays(s.ctx, "p"))), 0)
	kept, err = s.store.DeadLetter(s.ctx, "z")
	s.ok(err)
	s.same("the letter that failed again", kept, first)
}

func letterIDs(letters []control.DeadLetter) (names []string) {
	for _, l := range letters {
		names = append(names, l.ID)
	}
	return names
}
