package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/admin"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// crawl is the state of a pipeline after some seconds, in which fetch worked and cache held it up.
func crawl(seconds float64) admin.State {
	n := int64(100 * seconds)
	return admin.State{
		Name: "crawl", State: "running", Seconds: seconds, Flow: []string{"lines", "fetch", "cache"},
		Stages: map[string]admin.StageState{
			"lines": {Out: n},
			"fetch": {In: n, Out: n / 2, Waiting: 3, Capacity: 16, Busy: 2, Workers: 4, Spent: 3 * seconds, Held: seconds, P50: 12, P99: 2500, Errors: n / 100},
			"cache": {In: n / 2, Waiting: 16, Capacity: 16, Busy: 1, Workers: 1, Spent: seconds, P50: 0.2, P99: 0.9},
		},
	}
}

func TestATableIsTheDifferenceOfTwoSnapshots(t *testing.T) {
	t.Parallel()
	later := crawl(12)
	later.Stages["cache"] = admin.StageState{In: 10, Workers: 1, Spent: 9} // it was replaced
	tables := Compare([]admin.State{crawl(10)}, []admin.State{later})
	if len(tables) != 1 || len(tables[0].Rows) != 3 || tables[0].For != 12*time.Second {
		t.Fatalf("%+v", tables)
	}
	lines, fetch, cache := tables[0].Rows[0], tables[0].Rows[1], tables[0].Rows[2]
	if lines.Stage != "lines" || lines.Out != 100 || lines.In != 0 || lines.Busy != 0 {
		t.Errorf("%+v", lines)
	}
	if fetch.In != 100 || fetch.Out != 50 || fetch.Busy != 0.5 || fetch.Held != 0.25 || fetch.New != 2 || fetch.Errors != 12 {
		t.Errorf("%+v", fetch)
	}
	if cache.In != 5 || cache.Busy != 1 {
		t.Errorf("a stage that was replaced: %+v", cache)
	}
	if again := Compare([]admin.State{crawl(10)}, []admin.State{crawl(2)}); again[0].Rows[0].Out != 100 {
		t.Errorf("a pipeline that was started again: %+v", again)
	}
	if nothing := Compare([]admin.State{crawl(2)}, []admin.State{crawl(2)}); nothing[0].Rows[1].In != 0 {
		t.Errorf("no time has passed: %+v", nothing)
	}
}

