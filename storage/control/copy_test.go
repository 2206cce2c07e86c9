package control_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// contents is all that can be asked of a store.
func contents(t *testing.T, s *control.Store) (lines []string) {
	t.Helper()
	ctx := t.Context()
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	one := func(v any, err error) {
		t.Helper()
		ok(t, err)
		add("%+v", v)
	}
	for _, u := range gather(t, s.All(ctx)) {
		add("URD %+v revision %d interest %d checked %v", *u.URD, u.Revision, u.Interest, u.CheckAsked)
	}
	for _, r := range gather(t, s.Revised(ctx, 0)) {
		add("revision %d of %s", r.Number, r.ID)
	}
	for _, a := range gather(t, s.ACIs(ctx, control.Filter{})) {
		add("ACI %d %+v retrieved %v", a.Seq, *a.ACI, a.Retrieved)
	}
	for _, a := range gather(t, s.Withheld(ctx, "")) {
		add("withheld %+v", *a.ACI)
	}
	for _, l := range gather(t, s.DeadLetters(ctx)) {
		add("letter %+v", l)
	}
	for _, o := range gather(t, s.Owners(ctx)) {
		add("owner %+v", o)
	}
	for _, i := range gather(t, s.Secrets(ctx)) {
		add("secret %+v", i)
	}
	for _, a := range gather(t, s.Accounts(ctx)) {
		add("account %+v", a)
		mine := s.Of(a.Owner)
		for _, i := range gather(t, mine.Inbox(ctx, control.InboxFilter{})) {
			add("inbox %d %s", i.Seq, i.State)
		}
		for _, c := range gather(t, mine.Channels(ctx)) {
			add("channel %+v at %s", c, c.Address.Reveal())
		}
		add("%+v", gather(t, mine.WebSessions(ctx)))
		add("%+v", gather(t, mine.Tokens(ctx, control.PurposeAPI)))
		one(s.Password(ctx, a.Owner))
	}
	for _, m := range gather(t, s.Messages(ctx)) {
		add("message %+v of %+v", m, gather(t, s.EntriesOf(ctx, m.ID)))
	}
	add("%+v", gather(t, s.Grants(ctx)))
	one(s.Now(ctx))
	one(s.LastACI(ctx))
	one(s.Cursors(ctx, ""))
	one(s.Usage(ctx, "2026-11-28"))
	one(s.Budget(ctx, "a"))
	secret, err := s.Secret(ctx, "site")
	ok(t, err)
	name, value := secret.Reveal()
	add("%s %s", name, value)
	return lines
}

// fill puts something into every table of a store.
func fill(t *testing.T, s *control.Store) {
	t.Helper()
	ctx := t.Context()
	var urds []*xmlschema.URD
	for i := range 200 {
		u := &xmlschema.URD{URI: fmt.Sprintf("https://host%d.example/", i%7), Owner: string(rune('a' + i%3)), ID: fmt.Sprintf("u%d", i)}
		u.Keywords.Keywords = []xmlschema.Keyword{{Key: "word", Weight: 1}, {Key: fmt.Sprintf("w%d", i), Weight: 2}}
		urds = append(urds, u)
	}
	_, err := s.Put(ctx, urds)
	ok(t, err)
	ok(t, s.Delete(ctx, "u3"))
	ok(t, s.CheckNow(ctx, "u4"))
	ok(t, s.SetBudget(ctx, "b", &control.Budget{Alerts: 2}))
	ok(t, s.SetQuota(ctx, "a", 5))
	for i := range 100 {
		a := aci(i)
		a.Owner = string(rune('a' + i%3))
		a.Docbase.Shown, a.Docbase.Matched, a.Docbase.Likeness = uint64(i%40+1), uint64(i%40+1), uint64(i)<<40
		putACIs(t, s, a)
	}
	_, err = s.Take(ctx, "c")
	ok(t, err)
	_, err = s.Trim(ctx, time.Now()) // no later: what is withheld is of the day until midnight
	ok(t, err)
	_, err = s.Notices(ctx, "b")
	ok(t, err)
	secret, err := credentials.NewSecret(credentials.KindBasic, "me", "hidden")
	ok(t, err)
	ok(t, s.SetSecret(ctx, "site", secret))
	ok(t, s.AddUsage(ctx, "2026-11-28", map[string]float64{"a": 1.25, "b": 1. / 3}, map[string]int64{"x/y": 7}))
	for i := range 3 {
		l := control.DeadLetter{ID: fmt.Sprint("l", 3-i), Error: "it failed", Kind: "url", Item: []byte(`"x"`), Replay: i == 1, Time: time.Unix(1, int64(i)).UTC()}
		_, err := s.PutDeadLetter(ctx, l)
		ok(t, err)
	}
	last, err := s.LastACI(ctx)
	ok(t, err)
	for a, err := range s.ACIs(ctx, control.Filter{After: last - 1}) {
		ok(t, err)
		fillAccount(t, s, a.Owner, a.Seq)
	}
}

