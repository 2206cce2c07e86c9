package watch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/webrace/webrace/internal/terminal"
)

const (
	keys     = "q quit  s sort  p pause  d drain  t tap  ? help"
	helpText = `up, down     select a stage
s, S         sort by the next column, or the one before
p            pause the pipeline of the selected stage, or let it go on
d            let it finish what is in flight, and end
t            watch what leaves the selected stage; esc ends that
q            quit; what is watched goes on

in/s, out/s  items that came in and went out, a second
waiting      items in front of the stage, and how many fit there
busy         how much of its workers' time goes into calls
held         how much of it they wait for the next stage to take something:
             the stage behind the last one that is held up is the slowest
p50, p99     half of the calls take no longer than this, and 99 in 100
in work      items that are being worked on, and how many can be
starving     how many of these wait for memory (memory in pipelines.toml)`
)

// view draws the table, as much of it as there is room for.
func (m *Model) view() string {
	if m.help {
		return m.fit(strings.Split(helpText+"\n\nany of: esc, ?  back to the table", "\n"), max(m.height, 1), 0)
	}
	if m.tables == nil {
		return "asking …\n"
	}
	lines, at := m.table()
	foot := m.foot()
	room := max(m.height-len(foot), 1)
	if m.height == 0 {
		room = len(lines)
	}
	return m.fit(lines, room, at) + strings.Join(foot, "\n")
}

// table returns all lines, and which of them is selected.
func (m *Model) table() (lines []string, selected int) {
	if len(m.tables) == 0 {
		return []string{"no such pipeline runs any more"}, 0
	}
	for i, t := range m.tables {
		if i > 0 {
			lines = append(lines, "")
		}
		head, rows := t.lines(max(m.width-2, 0))
		if m.sort >= 0 {
			name := columns[m.sort].name
			head = strings.Replace(head, " "+name, "▾"+name, 1)
		}
		lines = append(lines, m.style("1", cutLine(t.title(), m.width)), m.style("2", "  "+head))
		for j, row := range rows {
			r := t.Rows[j]
			switch {
			case [2]string{r.Pipeline, r.Stage} == m.selected:
				selected = len(lines)
				row = m.style("7", "> "+row)
			case r.New > 0:
				row = m.style("33", "  "+row)
			default:
				row = "  " + row
			}
			lines = append(lines, row)
		}
	}
	return lines, selected
}

// foot is what stands under the table: what is tapped, and one line that tells what can be done, or what was.
func (m *Model) foot() []string {
	var foot []string
	if p := m.tap; p != nil {
		title := "what leaves " + p.of + "  (esc ends this)"
		if p.ended != "" {
			title = "what left " + p.of + ": " + p.ended
		}
		foot = append(foot, m.style("2", cutLine(title, m.width)))
		shown := slices.Clone(p.items[max(0, len(p.items)-max(m.height/2-2, 1)):])
		for i := range shown {
			shown[i] = cutLine(shown[i], m.width)
		}
		foot = append(foot, shown...)
	}
	last := keys
	switch {
	case m.asks != "":
		last = fmt.Sprintf("let %s finish what is in flight, and end? y/n", m.asks)
	case m.says != "":
		last = m.says
	}
	return append(foot, m.style("2", cutLine(last, m.width)))
}

// fit returns as many lines as there is room for, around the selected one, each with its end.
func (m *Model) fit(lines []string, room, selected int) string {
	first := max(0, min(selected-room/2, len(lines)-room))
	if selected < room {
		first = 0
	}
	shown := lines[first:min(first+room, len(lines))]
	return strings.Join(shown, "\n") + "\n"
}

func (m *Model) style(sgr, text string) string {
	if !m.colours {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[0m"
}

// cutLine cuts a text to so many characters that a terminal shows and does not obey; 0 is no limit.
func cutLine(text string, width int) string {
	text = terminal.Visible(text)
	if r := []rune(text); width > 0 && len(r) > width {
		return string(r[:max(width-1, 0)]) + "…"
	}
	return text
}
