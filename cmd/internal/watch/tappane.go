package watch

import (
	"context"
	"fmt"
	"strings"

	"github.com/webrace/webrace/internal/terminal"
	"github.com/webrace/webrace/pipeline"
)

// tapPane shows the items that leave a stage, under the table.
type tapPane struct {
	of     string
	cancel context.CancelFunc
	news   chan tapMsg
	items  []string // a line each, the latest last
	ended  string   // why, once it has
}

// keptItems is how many lines are kept for when there is more room.
const keptItems = 200

// tapMsg is an item, or the end of a tap.
type tapMsg struct {
	from  *tapPane
	item  pipeline.Tapped
	ended string
}

// openTap watches the selected stage in place of what was watched.
func (m *Model) openTap() command {
	name, stage := m.selected[0], m.selected[1]
	if stage == "" {
		return nil
	}
	m.closeTap()
	ctx, cancel := context.WithCancel(m.ctx)
	p := &tapPane{of: name + " " + stage, cancel: cancel, news: make(chan tapMsg)}
	m.tap = p
	send := func(msg tapMsg) {
		msg.from = p
		select {
		case p.news <- msg:
		case <-ctx.Done():
		}
	}
	go func() {
		reason, err := m.source.Tap(ctx, name, stage, func(item pipeline.Tapped) { send(tapMsg{item: item}) })
		if err != nil {
			reason = err.Error()
		}
		send(tapMsg{ended: terminal.Line(reason)})
	}()
	return p.next(ctx)
}

// next waits for the next item.
func (p *tapPane) next(ctx context.Context) command {
	return func() message {
		select {
		case msg := <-p.news:
			return msg
		case <-ctx.Done():
			return nil
		}
	}
}

func (m *Model) tapped(msg tapMsg) command {
	p := m.tap
	if p == nil || p != msg.from { // it was closed meanwhile
		return nil
	}
	if msg.ended != "" {
		p.ended = msg.ended
		return nil
	}
	p.items = append(p.items, line(msg.item))
	if extra := len(p.items) - keptItems; extra > 0 {
		p.items = p.items[extra:]
	}
	return p.next(m.ctx)
}

func (m *Model) closeTap() {
	if m.tap != nil {
		m.tap.cancel()
		m.tap = nil
	}
}

// line is an item as a line without colours.
func line(item pipeline.Tapped) string {
	what, rest := Describe(item)
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s", item.Time.Local().Format("15:04:05"), what)
	for _, f := range rest {
		fmt.Fprintf(&out, "  %s=%s", f.Name, f.Text)
	}
	return out.String()
}
