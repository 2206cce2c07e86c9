// Package newsserver has a news server for tests, with one account.
package newsserver

import (
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// The account that a server knows.
const (
	User     = "eleni"
	Password = "hush-6f1d-hush"
)

// Security is from when on a server speaks TLS.
type Security string

const (
	TLS      Security = "TLS"      // from the beginning
	STARTTLS Security = "STARTTLS" // when it is asked to
	None     Security = "none"
)

// Options of a server.
type Options struct {
	Security    Security
	Certificate tls.Certificate
	Account     bool // groups are for the account alone
	OnlySecure  bool // and over TLS alone
	Old         bool // it knows what servers knew before RFC 3977: XOVER, and not MODE READER
}

// Server is a news server.
type Server struct {
	Address string
	options Options
	log     testutil.Buffer

	mu     sync.Mutex
	groups map[string]*group
	posted map[string]string // articles by Message-ID, with Path
}

// group has the Message-IDs of its articles by number; those that are gone have none.
type group struct {
	ids  map[int]string
	next int
}

// New starts a server without groups, until the test ends.
func New(t testing.TB, o Options) *Server {
	t.Helper()
	s := &Server{options: o, groups: map[string]*group{}, posted: map[string]string{}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Address = l.Addr().String()
	if o.Security == TLS {
		l = tls.NewListener(l, s.tls())
	}
	var sessions sync.WaitGroup
	open := map[net.Conn]bool{}
	sessions.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			open[conn] = true
			s.mu.Unlock()
			sessions.Go(func() {
				defer conn.Close()
				(&session{Server: s, secure: o.Security == TLS}).serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		s.mu.Lock()
		for conn := range open {
			conn.Close()
		}
		s.mu.Unlock()
		sessions.Wait()
	})
	return s
}

func (s *Server) tls() *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{s.options.Certificate}}
}

// Create makes a group, or makes it anew.
func (s *Server) Create(t testing.TB, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups[name] = &group{ids: map[int]string{}, next: 1}
}

// Receive puts an article into the groups that it is posted to.
func (s *Server) Receive(t testing.TB, article string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	xref := "Xref: news.example"
	id := field(article, "Message-ID")
	for name := range strings.SplitSeq(field(article, "Newsgroups"), ",") {
		g := s.groups[name]
		if g == nil {
			t.Fatalf("there is no group %q", name)
		}
		g.ids[g.next] = id
		xref += fmt.Sprintf(" %s:%d", name, g.next)
		g.next++
	}
	s.posted[id] = "Path: news.example!not-for-mail\r\n" + xref + "\r\n" + article
}

// Expire removes an article from a group.
func (s *Server) Expire(name string, number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.groups[name].ids, number)
}

// Skip has the numbers of a group go on from another.
func (s *Server) Skip(name string, next int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups[name].next = next
}

// Said is what clients have said, decrypted, line by line.
func (s *Server) Said() string { return s.log.String() }

// field returns the value of a field of an article.
func field(article, name string) string {
	header, _, _ := strings.Cut(article, "\r\n\r\n")
	for line := range strings.SplitSeq(header, "\r\n") {
		if value, ok := strings.CutPrefix(line, name+": "); ok {
			return value
		}
	}
	return ""
}
