package portal

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/proto"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// world is an application over a store, reached as people reach it.
type world struct {
	t      *testing.T
	dir    string
	store  *control.Store
	site   *site
	url    string
	mails  []*delivery.Message
	said   delivery.Result // what comes of messages that somebody waits for
	silent bool            // nothing comes of them
}

func newWorld(t *testing.T, change ...func(*Options)) *world {
	t.Helper()
	return newWorldWith(t, storage.Options{}, change...)
}

func newWorldWith(t *testing.T, options storage.Options, change ...func(*Options)) *world {
	t.Helper()
	path := t.TempDir()
	dir, err := storage.Open(path, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dir.Close(); err != nil {
			t.Error(err)
		}
	})
	store, err := dir.Control()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: path, store: store, said: delivery.Result{Taken: true}}
	o := defaults
	for _, c := range change {
		c(&o)
	}
	w.site, err = newSite(o, pipeline.NewEnv("portal", "portal", nil), store, func(_ context.Context, m *delivery.Message, result chan<- delivery.Result) error {
		w.mails = append(w.mails, m)
		if result != nil && !w.silent {
			result <- w.said
		}
		return nil
	})
	w.ok(err)
	server := httptest.NewServer(w.site)
	t.Cleanup(server.Close)
	w.site.at(server.Listener.Addr())
	w.url = server.URL
	return w
}

func (w *world) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// account adds an active account with a session, and returns a browser that is logged in.
func (w *world) account(name string, change ...func(*control.Account)) *browser {
	w.t.Helper()
	a := control.Account{Owner: name, State: control.AccountActive, Mail: name + "@example.org"}
	for _, c := range change {
		c(&a)
	}
	w.ok(w.store.AddAccount(w.t.Context(), a, false))
	b := w.browser()
	b.name = name
	b.logIn()
	return b
}

// logIn gives a browser a new session of its person, without a password.
func (b *browser) logIn() {
	w := b.w
	w.t.Helper()
	ctx, err := w.site.tools.sessions.Load(w.t.Context(), "")
	w.ok(err)
	w.site.tools.sessions.Put(ctx, sessionOwner, b.name)
	token, _, err := w.site.tools.sessions.Commit(ctx)
	w.ok(err)
	at, err := url.Parse(w.url)
	w.ok(err)
	b.client.Jar.SetCookies(at, []*http.Cookie{{Name: w.site.tools.sessions.Cookie.Name, Value: token, Path: "/"}})
}

// aci stores an annotation for an owner, who has an account, and files it.
func (w *world) aci(owner, urd, title string, change ...func(*xmlschema.ACI)) control.InboxItem {
	w.t.Helper()
	a := &xmlschema.ACI{
		ID: rand.Text(), URD: urd, Owner: owner, URI: "https://page.example/" + rand.Text(), Title: title, Relevance: 60, Urgency: 2,
		UpdateTime: time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC), Summary: "Summary of " + title, Docbase: xmlschema.Docbase{Version: 1, Digest: "sha256:" + strings.Repeat("0", 64)},
	}
	for _, c := range change {
		c(a)
	}
	_, err := w.store.PutEachACI(w.t.Context(), []*xmlschema.ACI{a})
	w.ok(err)
	_, err = w.store.File(w.t.Context(), []control.Filing{{ID: a.ID, Relevance: a.Relevance, Urgency: a.Urgency}})
	w.ok(err)
	for i, err := range w.store.Of(owner).Inbox(w.t.Context(), control.InboxFilter{Limit: 1}) {
		w.ok(err)
		return i
	}
	w.t.Fatal("the annotation is not in the inbox")
	return control.InboxItem{}
}

// urd stores an interest.
func (w *world) urd(owner, uri string, change ...func(*xmlschema.URD)) string {
	w.t.Helper()
	u := xmlschema.NewURD(owner, uri)
	u.Keywords = xmlschema.NewKeywords(xmlschema.Keyword{Key: "boat", Weight: 5})
	for _, c := range change {
		c(u)
	}
	changes, err := w.store.Of(owner).Put(w.t.Context(), []*xmlschema.URD{u})
	w.ok(err)
	return changes[0].ID
}

// browser is who reaches the application.
type browser struct {
	w      *world
	name   string
	client *http.Client
	header http.Header // sent with each request
}

func (w *world) browser() *browser {
	jar, err := cookiejar.New(nil)
	w.ok(err)
	return &browser{w: w, client: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, header: http.Header{"Accept": {"text/html"}}}
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) String() string {
	return fmt.Sprintf("%d %s %s", a.status, a.header.Get("Location"), a.body)
}

func (b *browser) get(path string) answer { return b.send(http.MethodGet, path, nil, nil) }

// post sends a form as a browser does, from a page of the application.
func (b *browser) post(path string, values ...string) answer {
	form := make(url.Values)
	for i := 0; i < len(values); i += 2 {
		form.Add(values[i], values[i+1])
	}
	return b.send(http.MethodPost, path, strings.NewReader(form.Encode()), http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"same-origin"}})
}

func (b *browser) send(method, path string, body io.Reader, header http.Header) answer {
	b.w.t.Helper()
	r, err := http.NewRequestWithContext(b.w.t.Context(), method, b.w.url+path, body)
	b.w.ok(err)
	for _, h := range []http.Header{b.header, header} {
		for name, values := range h {
			r.Header[name] = values
			if name == "Host" {
				r.Host = values[0]
			}
		}
	}
	got, err := b.client.Do(r)
	b.w.ok(err)
	b.w.site.tools.unseen.Wait()
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	b.w.ok(err)
	if got.Header.Get("Content-Type") != "application/zip" && strings.Contains(string(text), "%!") { // as fmt writes it
		b.w.t.Errorf("%s %s: a text speaks of more or less than it is given: %s", method, path, text)
	}
	return answer{got.StatusCode, got.Header, string(text)}
}

// wants fails unless an answer has a status and all of some texts.
func (a answer) wants(t *testing.T, status int, texts ...string) answer {
	t.Helper()
	if a.status != status {
		t.Fatalf("got %.2000s, want %d", a, status)
	}
	for _, text := range texts {
		if !strings.Contains(a.body+a.header.Get("Location"), text) {
			t.Fatalf("got %.4000s, want %q in it", a, text)
		}
	}
	return a
}

// isPage reports whether it is a page, for people.
func (a answer) isPage() bool {
	return a.status == http.StatusOK && strings.HasPrefix(a.header.Get("Content-Type"), "text/html") && strings.Contains(a.body, "<html")
}

// cookieFor is the cookie of the browser's session for another that is to see a page; for who is not to have logged in
// it is one of nobody.
func (b *browser) cookieFor(path string) *proto.NetworkCookieParam {
	at, err := url.Parse(b.w.url)
	b.w.ok(err)
	c := &proto.NetworkCookieParam{Name: b.w.site.tools.sessions.Cookie.Name, Value: "nobody", URL: b.w.url}
	for _, known := range b.client.Jar.Cookies(at) {
		if known.Name == c.Name && path != "/login" {
			c.Value = known.Value
		}
	}
	return c
}

// invite adds an account that has no password yet, and returns the token of its link.
func (w *world) invite(owner string) string {
	w.t.Helper()
	w.ok(w.store.AddAccount(w.t.Context(), control.Account{Owner: owner, State: control.AccountInvited}, false))
	token := rand.Text()
	w.ok(w.store.AddToken(w.t.Context(), token, control.Token{Owner: owner, Purpose: control.PurposeInvite, Expires: time.Now().Add(time.Hour)}))
	return token
}
