package connections

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

const request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

// serve has a server answer with so many connections at most, and returns its address.
func serve(t *testing.T, p *Pool, most int, handler http.HandlerFunc) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, ended := &http.Server{Handler: handler}, make(chan error)
	go func() { ended <- p.Serve(server, listener, most) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-ended
	})
	return listener.Addr().String()
}

// dial opens a connection to a server, and sends it some text.
func dial(t *testing.T, address, text string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err == nil {
		_, err = io.WriteString(conn, text)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func ask(conn net.Conn) error {
	if _, err := io.WriteString(conn, request); err != nil {
		return err
	}
	return answered(conn)
}

func answered(conn net.Conn) error {
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err == nil {
		_ = answer.Body.Close()
	}
	return err
}

func isClosed(t *testing.T, conn net.Conn) bool {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, err := conn.Read(make([]byte, 1))
	timeout, is := err.(net.Error)
	return err != nil && !(is && timeout.Timeout())
}

// await waits until the servers of a pool hold so many connections, and so many of them idle: a client has its answer
// before the server has noted that the connection is idle.
func await(t *testing.T, p *Pool, held, idle int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		p.mu.Lock()
		isHeld, isIdle := p.held, 0
		for _, s := range p.servers {
			isIdle += s.idle.Len()
		}
		p.mu.Unlock()
		switch {
		case isHeld == held && isIdle == idle:
			return
		case time.Now().After(deadline):
			t.Fatalf("%d connections are held, %d of them idle; %d and %d are to be", isHeld, isIdle, held, idle)
		}
	}
}

func admit(_ http.ResponseWriter, r *http.Request) { Admit(r) }

// Who has had no request admitted makes room for others, the oldest first, and who has keeps their connection.
func TestWhoHasNotBeenAdmittedMakesRoom(t *testing.T) {
	t.Parallel()
	pool := NewPool(100)
	address := serve(t, pool, 3, admit)
	friend := dial(t, address, "")
	if err := ask(friend); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		slow := dial(t, address, "GET / HTTP/1.1\r\n")
		dial(t, address, "G")
		passing := dial(t, address, "")
		if err := ask(passing); err != nil {
			t.Fatalf("a request finds no room: %v", err)
		}
		if !isClosed(t, slow) {
			t.Fatal("the oldest connection that was not admitted is open still")
		}
		_ = passing.Close()
		if err := ask(friend); err != nil {
			t.Fatalf("one that had been admitted was closed: %v", err)
		}
		await(t, pool, 2, 1)
	}
}

// What one server holds idle or unfinished makes room for another's, and what is at work never does.
func TestServersShareTheRoom(t *testing.T) {
	t.Parallel()
	pool, end, begun := NewPool(4), make(chan struct{}), make(chan struct{})
	crowded := serve(t, pool, 100, func(_ http.ResponseWriter, r *http.Request) {
		Admit(r)
		if r.Header.Get("Wait") != "" {
			close(begun)
			<-end
		}
	})
	other := serve(t, pool, 100, admit)
	working := dial(t, crowded, "GET / HTTP/1.1\r\nHost: localhost\r\nWait: yes\r\n\r\n")
	<-begun
	idle := dial(t, crowded, "")
	if err := ask(idle); err != nil {
		t.Fatal(err)
	}
	unfinished := dial(t, crowded, "GET /")
	await(t, pool, 3, 1)
	var others []net.Conn
	come := func() {
		t.Helper()
		others = append(others, dial(t, other, ""))
		if err := ask(others[len(others)-1]); err != nil {
			t.Fatalf("the other server has no room: %v", err)
		}
	}
	come() // takes the place that is left
	await(t, pool, 4, 2)
	come()
	await(t, pool, 4, 3)
	if !isClosed(t, unfinished) {
		t.Error("an unfinished request is waited for while another server has no room")
	}
	come()
	if !isClosed(t, others[0]) {
		t.Error("the connection that was idle longest, of the server that has most of these, is kept while there is no room")
	}
	if err := ask(idle); err != nil {
		t.Errorf("the one idle connection of the server with fewer was closed: %v", err)
	}
	close(end)
	if err := answered(working); err != nil {
		t.Errorf("a connection at work was closed: %v", err)
	}
}

// Where all connections are at work, a new one waits until one of them is idle.
func TestANewConnectionWaitsWhileAllAreAtWork(t *testing.T) {
	t.Parallel()
	begun, end := make(chan struct{}), make(chan struct{})
	address := serve(t, NewPool(100), 1, func(_ http.ResponseWriter, r *http.Request) {
		Admit(r)
		begun <- struct{}{}
		<-end
	})
	first := dial(t, address, request)
	<-begun
	second := dial(t, address, request)
	end <- struct{}{}
	if err := answered(first); err != nil {
		t.Error(err)
	}
	<-begun
	end <- struct{}{}
	if err := answered(second); err != nil {
		t.Error(err)
	}
}
