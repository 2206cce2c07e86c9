package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline/admin"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// owner runs commands of a test behind a socket.
type owner struct {
	*Server
	path string
}

func newOwner(t *testing.T, run func(context.Context, Call) int) *owner {
	t.Helper()
	o := &owner{&Server{Run: run, Logger: slog.New(slog.DiscardHandler)}, filepath.Join(t.TempDir(), "s")}
	listener, err := admin.Listen(o.path)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("POST "+Path, o)
	server := &http.Server{Handler: mux}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		server.Serve(listener)
	}()
	t.Cleanup(func() {
		server.Close()
		<-ended
		o.Shutdown(context.Background())
	})
	return o
}

// ask has the owner run a command with an input.
func (o *owner) ask(ctx context.Context, t *testing.T, in io.Reader, args ...string) (status int, out, complaints string, err error) {
	t.Helper()
	conn, err := admin.Dial(ctx, o.path)
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	client := &Client{In: in, Out: &stdout, Err: &stderr}
	status, err = client.Run(ctx, conn, Request{Args: args, Dir: "/somewhere", Stdout: Screen{Terminal: true}})
	return status, stdout.String(), stderr.String(), err
}

func TestACommandSeesAndSaysTheSameElsewhere(t *testing.T) {
	large := strings.Repeat("0123456789", 300_000) // several frames
	o := newOwner(t, func(_ context.Context, c Call) int {
		terminal := func(w io.Writer) bool { return w.(interface{ IsTerminal() bool }).IsTerminal() }
		fmt.Fprintf(c.Err, "%v in %s, terminals %v %v", c.Args, c.Dir, terminal(c.Out), terminal(c.Err))
		n, err := io.Copy(c.Out, c.In)
		if err != nil || n != int64(len(large)) {
			return 1
		}
		return 42
	})
	status, out, complaints, err := o.ask(t.Context(), t, strings.NewReader(large), "urd", "import", "-")
	if err != nil || status != 42 {
		t.Errorf("status %d, %v", status, err)
	}
	if out != large {
		t.Errorf("%d bytes came back of %d", len(out), len(large))
	}
	if want := "[urd import -] in /somewhere, terminals true false"; complaints != want {
		t.Errorf("it says %q, want %q", complaints, want)
	}
}

// neverRead fails the test when it is read.
type neverRead struct{ t *testing.T }

func (r neverRead) Read([]byte) (int, error) {
	r.t.Error("standard input is read, though the command does not ask for it")
	return 0, io.EOF
}

func TestInputIsReadOnlyForACommandThatReads(t *testing.T) {
	o := newOwner(t, func(_ context.Context, c Call) int { fmt.Fprint(c.Out, "done"); return 0 })
	if status, out, _, err := o.ask(t.Context(), t, neverRead{t}); status != 0 || out != "done" || err != nil {
		t.Errorf("%d, %q, %v", status, out, err)
	}
}

func TestAPanicIsTheCommandsFailureAlone(t *testing.T) {
	o := newOwner(t, func(_ context.Context, c Call) int {
		if c.Args[0] == "panic" {
			panic("a fault")
		}
		return 0
	})
	if status, _, complaints, err := o.ask(t.Context(), t, nil, "panic"); status != 1 || err != nil || !strings.Contains(complaints, "a fault") {
		t.Errorf("status %d, %v, it says %q", status, err, complaints)
	}
	if status, _, _, err := o.ask(t.Context(), t, nil, "well"); status != 0 || err != nil {
		t.Errorf("after the panic: status %d, %v", status, err)
	}
}

