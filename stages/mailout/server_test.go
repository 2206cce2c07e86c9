package mailout

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// server is an SMTP server that answers as a test scripts it.
type server struct {
	t        *testing.T
	listener net.Listener
	tls      *tls.Config
	caFile   string
	implicit bool // TLS from the first byte

	mu     sync.Mutex
	say    map[string][]string // what to answer to a command in turn, in place of yes; "hang up" closes the connection
	mails  []received
	logins []string
	conns  []net.Conn
	wait   sync.WaitGroup
}

type received struct {
	from, to, data string
	encrypted      bool
}

func newServer(t *testing.T, implicit bool) *server {
	t.Helper()
	s := &server{t: t, implicit: implicit, say: make(map[string][]string)}
	s.certify()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.listener = listener
	s.wait.Go(s.accept)
	t.Cleanup(func() {
		listener.Close()
		s.mu.Lock()
		for _, c := range s.conns {
			c.Close()
		}
		s.mu.Unlock()
		s.wait.Wait()
	})
	return s
}

func (s *server) port() int { return s.listener.Addr().(*net.TCPAddr).Port }

func (s *server) certify() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		s.t.Fatal(err)
	}
	s.tls = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	s.caFile = filepath.Join(s.t.TempDir(), "ca.pem")
	if err := os.WriteFile(s.caFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns = append(s.conns, conn)
		s.mu.Unlock()
		s.wait.Go(func() {
			defer conn.Close()
			if s.implicit {
				conn = tls.Server(conn, s.tls)
			}
			(&dialogue{server: s, conn: conn, encrypted: s.implicit}).talk()
		})
	}
}

func (s *server) received() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.mails)
}

// script sets what to answer to a command in turn. A client may be connected already: ports are used again.
func (s *server) script(command string, answers ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.say[command] = answers
}

// scripted returns what to answer to a command.
func (s *server) scripted(command, yes string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if next := s.say[command]; len(next) > 0 {
		s.say[command] = next[1:]
		if next[0] != "" {
			return next[0]
		}
	}
	return yes
}

type dialogue struct {
	*server
	conn      net.Conn
	encrypted bool
	mail      received
}

func (d *dialogue) talk() {
	lines := textproto.NewReader(bufio.NewReader(d.conn))
	answer := d.scripted("hello", "220 test")
	for {
		if strings.HasPrefix(answer, "hang up") {
			return
		}
		if _, err := fmt.Fprintf(d.conn, "%s\r\n", answer); err != nil {
			return
		}
		if answer == "220 go" {
			d.conn, d.encrypted = tls.Server(d.conn, d.tls), true
			lines = textproto.NewReader(bufio.NewReader(d.conn))
		}
		line, err := lines.ReadLine()
		if err != nil {
			return
		}
		verb, rest, _ := strings.Cut(line, " ")
		answer = d.scripted(strings.ToUpper(verb), d.obey(lines, strings.ToUpper(verb), rest))
	}
}

func (d *dialogue) obey(lines *textproto.Reader, verb, rest string) string {
	switch verb {
	case "EHLO":
		if d.encrypted {
			return "250-test\r\n250-8BITMIME\r\n250 AUTH PLAIN LOGIN"
		}
		return "250-test\r\n250-AUTH PLAIN\r\n250 STARTTLS"
	case "STARTTLS":
		return "220 go"
	case "AUTH":
		_, encoded, _ := strings.Cut(rest, " ")
		login, _ := base64.StdEncoding.DecodeString(encoded)
		d.mu.Lock()
		d.logins = append(d.logins, fmt.Sprintf("%q encrypted=%v", login, d.encrypted))
		d.mu.Unlock()
		return "235 yes"
	case "MAIL":
		d.mail = received{from: rest, encrypted: d.encrypted}
	case "RCPT":
		d.mail.to = rest
	case "DATA":
		return d.take(lines)
	case "QUIT":
		return "221 bye"
	}
	return "250 yes"
}

// take reads a mail, and returns what became of it: "250" stores it.
func (d *dialogue) take(lines *textproto.Reader) string {
	if refused := d.scripted("data", ""); refused != "" {
		return refused
	}
	if _, err := fmt.Fprint(d.conn, "354 go on\r\n"); err != nil {
		return "hang up"
	}
	data, err := lines.ReadDotBytes()
	if err != nil {
		return "hang up"
	}
	answer := d.scripted("mail", "250 yes")
	if strings.HasPrefix(answer, "250") || strings.HasSuffix(answer, "it") {
		d.mail.data = string(data)
		d.mu.Lock()
		d.mails = append(d.mails, d.mail)
		d.mu.Unlock()
	}
	return answer
}
