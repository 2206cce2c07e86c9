package control_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/fsck"
)

// fillAccount gives an owner an account, and something of all that goes with it. The ACIs are in the store.
func fillAccount(t *testing.T, s *control.Store, owner string, seqs ...int64) {
	t.Helper()
	ctx, mine := t.Context(), s.Of(owner)
	later := time.Now().Add(time.Hour)
	ok(t, s.AddAccount(ctx, control.Account{Owner: owner, State: control.AccountInvited, Mail: owner + "@mail.example", Profile: []byte(`{"of":"` + owner + `"}`)}, true))
	ok(t, s.SetPassword(ctx, owner, "hash of "+owner))
	ok(t, s.AddToken(ctx, "token", control.Token{Owner: owner, Purpose: control.PurposeAPI, Data: []byte(owner), Expires: later}))
	ok(t, s.PutWebSession(ctx, control.WebSession{Hash: "session", Owner: owner, Agent: owner + "'s browser", Data: []byte(owner), Expires: later}))
	shop, err := credentials.NewSecret(credentials.KindBasic, owner, hush)
	ok(t, err)
	ok(t, mine.SetSecret(ctx, "shop", shop))
	ok(t, s.SetSecret(ctx, "lent", shop))
	ok(t, s.GrantSecret(ctx, "lent", owner))
	names := make(map[int64]string)
	for _, a := range gather(t, s.ACIs(ctx, control.Filter{})) {
		names[a.Seq] = a.ID
	}
	var filings []control.Filing
	for _, kind := range []control.ChannelKind{control.ChannelMail, control.ChannelWebhook} {
		n, err := mine.AddChannel(ctx, control.Channel{Kind: kind, Name: string(kind) + " of " + owner, Address: channel.NewAddress(owner+"@box.example", "key"),
			Settings: []byte(owner), State: control.ChannelActive})
		ok(t, err)
		for _, seq := range seqs {
			filings = append(filings, control.Filing{ID: names[seq], Relevance: 50, Urgency: 2, Entries: []control.Entry{{Channel: n, Due: time.Unix(1e9, 0)}}})
		}
		ok(t, s.PutEntry(ctx, control.Entry{Channel: n, Key: "notice", Body: []byte("to " + owner), Due: time.Unix(1e9, 0)}))
	}
	_, err = s.File(ctx, filings) // where they are inherited, nothing is to be sent of them
	ok(t, err)
	_, err = s.Compose(ctx, time.Now(), 1, func(channel int64, keys []string) string { return fmt.Sprint(channel, keys) })
	ok(t, err)
}

// As the tables were before there were accounts: statements for each engine.
const beforeAccounts = `DROP TABLE %[1]saccount; DROP TABLE %[1]sweb_session; DROP TABLE %[1]stoken; DROP TABLE %[1]schannel; DROP TABLE %[1]sinbox_item;
	DROP TABLE %[1]soutbox; DROP TABLE %[1]smessage; DROP TABLE %[1]ssecret_grant; ALTER TABLE %[1]ssecret DROP COLUMN owner; `

func TestAStoreOfBeforeThereWereAccountsOpens(t *testing.T) {
	t.Parallel()
	for name, older := range map[string]func(t *testing.T) (backend, func()){
		"SQLite": func(t *testing.T) (backend, func()) {
			path := filepath.Join(t.TempDir(), "control.db")
			return backend{open: func(o control.Options) (*control.Store, error) { return control.Open(path, o) }},
				func() { execute(t, path, fmt.Sprintf(beforeAccounts, "")+"PRAGMA user_version = 7") }
		},
		"PostgreSQL": func(t *testing.T) (backend, func()) {
			database := postgres.Database(t)
			return onPostgres(t, database), func() {
				db, err := sql.Open("pgx", database)
				ok(t, err)
				_, err = db.Exec(fmt.Sprintf(beforeAccounts, "webrace.") + "UPDATE webrace.counter SET value = 7 WHERE name = 'version'; DELETE FROM webrace.counter WHERE name IN ('accounts', 'outbox')")
				ok(t, errors.Join(err, db.Close()))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, makeOlder := older(t)
			s, err := at.open(control.Options{})
			ok(t, err)
			put(t, s, urd("a", "a", "http://a.example/"))
			putACIs(t, s, of("a", "one"))
			ok(t, s.SetSecret(t.Context(), "site", secret(t, credentials.KindBasic, "a", hush)))
			want := contents(t, s)
			ok(t, s.Close())
			makeOlder()
			for range 2 {
				s, err = at.open(control.Options{})
				ok(t, err)
				if diff := cmp.Diff(want, contents(t, s)); diff != "" {
					t.Error(diff)
				}
				if found := fsckOf(t, s, false); len(found) > 0 {
					t.Errorf("found %v", found)
				}
				ok(t, s.Close())
			}
			s, err = at.open(control.Options{})
			ok(t, err)
			fillAccount(t, s, "a", 1)
			ok(t, s.Close())
		})
	}
}

