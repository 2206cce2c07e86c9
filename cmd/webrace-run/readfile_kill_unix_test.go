//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	logRounds = flag.Int("log-rounds", 5, "how much TestKilledWhileFilesAreWritten writes, during some kills each")
	logSeed   = flag.Uint64("log-seed", 1, "what it does, and in which order")
)

// logbook is who writes files, and the oracle: it knows which lines it has written, and which keys came with them, and
// nothing of how files are read.
type logbook struct {
	t       *testing.T
	r       *rand.Rand
	dir     string
	follows bool // who reads

	number  int
	wanted  map[string]int // how often a line was written
	fresh   bool           // the log is empty
	partial string         // the last line of the log, which has no end yet
	rotated []string       // logs that are put aside, not compressed yet

	mu       sync.Mutex
	keys     map[string]map[string]int // how often a line came, by its keys
	requests int
	reader   *os.Process
	killAt   int // the request at which it is killed, before that is answered; 0: it is not
}

// ServeHTTP takes a line.
func (l *logbook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // its sender was killed
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	line, key := string(body), r.Header.Get("Idempotency-Key")
	if l.keys[line] == nil {
		l.keys[line] = make(map[string]int)
	}
	l.keys[line][key]++
	if l.requests++; l.killAt > 0 && l.requests >= l.killAt {
		_ = l.reader.Kill()
		l.killAt = 0
	}
}

// readers runs the command again and again until there is no more to read. It returns how many were killed.
func (l *logbook) readers(command []string, ended chan struct{}) (killed int) {
	for {
		p := newCommand(l.t, command...)
		if err := p.Start(); err != nil {
			l.t.Error(err)
			return killed
		}
		l.mu.Lock()
		l.reader = p.Process
		l.mu.Unlock()
		done := make(chan error, 1)
		go func() { done <- p.Wait() }()
		select {
		case err := <-done:
			if p.ProcessState.ExitCode() < 0 {
				killed++
			} else if err != nil {
				l.t.Errorf("%v\n%s", err, p.said())
				return killed
			}
		case <-ended:
			_ = p.Process.Kill()
			<-done
			return killed
		}
	}
}

// killSoon kills the reader while it waits for one of the next answers.
func (l *logbook) killSoon() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.killAt = l.requests + 1 + l.r.IntN(20)
}

func (l *logbook) log() string { return filepath.Join(l.dir, "log") }

// want notes that a line has been written.
func (l *logbook) want(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wanted[fmt.Sprintf("%q", line)]++
}

