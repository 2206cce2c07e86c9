// Package controltest proves of a control store what storage/control guarantees of its own: another backend
// that passes [Run] can take its place under the stages and commands.
package controltest

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/xmlschema"
	"github.com/webrace/webrace/xmlschema/httprequest"
)

// Store is what stages and commands use of a control store; the methods are those of [control.Store].
type Store interface {
	Put(ctx context.Context, urds []*xmlschema.URD) ([]control.Change, error)
	Change(ctx context.Context, ids []string, change func(*xmlschema.URD) error) ([]control.Change, error)
	Delete(ctx context.Context, id string) error
	Get(ctx context.Context, id string) (control.URD, error)
	All(ctx context.Context) iter.Seq2[control.URD, error]
	ByOwner(ctx context.Context, owner string) iter.Seq2[control.URD, error]
	ByHost(ctx context.Context, host string) iter.Seq2[control.URD, error]
	ByCrawl(ctx context.Context, ids ...string) iter.Seq2[control.URD, error]
	Query(ctx context.Context, expression string) iter.Seq2[control.URD, error]
	IDsByCrawl(ctx context.Context, owner string, crawls ...string) ([]string, error)
	StartOf(ctx context.Context, crawl string) (string, error)
	RequestOf(ctx context.Context, crawl string) (*httprequest.Request, error)
	SourceOf(ctx context.Context, crawl string) (start, secret string, err error)
	TimesSince(ctx context.Context, id string) (time.Time, error)
	AllTimesSince(ctx context.Context) (map[string]time.Time, error)
	Revision(ctx context.Context) (int64, error)
	Revised(ctx context.Context, since int64) iter.Seq2[control.Revision, error]
	Now(ctx context.Context) (control.Point, error)
	NextChange(ctx context.Context, after control.Point) (control.Point, error)
	CheckNow(ctx context.Context, id string) error
	Asked(ctx context.Context, since int64) iter.Seq2[control.URD, error]
	Keep(revision int64) *control.Copy
	Copied(ctx context.Context, revision int64) error

	PutACIs(ctx context.Context, acis []*xmlschema.ACI) (control.Stored, error)
	PutEachACI(ctx context.Context, acis []*xmlschema.ACI) (control.Stored, error)
	ReplaceACI(ctx context.Context, a *xmlschema.ACI) error
	MirrorOf(ctx context.Context, id string) (control.ACI, bool, error)
	ACIs(ctx context.Context, f control.Filter) iter.Seq2[control.ACI, error]
	Take(ctx context.Context, owner string) ([]control.ACI, error)
	NextACIs(ctx context.Context, after int64, limit int) ([]control.ACI, error)
	LastACI(ctx context.Context) (int64, error)
	VersionsTold(ctx context.Context, url string, after, before int) iter.Seq2[control.Told, error]
	Waiting(ctx context.Context, refs []control.VersionRef) (map[control.VersionRef]bool, error)
	Referred(ctx context.Context, refs []control.VersionRef) (map[control.VersionRef]bool, error)
	Expire(ctx context.Context, before time.Time) (int, error)
	Trim(ctx context.Context, before time.Time) (int, error)

	Owners(ctx context.Context) iter.Seq2[control.Owner, error]
	Quota(ctx context.Context, owner string) (int, error)
	SetQuota(ctx context.Context, owner string, requests int) error
	Budget(ctx context.Context, owner string) (control.Budget, error)
	SetBudget(ctx context.Context, owner string, b *control.Budget) error
	Withheld(ctx context.Context, owner string) iter.Seq2[control.ACI, error]
	WithheldOn(ctx context.Context, day time.Time) (map[string]int, error)
	Notices(ctx context.Context, owner string) ([]control.Notice, error)
	AddUsage(ctx context.Context, day string, usage map[string]float64, cursors map[string]int64) error
	UsageOf(ctx context.Context, owners, days []string) (map[string]map[string]float64, error)
	Usage(ctx context.Context, day string) (map[string]float64, error)

	SetSecret(ctx context.Context, name string, secret credentials.Secret) error
	Secret(ctx context.Context, name string) (credentials.Secret, error)
	Secrets(ctx context.Context) iter.Seq2[control.SecretInfo, error]
	DeleteSecret(ctx context.Context, name string, force bool) error
	UnknownSecrets(ctx context.Context, urds []*xmlschema.URD) ([]string, error)
	SecretVersion(name string) uint64
	RenewSecret(ctx context.Context, name string, version uint64) (bool, error)
	RotateKey(ctx context.Context) (int, error)
	Session(ctx context.Context, secret string) (string, error)
	SetSession(ctx context.Context, secret, cookies string) error

	GrantSecret(ctx context.Context, name, owner string) error
	RevokeSecret(ctx context.Context, name, owner string) error
	Grants(ctx context.Context) iter.Seq2[control.Grant, error]

	Of(owner string) control.Owned
	AddAccount(ctx context.Context, a control.Account, inherit bool) error
	Account(ctx context.Context, owner string) (control.Account, error)
	AccountByMail(ctx context.Context, mail string) (control.Account, error)
	Accounts(ctx context.Context) iter.Seq2[control.Account, error]
	ChangeAccount(ctx context.Context, owner string, change func(*control.Account) error) error
	Password(ctx context.Context, owner string) (string, error)
	SetPassword(ctx context.Context, owner, hash string) error
	EraseOwner(ctx context.Context, owner string) (control.Erased, error)
	AddToken(ctx context.Context, text string, t control.Token) error
	Token(ctx context.Context, text string, purpose control.Purpose) (control.Token, error)
	UseToken(ctx context.Context, text string, purpose control.Purpose) (control.Token, error)
	PutWebSession(ctx context.Context, w control.WebSession) error
	WebSession(ctx context.Context, hash string) (control.WebSession, error)
	DeleteWebSession(ctx context.Context, hash string) error

	ChannelsOf(ctx context.Context, owners ...string) iter.Seq2[control.Channel, error]
	Channel(ctx context.Context, n int64) (control.Channel, error)
	AllChannels(ctx context.Context) iter.Seq2[control.Channel, error]
	File(ctx context.Context, filings []control.Filing) (int, error)
	PutEntry(ctx context.Context, e control.Entry) error
	NextDue(ctx context.Context, after time.Time) (time.Time, error)
	WaitingEntries(ctx context.Context) (map[int64]int, error)
	DeadMessages(ctx context.Context) (map[int64]int, error)
	Compose(ctx context.Context, now time.Time, most int, name func(channel int64, keys []string) string) ([]control.Composed, error)
	EntriesOf(ctx context.Context, message string) iter.Seq2[control.Entry, error]
	DueMessages(ctx context.Context, now time.Time) iter.Seq2[control.DueMessage, error]
	Attempted(ctx context.Context, attempts ...control.Attempt) ([]int64, error)
	ToldBy(ctx context.Context, message string, most int) iter.Seq2[control.ACI, error]
	SendAgain(ctx context.Context, id string) error
	Messages(ctx context.Context) iter.Seq2[control.Message, error]
	TrimMessages(ctx context.Context, before time.Time) (int, error)

	Cursor(ctx context.Context, follower string) (int64, error)
	SetCursor(ctx context.Context, follower string, position int64) error
	DropCursor(ctx context.Context, follower string) error
	Cursors(ctx context.Context, prefix string) (map[string]int64, error)
	PutDeadLetter(ctx context.Context, l control.DeadLetter) (string, error)
	DeadLetter(ctx context.Context, id string) (control.DeadLetter, error)
	DeadLetters(ctx context.Context) iter.Seq2[control.DeadLetter, error]
	MarkReplay(ctx context.Context, ids ...string) error
	Replays(ctx context.Context, pipeline string) iter.Seq2[control.DeadLetter, error]
	DeleteDeadLetter(ctx context.Context, id string) error

	Check(ctx context.Context, repair bool, report fsck.Report) error
	Backup(ctx context.Context, to string) error
	Close() error
}

