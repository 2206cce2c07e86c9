package storecmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/remote"
)

// SearchPath is where a node answers searches of its partitions: a searchAsk as JSON by a searchReply. Unlike
// commands, these leave the connection open for the next.
const SearchPath = "/store/search"

const (
	longestAsk   = 64 << 20         // bytes
	searchBegins = 10 * time.Second // until a node says that it has begun
	searchRead   = time.Minute      // until its answer is read
	searchIdle   = 90 * time.Second // that a connection is kept; servers wait longer
)

// searchedNodes keeps connections to the nodes of a cluster.
type searchedNodes struct {
	mu  sync.Mutex
	all map[string]*nodeClient // by where they are
}

// nodeClient asks a node.
type nodeClient struct {
	http   http.Client
	isHere bool // on this machine, where it is asked at its socket
}

// notThere is the error of who cannot connect to a node.
type notThere struct{ error }

func (e *notThere) Unwrap() error { return e.error }

// client returns what asks a node, or why that cannot be asked.
func (s *searchedNodes) client(p *parts, node int) (*nodeClient, error) {
	where, dial := p.dirOf(node), (func(context.Context) (net.Conn, error))(nil)
	isHere := where != ""
	if isHere {
		dial = func(ctx context.Context) (net.Conn, error) { return dialOwner(ctx, where) }
	} else {
		var err error
		if dial, err = p.dialer(node); err != nil {
			return nil, err
		}
		where = p.where.Nodes[node].Address
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.all[where]; known != nil {
		return known, nil
	}
	c := &nodeClient{isHere: isHere}
	c.http.Transport = &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := dial(ctx)
			if err != nil {
				return nil, &notThere{err}
			}
			return conn, nil
		},
		MaxIdleConnsPerHost: 8, IdleConnTimeout: searchIdle, ResponseHeaderTimeout: searchBegins, DisableCompression: true,
	}
	if s.all == nil {
		s.all = make(map[string]*nodeClient)
	}
	s.all[where] = c
	return c, nil
}

func (s *searchedNodes) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.all {
		c.http.CloseIdleConnections()
	}
}

// ask returns what a node says. An error that is no [cli.Error] is not the node's: it cannot be asked.
func (c *nodeClient) ask(ctx context.Context, ask searchAsk) (r searchReply, err error) {
	text, err := json.Marshal(ask)
	if err != nil {
		return r, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://node"+SearchPath, bytes.NewReader(text))
	if err != nil {
		return r, err
	}
	request.Header["Idempotency-Key"] = nil // over another connection, if the one that was kept is gone
	response, err := c.http.Do(request)
	if err != nil {
		return r, reason(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return r, fmt.Errorf("it answers %s to %s: it is of another release", response.Status, SearchPath)
	}
	var answered nodeAnswer
	if err := json.NewDecoder(response.Body).Decode(&answered); err != nil {
		return r, fmt.Errorf("its answer broke off: %w", err)
	}
	_, _ = io.Copy(io.Discard, response.Body) // else the connection is not kept
	r = answered.searchReply
	switch {
	case answered.Error != "":
		return r, &cli.Error{Status: answered.Status, Err: errors.New(answered.Error)}
	case ask.Question != nil && r.Answer == nil || len(r.Texts) != len(ask.Hits):
		return r, errors.New("its answer lacks what was asked: it is of another release")
	}
	return r, nil
}

// reason returns why a node could not be asked, without the address that was made up for it.
func reason(err error) error {
	if there := new(notThere); errors.As(err, &there) {
		return there
	}
	if inner := errors.Unwrap(err); inner != nil { // of url.Error
		return inner
	}
	return err
}

// nodeAnswer is what a node sends.
type nodeAnswer struct {
	searchReply
	Status int    `json:"status,omitempty"` // of the command, where it fails
	Error  string `json:"error,omitempty"`
}

// searches answers searches of the partitions of a node.
type searches struct {
	node   *Node
	logger *slog.Logger
}

// ServeHTTP says at once that the search has begun.
func (s searches) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.node.others.Add(1)
	defer s.node.others.Done()
	if !remote.Trusted(w, r) {
		return
	}
	var ask searchAsk
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, longestAsk)).Decode(&ask); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	control := http.NewResponseController(w)
	_, _ = control.SetReadDeadline(time.Time{}), control.SetWriteDeadline(time.Time{}) // a search takes as long as it takes
	w.WriteHeader(http.StatusOK)
	if err := control.Flush(); err != nil {
		return
	}
	text, err := json.Marshal(s.answer(r.Context(), ask))
	if err != nil {
		s.logger.Error("what a search found cannot be sent", "error", err)
		panic(http.ErrAbortHandler)
	}
	_ = control.SetWriteDeadline(time.Now().Add(searchRead))
	_, _ = w.Write(text)
}

// answer makes a panic the failure of the search that is asked for, and not the end of its connection.
func (s searches) answer(ctx context.Context, ask searchAsk) (a nodeAnswer) {
	defer func() {
		if v := recover(); v != nil {
			s.logger.Error("a search for another node panicked", "panic", v, "stack", string(debug.Stack()))
			first, _, _ := strings.Cut(fmt.Sprint(v), "\n")
			a = nodeAnswer{Status: cli.Failed, Error: "the search failed in a way that it should not: " + first}
		}
	}()
	reply, err := ask.answer(ctx, s.node.dir)
	if err != nil {
		return nodeAnswer{Status: cli.StatusOf(err), Error: err.Error()}
	}
	return nodeAnswer{searchReply: reply}
}
