package sql

import (
	"bytes"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace/pipeline/stagetest"

	"github.com/webrace/webrace"
)

// liar speaks as much of MariaDB's protocol as lets a client in, and answers a SELECT with what it was made with.
type liar struct {
	listener net.Listener
	answer   []byte

	mu   sync.Mutex
	sent []byte // what clients have sent after that
	open sync.WaitGroup
}

func newLiar(t *testing.T, answer []byte) *liar {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &liar{listener: listener, answer: answer}
	l.open.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			l.open.Go(func() { l.serve(c) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		l.open.Wait()
	})
	return l
}

var allFine = []byte{0, 0, 0, 2, 0, 0, 0}

func (l *liar) serve(c net.Conn) {
	defer c.Close()
	hello := append([]byte("\x0a5.5.5-10.11.0-MariaDB\x00"), 1, 0, 0, 0)
	hello = append(hello, "saltsalt\x00"...)
	hello = append(hello, 0xff, 0xf7, 45, 2, 0, 0x0f, 0x00, 21) // capabilities, without TLS
	hello = append(hello, make([]byte, 10)...)
	hello = append(hello, "saltsaltsalt\x00mysql_native_password\x00"...)
	write(c, 0, hello)
	if _, _, err := read(c); err != nil {
		return
	}
	write(c, 2, allFine)
	for lied := false; ; {
		number, packet, err := read(c)
		switch {
		case err != nil || len(packet) > 0 && packet[0] == 1:
			return
		case lied:
			l.mu.Lock()
			l.sent = append(l.sent, packet...)
			l.mu.Unlock()
			write(c, number+1, allFine)
		case bytes.Contains(packet, []byte("SELECT")):
			lied = true
			write(c, number+1, l.answer)
		default:
			write(c, number+1, allFine)
		}
	}
}

func write(c net.Conn, number byte, packet []byte) {
	_, _ = c.Write(append([]byte{byte(len(packet)), byte(len(packet) >> 8), byte(len(packet) >> 16), number}, packet...)) // the client may have gone
}

func read(c net.Conn) (number byte, packet []byte, err error) {
	var head [4]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return 0, nil, err
	}
	packet = make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
	_, err = io.ReadFull(c, packet)
	return head[3], packet, err
}

// TestNoServerReadsAFile of this machine: MariaDB's protocol has a server ask for one, in answer to any query.
func TestNoServerReadsAFile(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/secret"
	if err := os.WriteFile(file, []byte("the secret of this machine"), 0o644); err != nil {
		t.Fatal(err)
	}
	l := newLiar(t, append([]byte{0xfb}, file...))
	a := newAsker(t, Source{Driver: "mariadb", Address: "mariadb://x@" + l.listener.Addr().String() + "/shop?tls=false", Query: "SELECT 1 AS id", Key: []string{"id"}})
	got := a.ask("db://orders", nil)
	if !strings.Contains(got.Visit.Error, "the server asks for a file of this machine") || len(got.Documents) != 0 || got.Err != nil {
		t.Errorf("%s, %v", got.Visit.Error, got.Err)
	}
	l.listener.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	if bytes.Contains(l.sent, []byte("secret of")) {
		t.Errorf("it was sent %q", l.sent)
	}
}

// TestAServerThatSpeaksNonsense ends a visit, which is made again.
func TestAServerThatSpeaksNonsense(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string][]byte{"no columns": {5}, "nothing": {}, "noise": []byte("HTTP/1.1 400 Bad Request")} {
		l := newLiar(t, answer)
		a := newAsker(t, Source{Driver: "mariadb", Address: "mariadb://x@" + l.listener.Addr().String() + "/shop?tls=false", Query: "SELECT 1 AS id", Key: []string{"id"}})
		a.options.Timeout = 2e9
		got := a.ask("db://orders", nil)
		if got.Err == nil && got.Visit.Error == "" || len(got.Documents) != 0 {
			t.Errorf("%s: %q, %v", name, got.Visit.Error, got.Err)
		}
		t.Logf("%s: %q, %v", name, got.Visit.Error, got.Err)
	}
}

func TestConformance(t *testing.T) {
	f := newFile(t, orders, `INSERT INTO orders VALUES (10, 'eu', 'Ann', 1.5)`)
	o := newAsker(t, f.source("SELECT id, customer FROM orders", "id")).options
	marked := f.source("SELECT id, customer FROM orders WHERE id > $mark", "id")
	marked.Mark = "id"
	o.Sources["marked"] = marked
	stagetest.Run(t, stagetest.Case{
		Type: "sql", Options: o,
		Inputs: []any{webrace.Request{URL: "db://orders"}, webrace.Request{URL: "db://marked"}, webrace.Request{URL: "db://none"}},
	})
}