func TestAClientThatGoesAwayEndsItsCommand(t *testing.T) {
	began, ended := make(chan struct{}), make(chan struct{})
	o := newOwner(t, func(ctx context.Context, _ Call) int {
		defer close(ended)
		close(began)
		<-ctx.Done()
		return 0
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-began
		cancel()
	}()
	if _, _, _, err := o.ask(ctx, t, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was cancelled", err)
	}
	<-ended
}

func TestAnOwnerThatEndsInterruptsWhatTakesTooLong(t *testing.T) {
	began := make(chan struct{})
	o := newOwner(t, func(ctx context.Context, _ Call) int {
		close(began)
		<-ctx.Done()
		return 9
	})
	go func() {
		<-began
		now, cancel := context.WithCancel(context.Background())
		cancel()
		o.Shutdown(now)
	}()
	if _, _, _, err := o.ask(t.Context(), t, nil); !errors.Is(err, ErrLost) {
		t.Errorf("%v, want that the owner is gone", err)
	}
}

func TestManyClientsAreAnsweredEachItsOwn(t *testing.T) {
	o := newOwner(t, func(_ context.Context, c Call) int {
		io.Copy(c.Out, io.MultiReader(strings.NewReader(c.Args[0]+":"), c.In))
		return len(c.Args[0])
	})
	var clients sync.WaitGroup
	for i := range 20 {
		clients.Go(func() {
			name, text := strings.Repeat("x", i), fmt.Sprint("input of ", i)
			status, out, _, err := o.ask(t.Context(), t, strings.NewReader(text), name)
			if status != i || out != name+":"+text || err != nil {
				t.Errorf("client %d: %d, %q, %v", i, status, out, err)
			}
		})
	}
	clients.Wait()
}

func TestAnotherReleaseIsRefusedClearly(t *testing.T) {
	mine, theirs := net.Pipe()
	go func() {
		defer theirs.Close()
		buffer := make([]byte, 4096)
		theirs.Read(buffer)
		io.WriteString(theirs, "HTTP/1.1 426 Upgrade Required\r\nUpgrade: webrace-store/9\r\nContent-Length: 0\r\n\r\n")
	}()
	client := &Client{In: neverRead{t}, Out: io.Discard, Err: io.Discard}
	_, err := client.Run(t.Context(), mine, Request{})
	if err == nil || !strings.Contains(err.Error(), "another release") {
		t.Errorf("%v, want that it is of another release", err)
	}
}

// What a command may do, such as name a program that is run for a secret, is for those who can open the socket.
func TestCommandsAreTakenAtASocketAlone(t *testing.T) {
	s := httptest.NewServer(&Server{Run: func(context.Context, Call) int { t.Error("a command is run"); return 0 }, Logger: slog.New(slog.DiscardHandler)})
	defer s.Close()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	client := &Client{In: neverRead{t}, Out: io.Discard, Err: io.Discard}
	if _, err := client.Run(t.Context(), conn, Request{Args: []string{"secret", "list"}}); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("over TCP: %v", err)
	}
}

func TestWhoSpeaksAnotherProtocolIsToldWhich(t *testing.T) {
	o := newOwner(t, func(context.Context, Call) int { t.Error("a command is run"); return 0 })
	conn, err := admin.Dial(t.Context(), o.path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	io.WriteString(conn, "POST /store HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 426 ") || !strings.Contains(string(answer), Protocol) {
		t.Errorf("%q, %v", answer, err)
	}
}

// Whatever arrives, reading it neither panics nor takes more memory than a frame may have, and what was
// written is read back.
func FuzzFrames(f *testing.F) {
	var two bytes.Buffer
	writeFrame(&two, stdout, []byte("text"))
	writeFrame(&two, exit, []byte("0"))
	f.Add(two.Bytes())
	f.Add([]byte("o\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, given []byte) {
		in := bytes.NewReader(given)
		var again bytes.Buffer
		for {
			k, content, err := readFrame(in)
			if err != nil {
				break
			}
			if len(content) > largest {
				t.Fatalf("a frame of %d bytes", len(content))
			}
			if err := writeFrame(&again, k, content); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.HasPrefix(given, again.Bytes()) {
			t.Fatalf("%q is read as %q", given, again.Bytes())
		}
	})
}
