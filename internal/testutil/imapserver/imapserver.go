// Package imapserver has a mail server for tests, whose one account is eleni's.
package imapserver

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-imap/v2/imapserver/imapmemserver"

	"github.com/webrace/webrace/internal/testutil"
)

// Server is a mail server.
type Server struct {
	Address string
	user    *imapmemserver.User
	log     testutil.Buffer

	mu          sync.Mutex
	connections []net.Conn
}

// listener remembers the connections of a server.
type listener struct {
	net.Listener
	server *Server
}

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.server.mu.Lock()
		defer l.server.mu.Unlock()
		l.server.connections = append(l.server.connections, c)
	}
	return c, err
}

// Password is that of eleni.
const Password = "hush-6f1d-hush"

// Security is from when on a server speaks TLS.
type Security string

const (
	TLS      Security = "TLS"      // from the beginning
	STARTTLS Security = "STARTTLS" // when it is asked to
	None     Security = "none"
)

// New starts a server with an empty inbox, until the test ends. It has a certificate where it speaks TLS.
func New(t testing.TB, security Security, certificate tls.Certificate) *Server {
	t.Helper()
	s := &Server{user: imapmemserver.NewUser("eleni", Password)}
	mem := imapmemserver.New()
	mem.AddUser(s.user)
	o := &imapserver.Options{
		NewSession: func(*imapserver.Conn) (imapserver.Session, *imapserver.GreetingData, error) {
			return mem.NewSession(), nil, nil
		},
		InsecureAuth: security == None, DebugWriter: &s.log, Logger: log.New(io.Discard, "", 0),
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}}
	if security == STARTTLS {
		o.TLSConfig = config
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Address = l.Addr().String()
	l = listener{l, s}
	if security == TLS {
		l = tls.NewListener(l, config)
	}
	serving := imapserver.New(o)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = serving.Serve(l) // until it is closed
	}()
	t.Cleanup(func() { serving.Close(); <-ended })
	s.Create(t, "INBOX")
	return s
}

// Create makes a mailbox.
func (s *Server) Create(t testing.TB, mailbox string) {
	t.Helper()
	if err := s.user.Create(mailbox, nil); err != nil {
		t.Fatal(err)
	}
}

// Remove removes a mailbox, with its messages.
func (s *Server) Remove(t testing.TB, mailbox string) {
	t.Helper()
	if err := s.user.Delete(mailbox); err != nil {
		t.Fatal(err)
	}
}

// Receive puts a message into a mailbox.
func (s *Server) Receive(t testing.TB, mailbox, message string) {
	t.Helper()
	if _, err := s.user.Append(mailbox, strings.NewReader(message), &imap.AppendOptions{}); err != nil {
		t.Fatal(err)
	}
}

// Disconnect ends the connections that there are. New ones are served.
func (s *Server) Disconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.connections {
		c.Close()
	}
	s.connections = nil
}

// Said is what clients and the server have said to each other, decrypted.
func (s *Server) Said() string { return s.log.String() }
