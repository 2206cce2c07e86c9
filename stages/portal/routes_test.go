package portal

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// marker is in all that is the owner's: no answer to another may have it.
const marker = "kouklia"

// belongings are what an owner has, as routes name it.
type belongings struct {
	byPath map[string]string // what stands for the first {…} behind a beginning of a path
	ids    []string          // all of it
}

// belongingsOf makes an owner some of each kind of thing that has an id.
func belongingsOf(w *world, owner string) belongings {
	w.t.Helper()
	mine := w.store.Of(owner)
	urd := w.urd(owner, "https://"+marker+".example/"+fmt.Sprint(time.Now().UnixNano()), func(u *xmlschema.URD) { u.Title, u.Labels = marker, []string{marker} })
	item := w.aci(owner, urd, "Title "+marker)
	n, err := mine.AddChannel(w.t.Context(), control.Channel{
		Kind: control.ChannelWebhook, Name: marker + urd[:8], Address: channel.NewAddress("https://"+marker+".example/hook", "key"), State: control.ChannelActive,
	})
	w.ok(err)
	w.ok(w.store.PutEntry(w.t.Context(), control.Entry{Channel: n, Key: urd, Body: []byte(`{"title":"` + marker + `"}`), Due: time.Unix(1, 0)}))
	made, err := w.store.Compose(w.t.Context(), time.Now(), 100, func(n int64, _ []string) string { return fmt.Sprintf("message-%d-%s", n, urd) })
	w.ok(err)
	message := made[len(made)-1].ID
	_, err = w.store.Attempted(w.t.Context(), control.Attempt{Message: message, Said: "gone " + marker})
	w.ok(err)
	secret, err := credentials.NewSecret(credentials.KindHeader, "X-Key", marker)
	w.ok(err)
	w.ok(mine.SetSecret(w.t.Context(), marker, secret))
	b := belongings{byPath: map[string]string{
		"/a/": fmt.Sprint(item.Seq), "/interests/": urd, "/channels/": fmt.Sprint(n), "/deliveries/": message,
	}}
	b.ids = []string{fmt.Sprint(item.Seq), urd, fmt.Sprint(n), message, marker, control.SecretName(owner, marker)}
	for s, err := range mine.WebSessions(w.t.Context()) {
		w.ok(err)
		b.ids = append(b.ids, s.Hash)
	}
	return b
}

// pathOf returns the path of a route with the ids of what is somebody's, and whether there is one in it.
func (b belongings) pathOf(r route) (path string, has bool) {
	_, path, _ = strings.Cut(r.pattern, " ")
	path = strings.ReplaceAll(path, "{$}", "")
	for begin, id := range b.byPath {
		if rest, is := strings.CutPrefix(path, begin+"{"); is {
			_, rest, _ = strings.Cut(rest, "}")
			return begin + id + rest, true
		}
	}
	if r.admin != nil && strings.HasPrefix(r.pattern, "GET ") {
		path += "?owner=anna"
	}
	return path, false
}

// everything is what is stored of an owner, as a text to compare.
func everything(w *world, owner string) string {
	w.t.Helper()
	var b strings.Builder
	mine := w.store.Of(owner)
	for u, err := range mine.URDs(w.t.Context()) {
		w.ok(err)
		fmt.Fprintf(&b, "%s\n", u.Canonical())
	}
	for i, err := range mine.Inbox(w.t.Context(), control.InboxFilter{}) {
		w.ok(err)
		fmt.Fprintln(&b, i.Seq, i.State)
	}
	for c, err := range mine.Channels(w.t.Context()) {
		w.ok(err)
		to, key := c.Address.Reveal()
		fmt.Fprintln(&b, c.N, c.Name, c.State, to, key, string(c.Settings))
	}
	for m, err := range mine.Messages(w.t.Context()) {
		w.ok(err)
		fmt.Fprintln(&b, m.ID, m.State)
	}
	for s, err := range mine.Secrets(w.t.Context()) {
		w.ok(err)
		fmt.Fprintf(&b, "%+v\n", s)
	}
	for s, err := range mine.WebSessions(w.t.Context()) {
		w.ok(err)
		fmt.Fprintln(&b, s.Hash)
	}
	a, err := w.store.Account(w.t.Context(), owner)
	w.ok(err)
	fmt.Fprintln(&b, a.State, a.Admin, a.Mail, string(a.Profile))
	return b.String()
}

// fieldsOf are the names that forms give to ids: with each, all that the owner has is asked for.
var fieldsOf = []string{"seq", "id", "interest", "urd", "n", "channel", "message", "hash", "session", "token", "name", "secret", "owner"}

