package watch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/webrace/webrace/internal/terminal"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/admin"
)

// Source is the process that is watched.
type Source interface {
	Pipelines(ctx context.Context) ([]admin.State, error)
	Control(ctx context.Context, name, what string) error
	// Tap calls show with items that leave a stage, until ctx or the tap ends, and returns why it did.
	Tap(ctx context.Context, name, stage string, show func(pipeline.Tapped)) (reason string, err error)
}

// Model is the live table; [Run] shows it on a terminal.
type Model struct {
	source   Source
	only     []string // names of pipelines; all if empty
	interval time.Duration
	colours  bool
	ctx      context.Context
	cancel   context.CancelFunc // ends the model

	width, height int
	before        []admin.State
	tables        []Table
	selected      [2]string // pipeline and stage
	sort          int       // a column; -1 is the order of the flow
	help          bool
	asks          string // the pipeline that is drained if the answer is yes
	says          string // what became of what was last done
	tap           *tapPane
	err           error
}

// New returns a model of the pipelines of these names, or of all.
func New(ctx context.Context, source Source, only []string, interval time.Duration, colours bool) *Model {
	m := &Model{source: source, only: only, interval: interval, colours: colours, sort: -1}
	m.ctx, m.cancel = context.WithCancel(ctx)
	return m
}

// Err returns why the model ended on its own; nil if the user ended it.
func (m *Model) Err() error { return m.err }

// Tables returns what was last shown.
func (m *Model) Tables() []Table { return m.tables }

// message is what happens to a model: a key, a size, an answer.
type message any

// command is what a model wants done, beside everything else; what comes of it happens to the model.
type command func() message

type (
	key      string // as keyOf names it
	size     struct{ width, height int }
	snapshot struct {
		states []admin.State
		err    error
		extra  bool // not one of those that come at every interval
	}
	tick struct{}
	done struct {
		what string
		err  error
	}
)

// ask asks for a snapshot.
func (m *Model) ask() message {
	states, err := m.source.Pipelines(m.ctx)
	return snapshot{states: states, err: err}
}

// askAlso asks for a snapshot at once, besides those that come anyway.
func (m *Model) askAlso() message {
	states, err := m.source.Pipelines(m.ctx)
	return snapshot{states, err, true}
}

// update obeys a key, or takes in what was asked for.
func (m *Model) update(msg message) command {
	switch msg := msg.(type) {
	case size:
		m.width, m.height = msg.width, msg.height
	case key:
		return m.press(string(msg))
	case tick:
		return m.ask
	case snapshot:
		return m.take(msg)
	case done:
		m.says = msg.what
		if msg.err != nil {
			m.says = terminal.Line(msg.err.Error())
		}
		return m.askAlso
	case tapMsg:
		return m.tapped(msg)
	}
	return nil
}

// take shows the next snapshot, and arranges for the one after it. Where the process does not answer any more, that
// is the end.
func (m *Model) take(s snapshot) command {
	if s.err != nil {
		m.err = s.err
		m.cancel()
		return nil
	}
	if len(m.only) > 0 {
		s.states = slices.DeleteFunc(s.states, func(p admin.State) bool { return !slices.Contains(m.only, p.Name) })
	}
	m.tables, m.before = Compare(m.before, s.states), s.states
	m.arrange()
	if s.extra {
		return nil
	}
	return m.pauseThenTick
}

// arrange sorts the rows, and selects the first where the selected one is gone.
func (m *Model) arrange() {
	for _, t := range m.tables {
		slices.SortStableFunc(t.Rows, inFlow)
		if m.sort >= 0 {
			slices.SortStableFunc(t.Rows, columns[m.sort].less)
		}
	}
	if rows := m.rows(); len(rows) > 0 && m.at(rows) < 0 {
		m.selected = [2]string{rows[0].Pipeline, rows[0].Stage}
	}
}

func (m *Model) rows() (all []Row) {
	for _, t := range m.tables {
		all = append(all, t.Rows...)
	}
	return all
}

func (m *Model) at(rows []Row) int {
	return slices.IndexFunc(rows, func(r Row) bool { return [2]string{r.Pipeline, r.Stage} == m.selected })
}

func (m *Model) pauseThenTick() message {
	select {
	case <-time.After(m.interval):
		return tick{}
	case <-m.ctx.Done():
		return nil
	}
}

// press obeys a key. While a question is asked, it is the answer.
func (m *Model) press(key string) command {
	m.says = ""
	if name := m.asks; name != "" {
		m.asks = ""
		if key == "y" {
			return m.control(name, "drain")
		}
		return nil
	}
	switch key {
	case "q", "ctrl-c":
		m.cancel()
	case "up", "k":
		m.move(-1)
	case "down", "j":
		m.move(1)
	case "home", "g":
		m.move(-len(m.rows()))
	case "end", "G":
		m.move(len(m.rows()))
	case "s", "right":
		m.sortBy(m.sort + 1)
	case "S", "left":
		m.sortBy(m.sort - 1)
	case "?":
		m.help = !m.help
	case "esc":
		m.help = false
		m.closeTap()
	case "p":
		return m.pause()
	case "d":
		m.asks = m.selected[0]
	case "t":
		return m.openTap()
	}
	return nil
}

func (m *Model) move(by int) {
	rows := m.rows()
	if len(rows) == 0 {
		return
	}
	r := rows[max(0, min(len(rows)-1, m.at(rows)+by))]
	m.selected = [2]string{r.Pipeline, r.Stage}
}

// sortBy sorts by a column, of which there is one more: the order of the flow.
func (m *Model) sortBy(column int) {
	n := len(columns) + 1
	m.sort = (column+1+n)%n - 1
	m.arrange()
}

// pause holds the selected pipeline, or lets it go on.
func (m *Model) pause() command {
	for _, t := range m.tables {
		if t.Name != m.selected[0] {
			continue
		}
		if t.State == "paused" {
			return m.control(t.Name, "resume")
		}
		return m.control(t.Name, "pause")
	}
	return nil
}

var past = map[string]string{"pause": "is paused", "resume": "goes on", "drain": "finishes what is in flight, and ends"}

func (m *Model) control(name, what string) command {
	return func() message {
		err := m.source.Control(m.ctx, name, what)
		return done{fmt.Sprintf("%s %s", name, past[what]), err}
	}
}
