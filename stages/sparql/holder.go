package sparql

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"
)

// mostHeld is how much of an answer is held back: what fails before has a status.
const mostHeld = 64 << 10

var (
	errHead   = errors.New("the header is all that was asked for")
	errOldWay = refuse(http.StatusHTTPVersionNotSupported, "the answer has more than %d KiB, and HTTP/1.0 cannot tell a part from the whole: "+
		"ask by HTTP/1.1 (with nginx in between: proxy_http_version 1.1), or with LIMIT and OFFSET", mostHeld>>10)
)

// holder writes an answer. It holds back its beginning, so that an answer which fails soon can still become an error.
type holder struct {
	w       http.ResponseWriter
	head    bool // only the header is wanted
	chunked bool // the client can tell a part of an answer from the whole

	held bytes.Buffer
	n    int64
	sent bool // the beginning is on its way
}

func (h *holder) Write(p []byte) (n int, err error) {
	h.n += int64(len(p))
	if !h.sent && h.held.Len()+len(p) <= mostHeld {
		return h.held.Write(p)
	}
	if err := h.begin(); err != nil {
		return 0, err
	}
	return h.w.Write(p)
}

// begin sends what was held back.
func (h *holder) begin() error {
	switch {
	case h.sent:
		return nil
	case h.head:
		return errHead
	case !h.chunked:
		return errOldWay
	}
	h.sent = true
	_, err := h.w.Write(h.held.Bytes())
	h.held = bytes.Buffer{}
	return err
}

// finish sends what is still held: a short answer, whose length is known.
func (h *holder) finish() error {
	if h.sent {
		return nil
	}
	h.w.Header().Set("Content-Length", strconv.Itoa(h.held.Len()))
	h.sent = true
	_, err := h.w.Write(h.held.Bytes())
	return err
}
