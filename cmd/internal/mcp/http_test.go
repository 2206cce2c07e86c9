package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
)

const (
	annToken = "token-of-ann-0123456789"
	begin    = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	search1  = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":{"query":"tea"}}}`
)

// served is a handler that answers at an address.
type served struct {
	*testing.T
	*Handler
	store *control.Store
	url   string
	stop  func()
}

func serve(t *testing.T, call Caller) *served {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(file, []byte("ann "+annToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tokens, err := ReadTokens(file)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := storage.Open(filepath.Join(t.TempDir(), "data"), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	store, err := dir.Control()
	if err != nil {
		t.Fatal(err)
	}
	s := &served{T: t, store: store, Handler: NewHandler(tokens, store, func(owner string) Options {
		return Options{Call: func(ctx context.Context, tool string, arguments json.RawMessage, say func(string)) (json.RawMessage, error) {
			return call(context.WithValue(ctx, ownerKey{}, owner), tool, arguments, say)
		}}
	})}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.url = "http://" + listener.Addr().String() + Path
	s.stop = admin.Serve(listener, s.Guarded())
	t.Cleanup(func() {
		s.Close()
		s.stop()
	})
	return s
}

type ownerKey struct{}

// answersNothing answers a search by nothing found, in whose name it was asked.
func answersNothing(ctx context.Context, _ string, _ json.RawMessage, _ func(string)) (json.RawMessage, error) {
	return json.Marshal(searchOut{Notice: notice, Hits: []hit{}, Remark: fmt.Sprint("for ", ctx.Value(ownerKey{}))})
}

func (s *served) post(token, session, body string) (status int, answer, sessionID string) {
	s.Helper()
	q, err := http.NewRequestWithContext(s.Context(), http.MethodPost, s.url, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, text/event-stream")
	q.Header.Set("Authorization", "Bearer "+token)
	if session != "" {
		q.Header.Set("Mcp-Session-Id", session)
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return 0, err.Error(), ""
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body)
	return r.StatusCode, string(text), r.Header.Get("Mcp-Session-Id")
}

// TestTenThousandSessions: a client that begins ten thousand keeps the last few, which are answered.
func TestTenThousandSessions(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("ten thousand requests: not in short mode")
	}
	s := serve(t, answersNothing)
	first, last := "", ""
	for i := range 10_000 {
		status, answer, session := s.post(annToken, "", begin)
		if status != http.StatusOK || session == "" {
			t.Fatalf("session %d: %d, %s", i, status, answer)
		}
		if last = session; first == "" {
			first = session
		}
	}
	open := 0
	for range s.of("ann").server.Sessions() {
		open++
	}
	if open > sessionsOfOne {
		t.Errorf("%d sessions are open", open)
	}
	if status, _, _ := s.post(annToken, first, search1); status != http.StatusNotFound {
		t.Errorf("the first session: %d, want that it is gone", status)
	}
	if status, answer, _ := s.post(annToken, last, search1); status != http.StatusOK || !strings.Contains(answer, "for ann") {
		t.Errorf("the last session: %d, %s", status, answer)
	}
}

// A token of an account names its owner as long as it is good, and the account active. So it is with the tokens of a
// file whose owners have an account.
func TestTokensNameOwners(t *testing.T) {
	t.Parallel()
	s := serve(t, answersNothing)
	ctx := t.Context()
	account := func(owner string, state control.AccountState) {
		t.Helper()
		err := s.store.AddAccount(ctx, control.Account{Owner: owner, State: control.AccountInvited, Mail: owner + "@a.example"}, false)
		if err == nil {
			err = s.store.ChangeAccount(ctx, owner, func(a *control.Account) error {
				a.State = state
				return nil
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	token := func(owner, text string, purpose control.Purpose, lasts time.Duration) {
		t.Helper()
		if err := s.store.AddToken(ctx, text, control.Token{Owner: owner, Purpose: purpose, Expires: time.Now().Add(lasts)}); err != nil {
			t.Fatal(err)
		}
	}
	account("bob", control.AccountActive)
	account("eve", control.AccountLocked)
	token("bob", "bobs-token", control.PurposeAPI, time.Hour)
	token("bob", "bobs-reset", control.PurposeReset, time.Hour)
	token("bob", "bobs-old", control.PurposeAPI, -time.Hour)
	token("eve", "eves-token", control.PurposeAPI, time.Hour)
	for text, want := range map[string]string{annToken: "ann", "bobs-token": "bob", "bobs-reset": "", "bobs-old": "", "eves-token": "", "nobodys": "", "": ""} {
		status, _, session := s.post(text, "", begin)
		if want == "" {
			if status != http.StatusUnauthorized {
				t.Errorf("%s: %d, want 401", text, status)
			}
			continue
		}
		if _, answer, _ := s.post(text, session, search1); !strings.Contains(answer, "for "+want) {
			t.Errorf("%s: %s, want %s", text, answer, want)
		}
	}
	account("ann", control.AccountLocked)
	if status, _, _ := s.post(annToken, "", begin); status != http.StatusUnauthorized {
		t.Errorf("a token of a file, whose owner is locked out: %d", status)
	}
}

// A client that sends its message slowly, or never, is left.
func TestABodyThatDoesNotCome(t *testing.T) {
	t.Parallel()
	s := serve(t, answersNothing)
	s.bodyTime = 50 * time.Millisecond
	conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), Path))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", Path, annToken)
	conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != http.StatusRequestTimeout {
		t.Fatalf("%v, %v", answer, err)
	}
}

// Closing ends the calls under way, and waits for them: what they look into is closed then.
func TestClosingEndsCalls(t *testing.T) {
	t.Parallel()
	begun, ended := make(chan struct{}), atomic.Bool{}
	s := serve(t, func(ctx context.Context, _ string, _ json.RawMessage, _ func(string)) (json.RawMessage, error) {
		close(begun)
		<-ctx.Done()
		ended.Store(true)
		return nil, ctx.Err()
	})
	_, _, session := s.post(annToken, "", begin)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		s.post(annToken, session, search1)
	}()
	<-begun
	s.Close()
	if !ended.Load() {
		t.Error("a call goes on when all is closed")
	}
	<-answered
	if status, _, _ := s.post(annToken, "", begin); status != http.StatusServiceUnavailable {
		t.Errorf("afterwards: %d", status)
	}
}

func TestWrongTokenFiles(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                     "",
		"\n# nothing\n":        "holds no token",
		"ann\n":                ":1: it has 1 words",
		"ann hush-hush more\n": ":1: it has 3 words",
		"\nann short\n":        ":2: the token of ann has 5 characters",
		"ann 0123456789abcdef\nbob 0123456789abcdef": ":2: the token of bob stands in a line above",
	} {
		path := filepath.Join(t.TempDir(), "tokens")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadTokens(path)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "0123456789abcdef") || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := ReadTokens(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no file is no error")
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for _, l := range []Limits{{CrawlPages: -1, CrawlDepth: 1}, {CrawlDepth: 0}, {CrawlDepth: 1, CrawlHosts: []string{"https://a.example/"}}, {CrawlDepth: 1, CrawlHosts: []string{""}}} {
		if err := l.Check("mcp-"); err == nil || !strings.Contains(err.Error(), "--mcp-crawl-") {
			t.Errorf("%+v: %v", l, err)
		}
	}
	l := Limits{CrawlPages: 10, CrawlDepth: 2, CrawlHosts: []string{"Docs.example"}}
	for _, c := range []struct {
		start string
		depth int
		fits  bool
	}{
		{"https://docs.example/", 2, true}, {"https://a.docs.example/", 1, true}, {"https://DOCS.EXAMPLE:8443/x", 1, true},
		{"https://docs.example/", 3, false}, {"https://docs.example/", 0, false}, {"https://evildocs.example/", 1, false},
		{"https://docs.example.evil/", 1, false}, {"https://docs.example@evil.example/", 1, false}, {"https://evil.example/?docs.example", 1, false},
	} {
		if err := l.allowsCrawl(c.start, c.depth); (err == nil) != c.fits {
			t.Errorf("%s to depth %d: %v", c.start, c.depth, err)
		}
	}
	if (&Limits{CrawlDepth: 3}).allowsCrawl("https://a.example/", 1) == nil {
		t.Error("a crawl is allowed by nobody")
	}
}

// Without leave to begin crawls there is no such tool.
func TestTheToolsThatThereAre(t *testing.T) {
	t.Parallel()
	for _, l := range []Limits{{}, {CrawlPages: 5, CrawlDepth: 1}} {
		offered := 0
		for _, tool := range tools {
			if tool.offered(Options{Limits: l}) {
				offered++
			}
		}
		want := len(tools)
		if l.CrawlPages == 0 {
			want--
		}
		if offered != want {
			t.Errorf("%+v: %d tools", l, offered)
		}
	}
	desk := &Desk{} // over no directory
	if _, err := desk.Call(t.Context(), "links", json.RawMessage(`{"url":"http://a.example/"}`), func(string) {}); err == nil || !strings.Contains(err.Error(), "links failed in a way that it should not") {
		t.Errorf("a tool that panics: %v", err)
	}
	if _, err := desk.Call(t.Context(), "nothing", nil, func(string) {}); err == nil {
		t.Error("a tool that there is not is called")
	}
}