var _ Store = (*control.Store)(nil)

// Backend is where a store is kept. Each guarantee gets one of its own, empty at first.
type Backend interface {
	// Open opens the store, with what it kept. No other is open.
	Open() (Store, error)
}

// Run tests every guarantee, each on a new backend.
func Run(t *testing.T, newBackend func(t *testing.T) Backend) {
	for _, g := range guarantees {
		t.Run(g.name, func(t *testing.T) {
			if err := g.holds(t, newBackend(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

type guarantee struct {
	name string
	test func(*session)
}

// session is a test of one guarantee: its methods end it at the first thing that is wrong.
type session struct {
	ctx     context.Context
	dir     string // for the files of the test
	backend Backend
	store   Store
}

// failure is what a session panics with.
type failure struct{ error }

// holds tests one guarantee.
func (g guarantee) holds(t testing.TB, b Backend) (err error) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := &session{ctx: ctx, dir: t.TempDir(), backend: b}
	defer func() {
		switch f := recover().(type) {
		case nil:
		case failure:
			err = f.error
		default:
			panic(f)
		}
		if s.store != nil {
			s.store.Close()
		}
	}()
	s.reopen()
	g.test(s)
	return nil
}

// reopen closes the store and opens it again.
func (s *session) reopen() {
	if s.store != nil {
		s.ok(s.store.Close())
	}
	var err error
	s.store, err = s.backend.Open()
	s.ok(err)
}

func (s *session) ok(err error) { s.must(err == nil, "%v", err) }

func (s *session) must(holds bool, format string, args ...any) {
	if !holds {
		panic(failure{fmt.Errorf(format, args...)})
	}
}

// all gathers results.
func all[T any](s *session, results iter.Seq2[T, error]) (values []T) {
	for v, err := range results {
		s.ok(err)
		values = append(values, v)
	}
	return values
}

// same compares by how values are written.
func (s *session) same(what string, got, want any) {
	s.must(fmt.Sprintf("%v", got) == fmt.Sprintf("%v", want), "%s: %v, want %v", what, got, want)
}
