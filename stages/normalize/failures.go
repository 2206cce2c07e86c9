package normalize

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
)

// largestLog is how large the log of failures grows before it begins anew; the one before is kept beside it.
const largestLog = 1 << 20

// failureLog is the papers' log of links that could not be normalized: lines of time, page, reference and
// reason, with tabs between them, in a file of the data directory. A reference is told once for each time
// its page was read. Without a data directory there is none.
type failureLog struct {
	env  *pipeline.Env
	path string

	mu   sync.Mutex
	file *os.File
	size int64
	over bool // it could not be written, or has ended
}

func newFailureLog(env *pipeline.Env) *failureLog {
	l := &failureLog{env: env, over: true}
	if dir, err := pipeline.Resource[*storage.Dir](env); err == nil {
		l.path, l.over = dir.Path("failed-links."+env.Pipeline+".tsv"), false
	}
	return l
}

func (l *failureLog) add(page string, failures []extract.Failure) {
	if len(failures) == 0 {
		return
	}
	var lines bytes.Buffer
	now := time.Now().UTC().Format(time.RFC3339)
	for _, f := range failures {
		fmt.Fprintf(&lines, "%s\t%s\t%s\t%s\n", now, page, oneField(f.Reference), oneField(reason(f.Err)))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return
	}
	if err := l.write(lines.Bytes()); err != nil { // a log is not worth a page
		l.over = true
		l.env.Logger.Warn("links that cannot be normalized are not logged any more", "file", l.path, "error", err)
	}
}

// write appends to the file, and begins it anew if it is full.
func (l *failureLog) write(lines []byte) (err error) {
	if l.file != nil && l.size+int64(len(lines)) > largestLog {
		err = l.file.Close()
		l.file = nil
		if err == nil {
			err = os.Rename(l.path, l.path+".old")
		}
	}
	if err == nil && l.file == nil {
		err = l.open()
	}
	if err != nil {
		return err
	}
	n, err := l.file.Write(lines)
	l.size += int64(n)
	return err
}

func (l *failureLog) open() (err error) {
	if l.file, err = os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
		return err
	}
	info, err := l.file.Stat()
	if err == nil {
		l.size = info.Size()
	}
	return err
}

func (l *failureLog) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}

// reason leaves the reference out of an error, which stands beside it.
func reason(err error) string {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	text := err.Error()
	if _, after, ok := strings.Cut(text, ": "); ok && strings.HasPrefix(text, "parse ") {
		text = after
	}
	return text
}

// oneField keeps a text to one field of a line.
func oneField(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
}
