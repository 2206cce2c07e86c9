package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/webrace/webrace/internal/secretfile"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/pipeline/connections"
	"github.com/webrace/webrace/storage/control"
)

// Path is where the protocol is spoken over HTTP.
const Path = "/mcp"

const (
	longestMessage = 256 << 10 // bytes, of a client
	sessionsOfOne  = 16        // of an owner; one more ends the oldest
	sessionIdle    = 10 * time.Minute
	bodyTime       = 20 * time.Second // that the body of a request may take
	shortestToken  = 16               // characters, as of the admin page
)

// Tokens are whose each is, by its hash.
type Tokens map[[sha256.Size]byte]string

// ReadTokens reads a file of tokens: in each line an owner, white space, and the token by which agents act as that
// owner. Lines that begin with # are comments. No error holds anything of a token.
func ReadTokens(path string) (Tokens, error) {
	text, err := secretfile.Read(path)
	if err != nil {
		return nil, err
	}
	tokens := make(Tokens)
	for i, line := range strings.Split(text, "\n") {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || strings.HasPrefix(fields[0], "#"):
			continue
		case len(fields) != 2:
			return nil, fmt.Errorf("%s:%d: it has %d words: write an owner and a token", path, i+1, len(fields))
		case len(fields[1]) < shortestToken:
			return nil, fmt.Errorf("%s:%d: the token of %s has %d characters; %d are the least that nobody guesses: openssl rand -hex 24 makes one", path, i+1, fields[0], len(fields[1]), shortestToken)
		}
		hash := sha256.Sum256([]byte(fields[1]))
		if tokens[hash] != "" {
			return nil, fmt.Errorf("%s:%d: the token of %s stands in a line above: each owner needs one of their own", path, i+1, fields[0])
		}
		tokens[hash] = fields[0]
	}
	if len(tokens) == 0 {
		return nil, fmt.Errorf("%s holds no token: write a line OWNER TOKEN", path)
	}
	return tokens, nil
}

// Handler speaks the protocol over HTTP, for owners who are named by tokens: those of a file, and those that people
// with an account have made for programs. It is to be closed.
type Handler struct {
	tokens   Tokens
	control  *control.Store
	options  func(owner string) Options
	bodyTime time.Duration // bodyTime, but in tests

	calls  sync.WaitGroup
	ctx    context.Context
	cancel context.CancelFunc

	mu     sync.Mutex
	owners map[string]*ownerHandler
}

// ownerHandler has the sessions of one owner: who names a session of another finds none.
type ownerHandler struct {
	http.Handler
	server *sdk.Server
}

// NewHandler returns a handler. It calls options once for each owner who comes.
func NewHandler(tokens Tokens, store *control.Store, options func(owner string) Options) *Handler {
	h := &Handler{tokens: tokens, control: store, options: options, bodyTime: bodyTime, owners: make(map[string]*ownerHandler)}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

// Close ends the calls under way, and returns when they have.
func (h *Handler) Close() error {
	h.cancel()
	h.mu.Lock()
	owners := h.owners
	h.owners = nil
	h.mu.Unlock()
	for _, o := range owners {
		for session := range o.server.Sessions() {
			session.Close()
		}
	}
	h.calls.Wait()
	return nil
}

// Guarded returns the handler, for programs alone: what the page of another site has a browser ask is refused.
func (h *Handler) Guarded() http.Handler { return admin.RefuseForeign(h) }

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	owner, err := h.ownerOf(r)
	switch {
	case err != nil:
		http.Error(w, "the accounts cannot be read now", http.StatusServiceUnavailable)
		return
	case owner == "":
		w.Header().Set("WWW-Authenticate", `Bearer realm="webrace"`)
		http.Error(w, "a token is needed: Authorization: Bearer TOKEN", http.StatusUnauthorized)
		return
	case r.URL.Path != Path:
		http.Error(w, "the protocol is spoken at "+Path, http.StatusNotFound)
		return
	}
	connections.Admit(r)
	if !h.readBody(w, r) {
		return
	}
	o := h.of(owner)
	if o == nil {
		http.Error(w, "the run ends", http.StatusServiceUnavailable)
		return
	}
	if r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") == "" {
		o.makeRoom()
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(h.ctx, cancel)()
	o.ServeHTTP(w, r.WithContext(ctx))
}

// readBody reads a request before it is answered, and gives the answer its time: what is not there soon, or too long,
// is refused.
func (h *Handler) readBody(w http.ResponseWriter, r *http.Request) bool {
	control := http.NewResponseController(w)
	if r.Method == http.MethodPost {
		control.SetReadDeadline(time.Now().Add(h.bodyTime)) // where that is not supported, the server's own limits hold
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, longestMessage))
		if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
			http.Error(w, fmt.Sprintf("a message has %d bytes at most", longestMessage), http.StatusRequestEntityTooLarge)
			return false
		}
		if err != nil {
			http.Error(w, "the message is not there in time", http.StatusRequestTimeout)
			return false
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	control.SetReadDeadline(time.Time{})
	control.SetWriteDeadline(time.Now().Add(callTime + time.Minute)) // and then a stream of the server's own is opened anew
	return true
}

// ownerOf returns who is named by the token of a request; empty for nobody.
func (h *Handler) ownerOf(r *http.Request) (owner string, err error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", nil
	}
	owner = h.tokens[sha256.Sum256([]byte(token))]
	needsAccount := owner == ""
	if needsAccount {
		t, err := h.control.Token(r.Context(), token, control.PurposeAPI)
		if errors.Is(err, control.ErrNotFound) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		owner = t.Owner
	}
	account, err := h.control.Account(r.Context(), owner)
	switch {
	case errors.Is(err, control.ErrNotFound) && !needsAccount:
		return owner, nil
	case errors.Is(err, control.ErrNotFound):
		return "", nil
	case err != nil:
		return "", err
	case account.State != control.AccountActive:
		return "", nil
	}
	return owner, nil
}

// of returns the handler of an owner; nil when all is closed.
func (h *Handler) of(owner string) *ownerHandler {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.owners == nil {
		return nil
	}
	if h.owners[owner] == nil {
		o := h.options(owner)
		o.Call = h.counted(o.Call)
		server := NewServer(o)
		h.owners[owner] = &ownerHandler{server: server, Handler: sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
			SessionTimeout: sessionIdle, MaxRequestBodyBytes: longestMessage,
		})}
	}
	return h.owners[owner]
}

// counted returns a caller whose calls Close ends and waits for.
func (h *Handler) counted(call Caller) Caller {
	return func(ctx context.Context, tool string, arguments json.RawMessage, say func(string)) (json.RawMessage, error) {
		h.mu.Lock()
		closed := h.owners == nil
		if !closed {
			h.calls.Add(1)
		}
		h.mu.Unlock()
		if closed {
			return nil, errors.New("the run ends")
		}
		defer h.calls.Done()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(h.ctx, cancel)()
		return call(ctx, tool, arguments, say)
	}
}

// makeRoom ends the oldest sessions, so that one more is not too many.
func (o *ownerHandler) makeRoom() {
	var all []*sdk.ServerSession
	for session := range o.server.Sessions() {
		all = append(all, session)
	}
	for _, session := range all[:max(0, len(all)-sessionsOfOne+1)] {
		session.Close()
	}
}
