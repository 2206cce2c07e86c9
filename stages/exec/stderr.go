package exec

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	longestLine = 4 << 10 // of standard error; what is longer is logged in parts
	lastLines   = 8       // are part of an error
	burst       = 200     // lines that may be logged at once
	perSecond   = 20      // and from then on
)

// diary logs what a program writes to standard error, as much of it as anybody can read, and remembers the
// last lines.
type diary struct {
	logger     *slog.Logger
	suppressed *atomic.Int64
	now        func() time.Time

	mu      sync.Mutex
	last    []string
	tokens  float64
	at      time.Time
	dropped int
}

func newDiary(logger *slog.Logger, suppressed *atomic.Int64) *diary {
	return &diary{logger: logger, suppressed: suppressed, now: time.Now, tokens: burst}
}

// keep reads until the program has closed its standard error.
func (d *diary) keep(stderr io.Reader) {
	r := bufio.NewReaderSize(stderr, longestLine)
	for {
		line, err := r.ReadSlice('\n')
		if text := strings.TrimRight(strings.ToValidUTF8(string(line), "�"), "\r\n"); text != "" {
			d.note(text)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

func (d *diary) note(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last = append(d.last, line)
	if len(d.last) > lastLines {
		d.last = append(d.last[:0], d.last[1:]...)
	}
	now := d.now()
	if !d.at.IsZero() {
		d.tokens = min(burst, d.tokens+perSecond*now.Sub(d.at).Seconds())
	}
	d.at = now
	if d.tokens < 1 {
		d.dropped++
		d.suppressed.Add(1)
		return
	}
	d.tokens--
	if d.dropped > 0 {
		d.logger.Warn("lines of standard error left out", "lines", d.dropped)
		d.dropped = 0
	}
	d.logger.Info("standard error", "line", line)
}

// said returns the last lines, to be added to an error.
func (d *diary) said() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.last) == 0 {
		return ""
	}
	return "; it said: " + strings.Join(d.last, "\n  ")
}