// Who opens an older database at the same time finds it whole, and none of it made twice.
func TestAnOlderDatabaseIsMigratedOnce(t *testing.T) {
	t.Parallel()
	database := postgres.Database(t)
	at := onPostgres(t, database)
	first, err := at.open(control.Options{})
	ok(t, err)
	ok(t, first.Close())
	db, err := sql.Open("pgx", database)
	ok(t, err)
	_, err = db.Exec(fmt.Sprintf(beforeAccounts, "webrace.") + "UPDATE webrace.counter SET value = 7 WHERE name = 'version'; DELETE FROM webrace.counter WHERE name IN ('accounts', 'outbox')")
	ok(t, errors.Join(err, db.Close()))
	opened := make(chan error, 4)
	for range cap(opened) {
		go func() {
			s, err := at.open(control.Options{})
			if err == nil {
				err = errors.Join(s.AddAccount(t.Context(), control.Account{Owner: fmt.Sprintf("%p", s), State: control.AccountActive}, false), s.Close())
			}
			opened <- err
		}()
	}
	for range cap(opened) {
		ok(t, <-opened)
	}
}

func TestEveryDamageOfAccountsIsFoundAndRepaired(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ damage, kind string }{
		"an inbox of nothing":     {"INSERT INTO inbox_item VALUES (999, 'andreas', 'unread', 1, 1)", "orphan in an inbox"},
		"an inbox of another":     {"INSERT INTO account SELECT 'x', state, admin, '', password, profile, since, created, seen FROM account; UPDATE inbox_item SET owner = 'x'", "ACI in another's inbox"},
		"an inbox of nobody":      {"DELETE FROM account", "inbox without an account"},
		"a session of nobody":     {"UPDATE web_session SET owner = 'x'", "web session without an account"},
		"a token of nobody":       {"UPDATE token SET owner = 'x'", "token without an account"},
		"a channel of nobody":     {"UPDATE channel SET owner = 'x'", "channel without an account"},
		"a message of no channel": {"DELETE FROM channel", "orphan message"},
		"entries of no channel":   {"DELETE FROM channel; DELETE FROM message", "orphan in the outbox"},
		"no messages":             {"DELETE FROM message", "lost message"},
		"a grant of no secret":    {"DELETE FROM secret WHERE name = 'lent'", "grant of no secret"},
		"no index":                {"DROP INDEX account_mail", "half-applied migration"},
		"no table":                {"DROP TABLE message", "half-applied migration"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filled(t)
			s := openAt(t, path)
			ok(t, s.SetSecret(t.Context(), "unrelated", secret(t, credentials.KindBasic, "eleni", hush)))
			fillAccount(t, s, "eleni", 11)
			if found := fsckOf(t, s, false); len(found) > 0 {
				t.Fatalf("before the damage: %v", found)
			}
			ok(t, s.Close())
			execute(t, path, c.damage)
			s = openAt(t, path)
			for _, repair := range []bool{false, true} {
				found := fsckOf(t, s, repair)
				if !slices.ContainsFunc(found, func(f fsck.Finding) bool { return f.Kind == c.kind }) {
					t.Errorf("repair %v: found %v, want %s", repair, found, c.kind)
				}
			}
			fsckOf(t, s, true) // what one repair leaves orphaned
			if found := fsckOf(t, s, false); len(found) > 0 {
				t.Errorf("after the repair: %v", found)
			}
		})
	}
	path := filled(t)
	s := openAt(t, path)
	fillAccount(t, s, "eleni", 11)
	ok(t, s.Close())
	execute(t, path, "UPDATE channel SET owner = 'andreas' WHERE n = 1; INSERT INTO account SELECT 'andreas', state, admin, '', password, profile, since, created, seen FROM account")
	s = openAt(t, path)
	found := fsckOf(t, s, true)
	if len(found) != 1 || found[0].Kind != control.UnreadableSecret || found[0].Repaired {
		t.Errorf("an address that was moved to another owner's channel: %v", found)
	}
}

