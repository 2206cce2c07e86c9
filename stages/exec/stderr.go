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

// stderrLog logs what a program writes to standard error, as much of it as a person can read, and remembers the
// last lines.
type stderrLog struct {
	logger     *slog.Logger
	suppressed *atomic.Int64
	now        func() time.Time

	mu      sync.Mutex
	last    []string
	tokens  float64
	at      time.Time
	dropped int
}

func newStderrLog(logger *slog.Logger, suppressed *atomic.Int64) *stderrLog {
	return &stderrLog{logger: logger, suppressed: suppressed, now: time.Now, tokens: burst}
}

// keep reads until the program has closed its standard error.
func (l *stderrLog) keep(stderr io.Reader) {
	r := bufio.NewReaderSize(stderr, longestLine)
	for {
		line, err := r.ReadSlice('\n')
		if text := strings.TrimRight(strings.ToValidUTF8(string(line), "�"), "\r\n"); text != "" {
			l.note(text)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

func (l *stderrLog) note(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = append(l.last, line)
	if len(l.last) > lastLines {
		l.last = append(l.last[:0], l.last[1:]...)
	}
	now := l.now()
	if !l.at.IsZero() {
		l.tokens = min(burst, l.tokens+perSecond*now.Sub(l.at).Seconds())
	}
	l.at = now
	if l.tokens < 1 {
		l.dropped++
		l.suppressed.Add(1)
		return
	}
	l.tokens--
	if l.dropped > 0 {
		l.logger.Warn("lines of standard error left out", "lines", l.dropped)
		l.dropped = 0
	}
	l.logger.Info("standard error", "line", line)
}

// said returns the last lines, to be added to an error.
func (l *stderrLog) said() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.last) == 0 {
		return ""
	}
	return "; it said: " + strings.Join(l.last, "\n  ")
}
