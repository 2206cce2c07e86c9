package httpin

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// dial opens a connection to a server, and sends it some text.
func dial(t *testing.T, url, text string) net.Conn {
	t.Helper()
	address, _, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
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

// Who has not shown that they may come makes room for others, and who has keeps their connection.
func TestStrangersMakeRoom(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ConnContext: withConnection, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { prove(r) })}
	ended := make(chan error)
	go func() { ended <- server.Serve(newConnections(listener, 3)) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-ended
	})
	url, request := "http://"+listener.Addr().String(), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
	ask := func(conn net.Conn) error {
		if _, err := io.WriteString(conn, request); err != nil {
			return err
		}
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err == nil {
			_ = answer.Body.Close()
		}
		return err
	}
	friend := dial(t, url, "")
	if err := ask(friend); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		slow := dial(t, url, "GET / HTTP/1.1\r\n")
		dial(t, url, "G")
		passing := dial(t, url, "")
		if err := ask(passing); err != nil {
			t.Fatalf("a request finds no room: %v", err)
		}
		if _, err := slow.Read(make([]byte, 1)); err == nil {
			t.Fatal("the oldest connection of those who have shown nothing is answered")
		}
		_ = passing.Close()
	}
	if err := ask(friend); err != nil {
		t.Errorf("one that had shown that it may come was closed: %v", err)
	}
}

// The token is looked at before the body, which is not waited for.
func TestTheTokenComesBeforeTheBody(t *testing.T) {
	t.Parallel()
	in := start(t, with(func(o *Options) { o.Token = pipeline.NewSecret("a-token-that-nobody-guesses") }), pipeline.Stop, pipeline.RunOptions{}, func(*pipeline.Item) error { return nil })
	conn := dial(t, in.url, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != http.StatusUnauthorized || !answer.Close {
		t.Fatalf("%+v, %v", answer, err)
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the connection goes on")
	}
}

// The timeout is that of the body as well.
func TestABodyThatDoesNotCome(t *testing.T) {
	t.Parallel()
	in := start(t, with(func(o *Options) { o.Timeout = pipeline.Duration(50 * time.Millisecond) }), pipeline.Stop, pipeline.RunOptions{}, func(*pipeline.Item) error { return nil })
	conn := dial(t, in.url, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != http.StatusRequestTimeout {
		t.Fatalf("%+v, %v", answer, err)
	}
}

func compressed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A body may be compressed, and is as long at most as if it were not.
func TestCompressedBodies(t *testing.T) {
	t.Parallel()
	in := start(t, with(func(o *Options) { o.MaxBody = 1000 }), pipeline.Stop, pipeline.RunOptions{}, func(*pipeline.Item) error { return nil })
	for _, c := range []struct {
		coding, body string
		status       int
	}{
		{"gzip", compressed(t, `{"a":1}{"a":2}`), 200},
		{"gzip", compressed(t, `{"a":"`+strings.Repeat("x", 5000)+`"}`), 413},
		{"gzip", `{"a":1}`, 400},
		{"gzip", compressed(t, `{"a":1}`)[:20], 400},
		{"br", `{"a":1}`, 415},
		{"identity", `{"a":1}`, 200},
	} {
		status, a, _ := post(t, in.url, c.body, func(r *http.Request) { r.Header.Set("Content-Encoding", c.coding) })
		if status != c.status {
			t.Errorf("%s of %d bytes: %d, %+v", c.coding, len(c.body), status, a)
		}
	}
}

// What is refused is answered with 400, and leaves at the port errors as it came.
func TestWhatIsRefusedLeavesAtThePortErrors(t *testing.T) {
	t.Parallel()
	o := with(func(o *Options) { o.Listen = freePort(t) })
	refused := make(chan *pipeline.Failure, 1)
	g := pipeline.NewGraph("test")
	g.Add("http-in", o)
	for _, name := range []string{"sink", "failures"} {
		g.AddStage(name, pipeline.Spec{Type: name, In: pipeline.Kinds(pipeline.KindOf[any]())}, func(*pipeline.Env) (any, error) {
			return takes(func(it *pipeline.Item) error {
				if f, isFailure := it.Value.(*pipeline.Failure); isFailure {
					refused <- f
				}
				return nil
			}), nil
		})
	}
	g.Connect("http-in", "", "sink")
	g.Connect("http-in", "errors", "failures")
	run, err := g.Start(t.Context(), pipeline.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	body := "{\"a\":1}\n{\"a\":\"\xff\"}"
	status, a, _ := post(t, "http://"+o.Listen+o.Path, body)
	f := <-refused
	if status != http.StatusBadRequest || a.Error != f.Err.Error() || string(f.Value.([]byte)) != body || !strings.Contains(a.Error, "record 1, at byte 14") {
		t.Errorf("%d %+v; %+v", status, a, f)
	}
	run.Drain()
	if _, err := run.Wait(); err != nil {
		t.Error(err)
	}
}