// When an owner is erased no file of the store holds what was theirs.
func TestErasedOwnersAreInNoFile(t *testing.T) {
	t.Parallel()
	const marker = "mArKeR"
	dir := t.TempDir()
	s := openAt(t, filepath.Join(dir, "control.db"))
	ctx := t.Context()
	gone, kept := marker+"-owner", "kept-owner"
	inFiles := func(text string) (in []string) {
		files, err := os.ReadDir(dir)
		ok(t, err)
		for _, f := range files {
			content, err := os.ReadFile(filepath.Join(dir, f.Name()))
			ok(t, err)
			if strings.Contains(strings.ToLower(string(content)), strings.ToLower(text)) {
				in = append(in, f.Name())
			}
		}
		return in
	}
	for i, owner := range []string{gone, kept} {
		u := urd("", owner, "http://a.example/"+owner, "word-"+owner)
		put(t, s, u)
		for n := range 60 { // more than a page
			a := aci(100*i + n)
			a.Owner, a.URI, a.Title, a.Summary = owner, "http://a.example/"+owner, "about "+owner, strings.Repeat(owner+" ", 50)
			putACIs(t, s, a)
			a.Summary = "another " + owner
			ok(t, s.ReplaceACI(ctx, a))
		}
		ok(t, s.AddUsage(ctx, "2026-11-21", map[string]float64{owner: 1}, nil))
		ok(t, s.SetQuota(ctx, owner, 9))
		ok(t, s.SetBudget(ctx, owner, &control.Budget{Alerts: 1}))
		more := aci(500 + i)
		more.Owner = owner
		putACIs(t, s, more)
		_, err := s.Notices(ctx, owner)
		ok(t, err)
	}
	fillAccount(t, s, gone, 1, 2, 3)
	if len(inFiles(marker)) == 0 {
		t.Fatal("nothing of it was there")
	}
	erased, err := s.EraseOwner(ctx, gone)
	ok(t, err)
	if erased.URDs != 1 || erased.ACIs != 60 || erased.Channels != 2 || erased.Secrets != 1 {
		t.Errorf("erased %+v", erased)
	}
	if in := inFiles(marker); len(in) > 0 {
		t.Errorf("it is still in %v", in)
	}
	if len(inFiles(kept)) == 0 || len(gather(t, s.ACIs(ctx, control.Filter{Owner: kept}))) != 60 {
		t.Error("another was erased with it")
	}
	if found := fsckOf(t, s, false); len(found) > 0 {
		t.Errorf("found %v", found)
	}
}

// Whoever adds a table with something of an owner has it erased, too.
func TestEveryTableWithOwnersIsErased(t *testing.T) {
	t.Parallel()
	tables, err := os.ReadFile("tables.sql")
	ok(t, err)
	code, err := os.ReadFile("erase.go")
	ok(t, err)
	for _, made := range regexp.MustCompile(`(?s)CREATE TABLE (\w+) \([^;]*?\bowner +TEXT`).FindAllSubmatch(tables, -1) {
		if table := string(made[1]); table != "urd" && !strings.Contains(string(code), `"`+table+`"`) && !strings.Contains(string(code), "DELETE FROM "+table+" ") {
			t.Errorf("table %s has owners, and erasing one leaves its rows", table)
		}
	}
}