// Each route lets in those that its line of the table says, and nobody else: who has not logged in, is locked out, or
// manages accounts sees nothing of an owner; another who names what is the owner's is answered as if it were not there,
// and changes nothing of it.
func TestEveryRoute(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.SignUp = "open" })
	w.site.tools.open = func() (Reader, error) { return new(fakeReader), nil }
	owner, other := w.account("anna"), w.account("berta")
	admin := w.account("dora", func(a *control.Account) { a.Admin = true })
	locked := w.account("carla")
	w.ok(w.store.ChangeAccount(t.Context(), "carla", func(a *control.Account) error { a.State = control.AccountLocked; return nil }))
	nobody := w.browser()
	things := belongingsOf(w, "anna")
	before := everything(w, "anna")
	for _, r := range routes() {
		t.Run(r.pattern, func(t *testing.T) {
			if count := btoi(r.open != nil) + btoi(r.own != nil) + btoi(r.admin != nil); count != 1 {
				t.Fatalf("%d handlers say who may come in", count)
			}
			method, _, is := strings.Cut(r.pattern, " ")
			if !is {
				method = http.MethodGet
			}
			path, has := things.pathOf(r)
			for _, b := range []*browser{nobody, locked, other, admin} {
				if b == other || b == admin {
					b.logIn() // a route before may have ended the session
				}
				var got answer
				if method == http.MethodGet {
					got = b.get(path)
				} else {
					got = b.post(path, things.allFields()...)
				}
				if strings.Contains(got.body, marker) && !strings.Contains(path, marker) {
					t.Errorf("%q is shown what is another's: %.3000s", b.name, got)
				}
				comes := b == other || b == admin
				switch {
				case r.open != nil:
					if got.status >= 500 {
						t.Errorf("%q: %v", b.name, got)
					}
				case !comes && method == http.MethodGet:
					if got.status != http.StatusSeeOther || !strings.HasPrefix(got.header.Get("Location"), "/login") {
						t.Errorf("%q: %.500s", b.name, got)
					}
				case !comes:
					if got.status != http.StatusUnauthorized {
						t.Errorf("%q: %.500s", b.name, got)
					}
				case r.own != nil && has, r.admin != nil && b == other:
					if got.status != http.StatusNotFound {
						t.Errorf("%q: %.500s", b.name, got)
					}
				default: // a form may name what is another's
					if got.status == http.StatusNotFound && method == http.MethodGet && !strings.Contains(path, "{") || got.status >= 500 {
						t.Errorf("%q: %.500s", b.name, got)
					}
				}
			}
			if now := everything(w, "anna"); now != before {
				t.Fatalf("%s\nbecame\n%s", before, now)
			}
		})
	}
	for _, r := range routes() {
		if r.own == nil || strings.HasSuffix(r.pattern, "/logout") {
			continue
		}
		method, _, _ := strings.Cut(r.pattern, " ")
		path, has := things.pathOf(r)
		if strings.Contains(path, "{") {
			continue
		}
		if has { // what was there may be gone by another route
			for c, err := range w.store.Of("anna").Channels(t.Context()) {
				w.ok(err)
				w.ok(w.store.Of("anna").DeleteChannel(t.Context(), c.N))
			}
			things = belongingsOf(w, "anna")
			path, _ = things.pathOf(r)
		}
		got := owner.get
		if method == http.MethodPost {
			got = func(path string) answer { return owner.post(path) }
		}
		if a := got(path); a.status == http.StatusNotFound && (has || method == http.MethodGet) || a.status == http.StatusUnauthorized || a.status >= 500 {
			t.Errorf("%s: its owner gets %.500s", r.pattern, a)
		}
		if err := w.store.Of("anna").DeleteChannel(t.Context(), channelIn(things)); err != nil && !errors.Is(err, control.ErrNotFound) { // one has 20 at most
			t.Error(err)
		}
	}
}

func channelIn(b belongings) int64 {
	n, _ := strconv.ParseInt(b.byPath["/channels/"], 10, 64)
	return n
}

func (b belongings) allFields() (values []string) {
	for _, name := range fieldsOf {
		for _, id := range b.ids {
			values = append(values, name, id)
		}
	}
	return append(values, "state", "bin", "action", "delete")
}

func btoi(is bool) int {
	if is {
		return 1
	}
	return 0
}

// A GET changes nothing that is stored, whoever asks for it.
func TestGetChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.account("anna", func(a *control.Account) { a.Admin = true })
	things := belongingsOf(w, "anna")
	files, err := filepath.Glob(filepath.Join(w.dir, "*.db"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	beside, err := sql.Open("sqlite", "file:"+files[0])
	w.ok(err)
	defer beside.Close()
	beside.SetMaxOpenConns(1)
	version := func() (n int) { // changes when another connection has committed
		w.ok(beside.QueryRowContext(t.Context(), "PRAGMA data_version").Scan(&n))
		return n
	}
	before := version()
	for _, r := range routes() {
		method, _, is := strings.Cut(r.pattern, " ")
		path, _ := things.pathOf(r)
		if is && method != http.MethodGet || strings.Contains(path, "{") {
			continue
		}
		for _, b := range []*browser{owner, w.browser()} {
			b.get(path)
			if now := version(); now != before {
				t.Errorf("%s changes what is stored", r.pattern)
				before = now
			}
		}
	}
	owner.post("/a/"+things.byPath["/a/"], "state", "read")
	if version() == before {
		t.Error("a change is not seen: the test sees nothing")
	}
}

// Programs come in with a token where a line of the table says so, for GET alone, and by no other way.
func TestPrograms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.account("anna")
	things := belongingsOf(w, "anna")
	w.ok(w.store.AddToken(t.Context(), "secret-token", control.Token{Owner: "anna", Purpose: control.PurposeAPI, Expires: time.Now().Add(time.Hour)}))
	for _, r := range routes() {
		method, _, _ := strings.Cut(r.pattern, " ")
		path, _ := things.pathOf(r)
		if r.own == nil && r.admin == nil || strings.Contains(path, "{") {
			continue
		}
		program := w.browser()
		program.header = http.Header{"Authorization": {"Bearer secret-token"}}
		got := program.send(method, path, nil, nil)
		if may := got.status != http.StatusUnauthorized; may != r.program {
			t.Errorf("%s: %.300s, and a program may come in: %v", r.pattern, got, r.program)
		}
		if r.program && method != http.MethodGet {
			t.Errorf("%s lets programs change something", r.pattern)
		}
		program.header.Set("Authorization", "Bearer secret-tokem")
		if got := program.send(method, path, nil, nil); got.status != http.StatusUnauthorized {
			t.Errorf("%s: with a wrong token %.300s", r.pattern, got)
		}
	}
	if !slices.ContainsFunc(routes(), func(r route) bool { return r.program }) {
		t.Error("there is none for programs")
	}
}
