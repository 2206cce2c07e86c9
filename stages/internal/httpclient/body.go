package httpclient

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/contentcoding"
)

// wireSlack is by how much an encoded body may exceed the limit of the decoded one before it is cut.
const wireSlack = 64 << 10

// ErrIncomplete is of a body that ends before its length, its last chunk or the end of its encoding.
var ErrIncomplete = errors.New("it ends early")

// read takes the body off the connection and out of its encodings, as far as it is in them: what is not is kept as it
// came, and what is damaged up to there; a.Broken tells why. One that ends early is kept like that if keep allows it,
// and something of it came. Before it takes more memory than there is room for it calls more. The error is of that, of
// the connection or of a body that ends early.
func (a *Response) read(response *http.Response, limit int, keep func() bool, more func(bytes int) error) (err error) {
	var encodings []string
	if encodings, a.Broken = contentcoding.Names(response.Header["Content-Encoding"]); a.Broken != nil {
		a.Broken = fmt.Errorf("%w: left as it is", a.Broken)
	}
	wire := &contentcoding.Limited{From: response.Body, Left: limit + 1}
	if len(encodings) > 0 {
		wire.Left += wireSlack
	}
	layers := contentcoding.Open(wire, encodings)
	defer layers.Release()
	var poor error
	may := func(bytes int) error {
		poor = more(bytes)
		return poor
	}
	hint := sizeHint(response.ContentLength, len(encodings)) + 1 // a full one would have to grow to find the end
	if err = may(hint); err != nil {
		return err
	}
	a.buffer = newBuffer(hint)
	for again := true; again; {
		var long bool
		if long, err = a.buffer.fill(layers, limit, may); long {
			a.Truncated = webrace.TruncatedByLength
		}
		undone := error(nil)
		if err != nil {
			undone = layers.Undo()
		}
		if again = undone != nil; again {
			a.Broken, a.buffer.bytes = undone, a.buffer.bytes[:0]
		}
	}
	switch {
	case err == nil:
	case poor != nil:
		a.Release()
		return poor
	case wire.Err != nil || errors.Is(err, io.ErrUnexpectedEOF) && !wire.Cut():
		if len(a.buffer.bytes) == 0 || !keep() {
			a.Release()
			return fmt.Errorf("body broken off: %w", cmp.Or(wire.Err, err))
		}
		a.Truncated, a.Broken = end(wire.Err), fmt.Errorf("%w (%w): kept as far as it came", ErrIncomplete, cmp.Or(wire.Err, err))
	default:
		a.Truncated = webrace.TruncatedByLength
		if !wire.Cut() && !errors.Is(err, contentcoding.ErrTooLong) {
			a.Truncated, a.Broken = webrace.TruncatedUnspecified, fmt.Errorf("it is damaged (%s: %w): kept as far as it could be decoded", strings.Join(encodings, ", "), err)
		}
	}
	a.Body = a.buffer.bytes
	return nil
}

// end returns how a body ended early, by the error of its connection if there was one.
func end(err error) webrace.Truncation {
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return webrace.TruncatedByTime
	}
	return webrace.TruncatedByDisconnect
}

// sizeHint returns how large a buffer to begin with: a length is only believed up to a point, because
// sending a large one costs nothing.
func sizeHint(contentLength int64, layers int) int {
	const believed = 512 << 10
	size := max(0, min(contentLength, believed))
	if layers > 0 {
		size *= 4 // as text mostly grows
	}
	return int(min(size, believed))
}

// drain reads the rest of a small body, so that the connection can be used again.
func drain(response *http.Response) {
	if response.ContentLength <= drainable && !response.Close && response.StatusCode != http.StatusSwitchingProtocols {
		_, _ = io.CopyN(io.Discard, response.Body, drainable)
	}
}