// A store is copied to another engine and back, into an empty one alone, and goes on as if nothing had happened.
func TestAStoreIsCopiedToAnotherEngineAndBack(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	server := postgres.New(t, postgres.Options{})
	ctx := t.Context()
	dir := t.TempDir()
	path, keyFile := filepath.Join(dir, "control.db"), filepath.Join(dir, control.KeyFile)
	from := openAt(t, path)
	fill(t, from)
	want := contents(t, from)

	there, err := control.OpenPostgres(context.Background(), server.Database(t), keyFile, control.Options{})
	ok(t, err)
	defer there.Close()
	counts, err := control.CopyAll(ctx, from, there)
	ok(t, err)
	if counts.URDs != 199 || counts.ACIs == 0 || counts.Withheld == 0 || counts.Secrets != 3 || counts.DeadLetters != 3 || counts.Cursors == 0 {
		t.Errorf("%+v", counts)
	}
	if diff := cmp.Diff(want, contents(t, there)); diff != "" {
		t.Errorf("copied to PostgreSQL:\n%s", diff)
	}
	if is, err := control.IsCopyOf(ctx, there, path); err != nil || !is {
		t.Errorf("a copy of %s: %v, %v", path, is, err)
	}

	back := filepath.Join(dir, "back.db")
	ok(t, there.Backup(ctx, back))
	again := openAt(t, back)
	if diff := cmp.Diff(want, contents(t, again)); diff != "" {
		t.Errorf("copied back:\n%s", diff)
	}
	if is, err := control.IsCopyOf(ctx, there, back); err != nil || is {
		t.Errorf("a copy of another file: %v, %v", is, err)
	}
	var filled *control.NotEmptyError
	if _, err := control.CopyAll(ctx, again, there); !errors.As(err, &filled) {
		t.Errorf("copied over what there is: %v", err)
	}

	ok(t, from.SetCursor(ctx, "a/b", 1))
	if is, err := control.IsCopyOf(ctx, there, path); err != nil || is {
		t.Errorf("a copy of what has changed since: %v, %v", is, err)
	}
	ok(t, from.DropCursor(ctx, "a/b"))

	// What was told before is not told again, and what comes next comes next, on all three.
	for _, s := range []*control.Store{from, there, again} {
		for i := range 100 {
			a := aci(i)
			a.Owner = string(rune('a' + i%3))
			a.Docbase.Shown, a.Docbase.Matched, a.Docbase.Likeness = uint64(i%40+1), uint64(i%40+1), uint64(i)<<40
			if added := putACIs(t, s, a); added != 0 {
				t.Errorf("%s is told again", a.ID)
			}
		}
		putACIs(t, s, aci(1000))
		_, err := s.PutDeadLetter(ctx, control.DeadLetter{ID: "last"})
		ok(t, err)
		ok(t, s.Delete(ctx, "u5"))
	}
	want = contents(t, from)
	for _, s := range []*control.Store{there, again} {
		if diff := cmp.Diff(want, contents(t, s)); diff != "" {
			t.Errorf("going on:\n%s", diff)
		}
	}
}
