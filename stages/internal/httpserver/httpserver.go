// Package httpserver serves HTTP at the listener of a stage: from when the run begins until the stage is closed, with
// bounds on what a client may take.
package httpserver

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/webrace/webrace/pipeline/connections"
)

// What a connection may take, as with all listeners of this program.
const (
	headerTime    = 10 * time.Second // until the header of a request is there
	requestTime   = 30 * time.Second // until all of it is
	answerTime    = 10 * time.Second // until the answer has been read
	idleTime      = 2 * time.Minute  // between requests
	longestHeader = 64 << 10         // bytes
	mostConnected = 4096             // connections at once, if [connections.Process] has the room
	grace         = 5 * time.Second  // that an answer under way has when the server is closed
)

// Server is the server of one stage. The zero value listens nowhere.
type Server struct {
	mu       sync.Mutex
	listener net.Listener
	server   *http.Server
	serving  chan struct{} // closed when the server has ended
	closed   bool
}

// Open gives the server its listener, which it closes.
func (s *Server) Open(listener net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listener = listener
}

// Serve begins to answer; an answer may take so long. It speaks TLS if there is a configuration of that. Called again,
// and when it was closed, it does nothing.
func (s *Server) Serve(answer http.Handler, atMost time.Duration, secured *tls.Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.server != nil {
		return
	}
	s.server = &http.Server{
		Handler: answer, ReadHeaderTimeout: headerTime, ReadTimeout: requestTime, IdleTimeout: idleTime,
		WriteTimeout: requestTime + atMost + answerTime, MaxHeaderBytes: longestHeader, TLSConfig: secured,
	}
	s.serving = make(chan struct{})
	server, listener, serving := s.server, s.listener, s.serving
	go func() {
		defer close(serving)
		_ = connections.Process().Serve(server, listener, mostConnected) // returns when it is closed
	}()
}

// Close stops listening, and waits for a moment until answers under way have been read.
func (s *Server) Close() error {
	s.mu.Lock()
	listener, server, serving := s.listener, s.server, s.serving
	s.listener, s.server, s.closed = nil, nil, true
	s.mu.Unlock()
	if listener == nil {
		return nil
	}
	err := listener.Close()
	if server == nil {
		return err
	}
	ctx, done := context.WithTimeout(context.Background(), grace)
	defer done()
	if server.Shutdown(ctx) != nil {
		_ = server.Close()
	}
	<-serving
	return nil
}
