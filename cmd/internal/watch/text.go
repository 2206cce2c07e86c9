package watch

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

func rate(n float64) string {
	switch {
	case n == 0:
		return "0"
	case n < 9.95:
		return fmt.Sprintf("%.1f", n)
	case n < 99_999.5:
		return fmt.Sprintf("%.0f", n)
	}
	return fmt.Sprintf("%.0fk", n/1000)
}

func count(n int64) string {
	if n < 1_000_000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

func percent(s float64) string { return fmt.Sprintf("%.0f%%", 100*s) }

func fill(n, of int) float64 { return float64(n) / float64(max(of, 1)) }

func outOf(n, of int) string {
	if of == 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d/%d", n, of)
}

// milliseconds writes how long something took, in the unit that keeps it short.
func milliseconds(ms float64) string {
	switch {
	case ms == 0:
		return "-"
	case ms < 0.001:
		return fmt.Sprintf("%.0fns", ms*1e6)
	case ms < 1:
		return fmt.Sprintf("%.0fµs", ms*1e3)
	case ms < 1000:
		return fmt.Sprintf("%.0fms", ms)
	}
	return fmt.Sprintf("%.1fs", ms/1000)
}

// title is the line above a table.
func (t Table) title() string {
	title := fmt.Sprintf("%s  %s, for %s", t.Name, t.State, t.For.Round(time.Second))
	if t.Memory.Size > 0 {
		title += fmt.Sprintf("  in flight %d of %d MiB", t.Memory.Used>>20, t.Memory.Size>>20)
	}
	if t.Memory.Waiting > 0 {
		title += fmt.Sprintf(", %d wait for memory", t.Memory.Waiting)
	}
	return title
}

// lines returns the head of a table and its rows, no longer than width; 0 has no end.
func (t Table) lines(width int) (head string, rows []string) {
	first := len("stage")
	for _, r := range t.Rows {
		first = max(first, utf8.RuneCountInString(r.Stage))
	}
	if width > 0 {
		first = min(first, max(width-columns[0].width, 8))
	}
	shown, used := 0, first
	for _, c := range columns {
		if used += c.width; width > 0 && used > width {
			break
		}
		shown++
	}
	head = pad("stage", first)
	for _, c := range columns[:shown] {
		head += padLeft(c.name, c.width)
	}
	for _, r := range t.Rows {
		row := pad(r.Stage, first)
		for _, c := range columns[:shown] {
			row += padLeft(c.text(r), c.width)
		}
		rows = append(rows, row)
	}
	return head, rows
}

// pad makes a text so many characters wide, and cuts it where it is longer.
func pad(text string, width int) string {
	n := utf8.RuneCountInString(text)
	if n > width {
		return string([]rune(text)[:max(width-1, 0)]) + "…"
	}
	return text + strings.Repeat(" ", width-n)
}

func padLeft(text string, width int) string {
	return strings.Repeat(" ", max(width-utf8.RuneCountInString(text), 1)) + text
}

// Print writes tables as text.
func Print(w io.Writer, tables []Table) error {
	var out strings.Builder
	for i, t := range tables {
		if i > 0 {
			out.WriteByte('\n')
		}
		head, rows := t.lines(0)
		fmt.Fprintln(&out, t.title())
		fmt.Fprintln(&out, head)
		for _, row := range rows {
			fmt.Fprintln(&out, row)
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}
