package remote

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// answerWithin is how long the owner may take to answer that it is there, and the client then to send its command.
const answerWithin = 10 * time.Second

// ErrLost means that the owner was gone before the command had ended: what the command did is not known.
var ErrLost = errors.New("the process that owns the data directory ended before it had answered")

// RefusedError means that the owner does not run such commands, and has begun none.
type RefusedError struct{ answer string }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the process that owns the data directory answers %s to %s: it is of another release", e.answer, Protocol)
}

// Client sends a command to the owner of a data directory.
type Client struct {
	Path     string // empty: Path
	In       io.Reader
	Out, Err io.Writer
}

// Run sends a command over a connection to the owner's socket, which it closes, and returns the status that
// the command ended with. When ctx ends, so does the command.
func (c *Client) Run(ctx context.Context, conn net.Conn, q Request) (status int, err error) {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	reader, err := upgrade(conn, cmp.Or(c.Path, Path))
	if err != nil {
		return 0, err
	}
	if err := writeJSON(conn, request, q); err != nil {
		return 0, lost(ctx, err)
	}
	return c.follow(ctx, conn, reader)
}

// upgrade leaves HTTP behind.
func upgrade(conn net.Conn, path string) (*bufio.Reader, error) {
	if err := conn.SetDeadline(time.Now().Add(answerWithin)); err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: webrace\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", path, Protocol); err != nil {
		return nil, err
	}
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusSwitchingProtocols {
		return nil, &RefusedError{response.Status}
	}
	return reader, conn.SetDeadline(time.Time{})
}

// follow passes on what the owner sends until the command has ended.
func (c *Client) follow(ctx context.Context, conn net.Conn, reader *bufio.Reader) (int, error) {
	inputs := &inputs{in: c.In, conn: conn}
	for {
		k, content, err := readFrame(reader)
		if err != nil {
			return 0, lost(ctx, err)
		}
		switch k {
		case stdout:
			_, err = c.Out.Write(content)
		case stderr:
			_, err = c.Err.Write(content)
		case wantInput:
			inputs.sendMore()
		case exit:
			var status int
			err := json.Unmarshal(content, &status)
			return status, err
		}
		if err != nil {
			return 0, err
		}
	}
}

func lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w: %w", ErrLost, err)
}

// inputs reads standard input when it is asked for, and not before: what the command does not read is for
// the next program. It reads beside what the owner sends, because the command may end without it.
type inputs struct {
	in      io.Reader
	conn    net.Conn
	reading sync.Mutex
}

func (i *inputs) sendMore() {
	go func() {
		i.reading.Lock()
		defer i.reading.Unlock()
		buffer, n := make([]byte, 64<<10), 0
		for err := error(nil); n == 0 && err == nil; {
			n, err = i.in.Read(buffer)
		}
		_ = writeFrame(i.conn, input, buffer[:n]) // that the owner is gone is found where its answer is read
	}()
}