func TestATableIsPrinted(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := Print(&out, Compare([]admin.State{crawl(10)}, []admin.State{crawl(12)})); err != nil {
		t.Fatal(err)
	}
	want := `crawl  running, for 12s
stage    in/s   out/s   waiting  busy  held  errors     p50     p99  in work starving
lines       0     100         0    0%    0%       0       -       -        0        0
fetch     100      50      3/16   50%   25%      12    12ms    2.5s      2/4        0
cache      50       0     16/16  100%    0%       0   200µs   900µs      1/1        0
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

// script is a process that goes on as told.
type script struct {
	seconds float64
	err     error
	told    []string
	tapped  chan string
}

func (s *script) Pipelines(context.Context) ([]admin.State, error) {
	s.seconds++
	search := crawl(s.seconds)
	search.Name = "search"
	return []admin.State{crawl(s.seconds), search}, s.err
}

func (s *script) Control(_ context.Context, name, what string) error {
	s.told = append(s.told, what+" "+name)
	if what == "drain" {
		return errors.New("it will not")
	}
	return nil
}

func (s *script) Tap(ctx context.Context, name, stage string, show func(pipeline.Tapped)) (string, error) {
	s.tapped <- name + " " + stage
	show(pipeline.Tapped{Kind: "document", Value: json.RawMessage(`{"url":"http://a/\u001b[2J","status":200}`), Time: time.Now()})
	<-ctx.Done()
	s.tapped <- "ended"
	return "", ctx.Err()
}

// live is a model with the first two snapshots, on a screen of this size.
func live(t *testing.T, width, height int, only ...string) (*Model, *script) {
	t.Helper()
	s := &script{tapped: make(chan string, 2)}
	m := New(t.Context(), s, only, time.Second, false)
	t.Cleanup(m.cancel)
	m.update(size{width, height})
	if view := m.view(); !strings.Contains(view, "asking") {
		t.Errorf("before the first answer: %q", view)
	}
	m.update(m.ask())
	m.update(m.ask())
	return m, s
}

// press presses keys and does what they ask for.
func press(m *Model, keys ...string) {
	for _, name := range keys {
		if cmd := m.update(key(name)); cmd != nil {
			m.update(cmd())
		}
	}
}

// row returns the line of the view that begins with a text.
func row(m *Model, begins string) string {
	for line := range strings.Lines(m.view()) {
		if strings.HasPrefix(line, begins) {
			return strings.TrimRight(line, "\n")
		}
	}
	return ""
}

func TestTheLiveTableShowsAndSelects(t *testing.T) {
	m, _ := live(t, 100, 30)
	if got := row(m, "> lines"); !strings.Contains(got, "100") {
		t.Errorf("the first stage is not selected:\n%s", m.view())
	}
	press(m, "down")
	if got := row(m, "> fetch"); !strings.Contains(got, "50%   25%") {
		t.Errorf("the second stage is not selected:\n%s", m.view())
	}
	press(m, "up", "up", "G")
	if m.selected != [2]string{"search", "cache"} {
		t.Errorf("the last of all is %v", m.selected)
	}
	press(m, "down", "g", "?")
	if view := m.view(); !strings.Contains(view, "sort by the next column") {
		t.Errorf("no help:\n%s", view)
	}
	press(m, "esc")
	if row(m, "> lines") == "" {
		t.Errorf("no way back from the help:\n%s", m.view())
	}
}

func TestTheLiveTableIsSorted(t *testing.T) {
	m, _ := live(t, 100, 30, "crawl")
	order := func() (names []string) {
		for _, r := range m.rows() {
			names = append(names, r.Stage)
		}
		return names
	}
	press(m, "s")
	if got := order(); !slices.Equal(got, []string{"fetch", "cache", "lines"}) || !strings.Contains(m.view(), "▾in/s") {
		t.Errorf("by what comes in: %v\n%s", got, m.view())
	}
	press(m, "s", "s", "s")
	if got := order(); got[0] != "cache" || !strings.Contains(m.view(), "▾busy") {
		t.Errorf("by how busy they are: %v\n%s", got, m.view())
	}
	m.update(m.ask())
	if got := order(); got[0] != "cache" {
		t.Errorf("with the next snapshot: %v", got)
	}
	press(m, "S", "S", "S", "S")
	if got := order(); !slices.Equal(got, []string{"lines", "fetch", "cache"}) {
		t.Errorf("in the order of the flow: %v", got)
	}
	press(m, "S")
	if m.sort != len(columns)-1 {
		t.Errorf("before the first column comes the last, not %d", m.sort)
	}
}

func TestAPipelineIsControlledFromTheTable(t *testing.T) {
	m, s := live(t, 100, 30)
	press(m, "p")
	if !strings.Contains(m.view(), "crawl is paused") {
		t.Errorf("nothing says that it is paused:\n%s", m.view())
	}
	m.tables[0].State = "paused"
	press(m, "p", "d")
	if !strings.Contains(m.view(), "y/n") {
		t.Errorf("nothing asks:\n%s", m.view())
	}
	press(m, "n", "d", "y")
	if want := []string{"pause crawl", "resume crawl", "drain crawl"}; !slices.Equal(s.told, want) {
		t.Errorf("it was told %v, want %v", s.told, want)
	}
	if !strings.Contains(m.view(), "it will not") {
		t.Errorf("nothing says what went wrong:\n%s", m.view())
	}
}

func TestAStageIsTappedFromTheTable(t *testing.T) {
	m, s := live(t, 100, 30)
	press(m, "down", "t")
	if at := <-s.tapped; at != "crawl fetch" {
		t.Errorf("%s is watched", at)
	}
	if view := m.view(); !strings.Contains(view, "what leaves crawl fetch") || !strings.Contains(view, "http://a/\\u001b[2J  status=200") {
		t.Errorf("no item is shown:\n%q", view)
	}
	press(m, "esc")
	if end := <-s.tapped; end != "ended" || strings.Contains(m.view(), "what leaves") {
		t.Errorf("the tap is still there:\n%s", m.view())
	}
	m.update(tapMsg{from: &tapPane{}}) // one that comes late
}

func TestTheLiveTableEndsWithTheProcess(t *testing.T) {
	m, s := live(t, 100, 30)
	s.err = admin.ErrNobody
	if cmd := m.update(m.ask()); cmd != nil || m.ctx.Err() == nil || !errors.Is(m.Err(), admin.ErrNobody) || len(m.Tables()) != 2 {
		t.Errorf("it goes on: %v", m.Err())
	}
	m, _ = live(t, 100, 30)
	if cmd := m.update(key("q")); cmd != nil || m.ctx.Err() == nil || m.Err() != nil {
		t.Errorf("q does not end it: %v", m.Err())
	}
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// However small the screen: no line is too long, there are no more lines than fit, and the selected stage is
// among them.
func TestTheLiveTableFitsEveryScreen(t *testing.T) {
	for _, colours := range []bool{false, true} {
		m, s := live(t, 100, 30)
		m.colours = colours
		press(m, "t", "G", "s")
		<-s.tapped
		for width := 12; width < 110; width += 7 {
			for height := 8; height < 30; height += 3 {
				m.update(size{width, height})
				view := sgr.ReplaceAllString(m.view(), "")
				lines := strings.Split(view, "\n")
				if len(lines) > height {
					t.Fatalf("%d lines on %dx%d:\n%s", len(lines), width, height, view)
				}
				for _, line := range lines {
					if n := utf8.RuneCountInString(line); n > width {
						t.Fatalf("a line of %d on %dx%d:\n%s", n, width, height, view)
					}
				}
				if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "> ") }) {
					t.Fatalf("no stage is selected on %dx%d:\n%s", width, height, view)
				}
			}
		}
	}
}

func TestAnItemIsDescribedByWhatSaysMost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, value, body, what, rest string }{
		{"document", `{"status":200,"url":"http://a/","title":"T","links":["a","b"],"header":{"A":["b"]},"at":"2026"}`, "<html>", "http://a/",
			"status=200 title=T at=2026 links=[2] header={1}"},
		{"text", `{}`, "one\ntwo", "one two", ""},
		{"text", `{}`, "\x00", "text", ""},
		{"json", `7`, "", "7", ""},
		{"json", `[1,2]`, "", "json", ""},
		{"failure", `{"stage":"fetch","error":"no route","attempts":1,"value":{"url":"http://a/"}}`, "", "no route", "stage=fetch attempts=1 value={1}"},
		{"record", `{"price":1.5,"text":"` + strings.Repeat("ü", 40) + `"}`, "", "record", "price=1.5 text=" + strings.Repeat("ü", 24) + "…"},
		{"broken", `{"a":`, "", "broken", ""},
	} {
		item := pipeline.Tapped{Kind: c.kind, Value: json.RawMessage(c.value), Body: []byte(c.body), BodySize: len(c.body)}
		what, fields := Describe(item)
		var rest []string
		for _, f := range fields {
			rest = append(rest, f.Name+"="+f.Text)
		}
		if what != c.what || strings.Join(rest, " ") != c.rest {
			t.Errorf("%s: %q %q, want %q %q", c.value, what, strings.Join(rest, " "), c.what, c.rest)
		}
	}
}

// typed is what a user types, a piece at a time.
type typed chan string

func (t typed) Read(p []byte) (int, error) {
	text, ok := <-t
	if !ok {
		return 0, io.EOF
	}
	return copy(p, text), nil
}

func TestTheLiveTableOnATerminal(t *testing.T) {
	s := &script{tapped: make(chan string, 2)}
	m := New(t.Context(), s, nil, time.Millisecond, true)
	keys, screen := make(typed), new(strings.Builder)
	var width atomic.Int64
	width.Store(80)
	ready := make(chan struct{})
	begun := sync.OnceFunc(func() { close(ready) })
	ended := make(chan error)
	go func() {
		ended <- Run(keys, screen, func() (int, int) {
			if m.tables != nil {
				begun()
			}
			return int(width.Load()), 24
		}, m)
	}()
	<-ready
	keys <- "\x1b[B"
	keys <- "jk\x1b[99~"
	width.Store(60)
	keys <- "t"
	if at := <-s.tapped; at != "crawl fetch" {
		t.Errorf("after one step down %s is watched", at)
	}
	keys <- "\x1b\x03" // both at once
	<-s.tapped
	if err := <-ended; err != nil {
		t.Error(err)
	}
	close(keys)
	shown := screen.String()
	if !strings.HasPrefix(shown, enter+top) || !strings.HasSuffix(shown, leave) || strings.Contains(strings.ReplaceAll(shown, "\r\n", ""), "\n") || m.width != 60 {
		t.Errorf("%d columns; the terminal was told %q", m.width, shown)
	}
}

func TestTheLiveTableEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	keys := make(typed)
	defer close(keys)
	m := New(ctx, &script{}, nil, time.Hour, true)
	cancel()
	if err := Run(keys, new(strings.Builder), func() (int, int) { return 80, 24 }, m); err != nil {
		t.Error(err)
	}
}

// Whatever is typed, it is all read, and none of it is a name that the terminal sends.
func FuzzKeys(f *testing.F) {
	f.Add([]byte("\x1b[Aq\x1b"))
	f.Add([]byte("ü\xff\x1bOZ"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for len(text) > 0 {
			name, size := keyOf(text)
			if size < 1 || size > len(text) || strings.Contains(name, "\x1b") {
				t.Fatalf("%q: %q of %d bytes", text, name, size)
			}
			text = text[size:]
		}
	})
}

func TestNumbersAreShort(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		rate(0.04): "0.0", rate(12.6): "13", rate(250_000): "250k", count(1_234_567): "1.2M", milliseconds(0.0005): "500ns", milliseconds(1234): "1.2s",
		fmt.Sprint(pad("keyword-filter", 8)): "keyword…", outOf(3, 0): "3",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
