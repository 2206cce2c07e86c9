package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/webrace/webrace/internal/terminal"
)

// onTerminal runs a command to its end at a terminal of so many columns, and returns what stands there, without what
// was written over.
func onTerminal(t *testing.T, columns int, dir, program string, args ...string) string {
	t.Helper()
	screen, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(tty, &pty.Winsize{Cols: uint16(columns), Rows: 50}); err != nil {
		t.Fatal(err)
	}
	p := &command{Cmd: exec.Command(program, args...), t: t}
	p.Dir, p.Stdin, p.Stdout, p.Stderr = dir, strings.NewReader(""), tty, tty
	p.begin()
	tty.Close()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer screen.Close()
		io.Copy(&p.output, screen)
	}()
	select {
	case <-ended:
	case <-time.After(patience):
		p.Process.Kill()
		t.Fatalf("%v does not end:\n%s", args, p.said())
	}
	p.Wait()
	var lines []string
	for line := range strings.SplitSeq(strings.ReplaceAll(p.said(), "\r\n", "\n"), "\n") {
		_, after, over := strings.Cut(line, "\r\x1b[K")
		for over {
			line = after
			_, after, over = strings.Cut(line, "\r\x1b[K")
		}
		lines = append(lines, sequences.ReplaceAllString(line, ""))
	}
	return strings.Join(lines, "\n")
}

// mustFit wants no line longer than the terminal but one of a single word, which is a URL or a path to copy, or of
// JSON.
func mustFit(t *testing.T, columns int, said string) {
	t.Helper()
	for line := range strings.SplitSeq(said, "\n") {
		if terminal.Columns(line) > columns && len(strings.Fields(line)) > 1 && !json.Valid([]byte(line)) {
			t.Errorf("a line does not fit into %d columns: %q", columns, line)
		}
	}
}

// said is a step at a terminal: what a command prints there, and what not.
type said struct {
	command string
	want    []string
	not     []string
}

// TestTerminal goes through what a new user types, on terminals of three widths: it fits, and is true of this run.
func TestTerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("dozens of commands, one after the other: not in short mode")
	}
	t.Parallel()
	site := newTerminalSite(t)
	for _, columns := range []int{80, 100, 160} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			t.Parallel()
			mustSayInTurn(t, columns, t.TempDir(), terminalSteps(site)...)
		})
	}
}

// mustSayInTurn runs commands at a terminal of so many columns, one after the other in a directory.
func mustSayInTurn(t *testing.T, columns int, dir string, steps ...said) {
	t.Helper()
	for _, s := range steps {
		args := strings.Fields(s.command)
		text := onTerminal(t, columns, dir, args[0], args[1:]...)
		mustFit(t, columns, text)
		flat := strings.Join(strings.Fields(text), " ")
		for _, want := range s.want {
			if !strings.Contains(flat, want) {
				t.Errorf("%s does not say %q:\n%s", s.command, want, text)
			}
		}
		for _, not := range s.not {
			if strings.Contains(flat, not) {
				t.Errorf("%s says %q:\n%s", s.command, not, text)
			}
		}
	}
}

// newTerminalSite serves a start that is fetched, and links to one that is not there and one that appears.
func newTerminalSite(t *testing.T) *site {
	w := newSite(t)
	w.page("/", `tea <a href="/none">none</a> <a href="/leaf">leaf</a>`)
	w.page("/leaf", "tea "+strings.Repeat("and a long text that is wider than any terminal is ", 9))
	w.handle("/none", func(w http.ResponseWriter, _ *http.Request) { http.NotFound(w, nil) })
	return w
}

func terminalSteps(s *site) []said {
	crawl := "webrace-run crawl --set fetch.allow_networks=loopback --set frontier.fresh=0s "
	look := []said{
		{"webrace-run stages", []string{"sources acis", "crawling feed-parse", "annotation aci-emit", "out drop"}, nil},
		{"webrace-run stages fetch", []string{"gives at errors", "options of every stage", "buffer", "on_error"}, nil},
		{"webrace-run stages front", []string{"did you mean frontier?"}, []string{"print"}},
		{"webrace-run crawl --keywrd=tea x", []string{"did you mean --keyword?"}, nil},
	}
	for _, command := range []string{"", "crawl ", "run ", "try ", "tap ", "stages ", "check ", "top "} {
		look = append(look, said{"webrace-run " + command + "--help", []string{"Usage:", "Flags:"}, nil})
	}
	for _, command := range []string{"", "aci list ", "gc ", "urd add ", "search ", "cache export ", "frontier ", "explain ", "scope add "} {
		look = append(look, said{"webrace-store " + command + "--help", []string{"Usage:", "Flags:"}, nil})
	}
	return append(look,
		said{crawl + s.URL + "/ --keyword tea:5", []string{"1 URL gave no document", "/none: 404 Not Found", "/leaf", "why: tea"}, nil},
		said{crawl + s.URL + "/ --keyword tea:5", []string{"nothing new for", "they were told before", "1 URL gave"}, []string{"why: tea"}},
		said{crawl + s.URL + "/leaf --depth 1", nil, []string{"404"}},
		said{crawl + "http://127.0.0.1:9/ --set frontier.wait=0s", []string{"connection refused", "the start could not be asked"}, []string{"/none"}},
		said{crawl + "http://127.0.0.1:9/ --set frontier.wait=0s -k tea", []string{"the start could not be asked"}, []string{"nothing new"}},
		said{"webrace-store frontier pause a.example", []string{"a.example is paused in crawl"}, nil},
		said{"webrace-store frontier resume a.example", []string{"a.example is asked again in crawl"}, nil},
		said{"webrace-store scope add deny path /x/", []string{"added to crawl: deny path /x/"}, nil},
		said{"webrace-store scope rm 1", []string{"removed from crawl: deny path /x/"}, nil},
		said{"webrace-store owner quota eleni 1", []string{"eleni may cause 1 request a day"}, nil},
		said{"webrace-run --version", []string{"webrace-run ", " go1."}, []string{"github.com/"}},
		said{"webrace-store --version --modules", []string{"github.com/spf13/cobra"}, nil},
		said{"webrace-run list --json", []string{`{"name":"crawl","title":`}, nil},
		said{"webrace-run export --dry", []string{"write-file would write it to a file:", "title=Page", "This was a dry run"}, nil},
		said{crawl + s.URL + "/ --data other", []string{"stored:", s.URL + "/leaf"}, nil},
		said{"webrace-run demo multicrawler --data q", []string{" quads were written", "FORMAT DOCUMENTS QUADS PROBLEMS", "WHAT PROPERTY BY VALUE"}, nil},
	)
}
