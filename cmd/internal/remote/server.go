package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// Call is a command to be run for a client.
type Call struct {
	Request
	Cluster  bool      // it came by ClusterPath
	In       io.Reader // of the client: it is asked for more when this is read
	Out, Err io.Writer
}

// Server runs commands for clients that come by a unix socket, which the user of this process alone can connect to, or
// that have shown a certificate which was verified: a command may do whatever that user may, such as name a program
// that is run for a secret. It refuses all others.
type Server struct {
	// Run runs a command and returns the status it ends with. Its context ends when the client is gone.
	Run    func(context.Context, Call) (status int)
	Logger *slog.Logger

	calls sync.WaitGroup
	mu    sync.Mutex
	open  map[*connection]struct{}
}

// patience is how long a client may take to read what it is sent. Who is slower is left: a command that
// waits for its client holds what it reads of the stores.
const patience = time.Minute

// ServeHTTP answers a client. It returns when the command has ended.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != Protocol {
		w.Header().Set("Upgrade", Protocol)
		http.Error(w, "speak "+Protocol, http.StatusUpgradeRequired)
		return
	}
	if !Trusted(w, r) {
		return
	}
	s.calls.Add(1)
	defer s.calls.Done()
	raw, buffer, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer raw.Close()
	c := &connection{Conn: raw, reader: buffer.Reader, asked: make(chan []byte)}
	defer s.keep(c)()
	if err := s.serve(c, r.URL.Path == ClusterPath); err != nil {
		s.Logger.Debug("a client of the stores is gone", "error", err)
	}
}

// Trusted reports whether a request came by a unix socket, or with a certificate that was verified; others it refuses.
func Trusted(w http.ResponseWriter, r *http.Request) bool {
	address, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if ok && address.Network() == "unix" || r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		return true
	}
	http.Error(w, "commands are taken at the socket of the data directory, and from nodes of the cluster, alone", http.StatusForbidden)
	return false
}

// Shutdown returns when the commands under way have ended. Those that have not when ctx ends are
// interrupted.
func (s *Server) Shutdown(ctx context.Context) {
	ended := make(chan struct{})
	go func() {
		s.calls.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		s.mu.Lock()
		for c := range s.open {
			c.Close()
		}
		s.mu.Unlock()
		<-ended
	}
}

func (s *Server) keep(c *connection) (drop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = make(map[*connection]struct{})
	}
	s.open[c] = struct{}{}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, c)
	}
}

func (s *Server) serve(c *connection, ofCluster bool) error {
	if err := c.SetDeadline(time.Now().Add(answerWithin)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", Protocol); err != nil {
		return err
	}
	k, content, err := readFrame(c.reader)
	if err != nil || k != request {
		return errors.Join(errors.New("it asks for nothing"), err)
	}
	if err := c.SetDeadline(time.Time{}); err != nil {
		return err
	}
	var q Request
	if err := json.Unmarshal(content, &q); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var listening sync.WaitGroup
	listening.Go(func() {
		defer cancel() // it is gone
		c.listen(ctx)
	})
	defer listening.Wait()
	defer c.Close() // ends listening
	call := Call{Request: q, Cluster: ofCluster, In: &clientInput{connection: c, ctx: ctx}, Out: &stream{c, stdout, q.Stdout}, Err: &stream{c, stderr, q.Stderr}}
	return c.send(exit, []byte(fmt.Sprint(s.run(ctx, call))))
}

// run makes a panic of a command its failure, and not the end of the process.
func (s *Server) run(ctx context.Context, call Call) (status int) {
	defer func() {
		if v := recover(); v != nil {
			s.Logger.Error("a command for a client panicked", "args", call.Args, "panic", v, "stack", string(debug.Stack()))
			fmt.Fprintf(call.Err, "error: the command failed in a way that it should not: %v\n", v)
			status = 1
		}
	}()
	return s.Run(ctx, call)
}

// connection is one to a client.
type connection struct {
	net.Conn
	reader *bufio.Reader
	asked  chan []byte // input that arrived, empty at its end; closed when the client is gone

	writing sync.Mutex
}

// send sends a frame, unless the client takes too long for it.
func (c *connection) send(k kind, content []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	return writeFrame(c, k, content)
}

// listen passes on what the client sends, until it is gone or the context ends.
func (c *connection) listen(ctx context.Context) {
	defer close(c.asked)
	for {
		k, content, err := readFrame(c.reader)
		if err != nil || k != input {
			return
		}
		select {
		case c.asked <- content:
		case <-ctx.Done():
			return
		}
	}
}

// clientInput is the standard input of a client.
type clientInput struct {
	*connection
	ctx   context.Context
	rest  []byte
	ended bool
}

func (i *clientInput) Read(p []byte) (int, error) {
	for len(i.rest) == 0 {
		if i.ended {
			return 0, io.EOF
		}
		if err := i.send(wantInput, nil); err != nil {
			return 0, err
		}
		select {
		case content, ok := <-i.asked:
			if !ok {
				return 0, io.ErrUnexpectedEOF
			}
			i.rest, i.ended = content, len(content) == 0
		case <-i.ctx.Done():
			return 0, i.ctx.Err()
		}
	}
	n := copy(p, i.rest)
	i.rest = i.rest[n:]
	return n, nil
}

// stream is an output of a command.
type stream struct {
	connection *connection
	kind       kind
	screen     Screen
}

// IsTerminal reports whether it is a terminal at the client.
func (s *stream) IsTerminal() bool { return s.screen.Terminal }

// Width returns how many columns they see, 0 if that is not known.
func (s *stream) Width() int { return s.screen.Columns }

func (s *stream) Write(p []byte) (n int, err error) {
	for part := range slices.Chunk(p, largest) {
		if err := s.connection.send(s.kind, part); err != nil {
			return n, fmt.Errorf("write to the client: %w", err)
		}
		n += len(part)
	}
	return n, nil
}