func (l *logbook) append(text string) {
	l.t.Helper()
	file, err := os.OpenFile(l.log(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		l.t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil {
		l.t.Fatal(err)
	}
}

// write adds lines, of which some are equal, and may leave the last one without its end.
func (l *logbook) write() {
	for range 1 + l.r.IntN(8) {
		line := "the same line again"
		if l.fresh || l.r.IntN(4) > 0 { // a log that begins as the one before it did, up to where that was read, is taken for it
			l.number++
			line = fmt.Sprintf("line %d", l.number)
		}
		l.want(l.partial + line)
		l.append(line + "\n")
		l.partial, l.fresh = "", false
	}
	if l.r.IntN(3) == 0 {
		l.number++
		l.partial += fmt.Sprintf("half %d ", l.number)
		l.append(fmt.Sprintf("half %d ", l.number))
	}
}

func (l *logbook) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// putAside renames the log, or copies and truncates it.
func (l *logbook) putAside(copied bool) {
	if l.partial != "" {
		l.want(l.partial)
		l.append("\n")
		l.partial = ""
	}
	name := filepath.Join(l.dir, fmt.Sprintf("log.%d", len(l.wanted)+l.number*1000+l.r.IntN(1000)))
	if copied {
		text, err := os.ReadFile(l.log())
		l.must(err)
		l.must(os.WriteFile(name, text, 0o600))
		l.must(os.Truncate(l.log(), 0))
	} else {
		l.must(os.Rename(l.log(), name))
		l.append("")
	}
	l.rotated, l.fresh = append(l.rotated, name), true
}

// compress makes a .gz of a log that was put aside, in pieces as gzip does.
func (l *logbook) compress() {
	if len(l.rotated) == 0 {
		return
	}
	i := l.r.IntN(len(l.rotated))
	name := l.rotated[i]
	l.rotated = slices.Delete(l.rotated, i, i+1)
	text, err := os.ReadFile(name)
	l.must(err)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(text)
	l.must(z.Close())
	file, err := os.Create(name + ".gz")
	l.must(err)
	defer file.Close()
	for piece := range slices.Chunk(packed.Bytes(), 1+l.r.IntN(packed.Len())) {
		_, err := file.Write(piece)
		l.must(err)
	}
	l.must(os.Remove(name))
}

// replaceExport writes a file anew, in place or beside, when the one that was there has been read.
func (l *logbook) replaceExport() {
	l.mustHaveCome()
	lines := []string{"a first line that stays"}
	for range 1 + l.r.IntN(5) {
		l.number++
		lines = append(lines, fmt.Sprintf("row %d", l.number))
	}
	for _, line := range lines {
		l.want(line)
	}
	text := []byte(strings.Join(lines, "\n") + "\n")
	if l.r.IntN(2) == 0 {
		l.must(os.WriteFile(filepath.Join(l.dir, "export"), text, 0o600))
		return
	}
	l.must(os.WriteFile(filepath.Join(l.dir, "new"), text, 0o600))
	l.must(os.Rename(filepath.Join(l.dir, "new"), filepath.Join(l.dir, "export")))
}

// work does one thing after the other, without waiting for who reads.
func (l *logbook) work(things int) {
	for range things {
		switch l.r.IntN(14) {
		case 0:
			l.putAside(false)
		case 1:
			l.putAside(l.follows) // a run that does not follow may take a copy before the log is truncated
			l.mustHaveCome()      // the copy is known again by what was read of the log
		case 2, 3:
			l.compress()
		case 4:
			l.replaceExport()
		case 5:
			l.killSoon()
		default:
			l.write()
		}
		time.Sleep(time.Duration(l.r.IntN(20)) * time.Millisecond) // so that kills come between
	}
}

// fault returns what is missing, or came by another key when it came again: "" if nothing is.
func (l *logbook) fault() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range slices.Sorted(maps.Keys(l.wanted)) {
		if n := len(l.keys[line]); n != l.wanted[line] {
			return fmt.Sprintf("%s came by %d keys, and was written %d times", line, n, l.wanted[line])
		}
	}
	for line := range l.keys {
		if l.wanted[line] == 0 {
			return line + " came, and was not written"
		}
	}
	return ""
}

func (l *logbook) mustHaveCome() {
	l.t.Helper()
	waitFor(l.t, func() bool { return l.fault() == "" }, l.fault)
}

// A program that is killed again and again while files are written, renamed, compressed, truncated and replaced
// delivers each line once, but for those that it repeats, with the key that they had.
func TestKilledWhileFilesAreWritten(t *testing.T) {
	for name, arguments := range map[string][]string{"each run reads what is there": nil, "a run that follows": {"--continuous"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			book := &logbook{t: t, r: rand.New(rand.NewPCG(*logSeed, uint64(len(arguments)))), dir: t.TempDir(), follows: arguments != nil, wanted: make(map[string]int), keys: make(map[string]map[string]int)}
			receiver := httptest.NewServer(book)
			defer receiver.Close()
			home := t.TempDir()
			config := filepath.Join(home, "pipelines.toml")
			writeFile(t, config, fmt.Sprintf(`version = 1
[pipeline.log]
flow = ["read-file > http-out"]
[pipeline.log.stage]
read-file = { paths = [%q, %q], positions = %q, follow = true, on_error = "retry" }
http-out = { url = %q, allow_networks = ["loopback"], attempts = 0, backoff = "5ms", max_backoff = "20ms" }
`, filepath.Join(book.dir, "log*"), filepath.Join(book.dir, "export"), filepath.Join(home, "positions"), receiver.URL))
			book.append("")
			book.replaceExport()
			command := append([]string{"log", "--config", config, "--data", filepath.Join(home, "data"), "--log", "text"}, arguments...)
			ended := make(chan struct{}) // no reader is killed any more, and none is needed
			killed := make(chan int)
			go func() { killed <- book.readers(command, ended) }()
			defer func() {
				select {
				case <-ended:
				default: // the test failed
					close(ended)
					<-killed
				}
			}()
			for range *logRounds {
				book.work(20)
			}
			book.mustHaveCome()
			close(ended)
			kills := <-killed
			if fault := book.fault(); fault != "" {
				t.Error(fault)
			}
			repeated := 0
			for _, keys := range book.keys {
				for _, n := range keys {
					repeated += n - 1
				}
			}
			t.Logf("%d kills; %d lines, %d deliveries repeated", kills, len(book.keys), repeated)
			if kills == 0 || repeated == 0 {
				t.Errorf("%d kills, %d deliveries repeated: nothing was tried", kills, repeated)
			}
		})
	}
}
