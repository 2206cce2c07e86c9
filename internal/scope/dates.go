package scope

import (
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/urlnorm"
)

// dates are where a URL has dates, and how far in time they lie. It knows years with months, with days or
// without: /2026/11/21, /2026/nov, 2026-11-21, 2026_11, year=2026&month=11, and 202611 or 20261121 as the
// value of a parameter that is named like a date. A year alone is none: it may be any number.
type dates struct {
	spans       [8]span // of what counts through when it goes on and on
	n           int
	first, last int // months since the year 0
}

type span struct{ start, end int }

func (d *dates) add(year, month int, spans ...span) {
	if d.n+len(spans) > len(d.spans) {
		return
	}
	at := 12*year + month - 1
	if d.n == 0 {
		d.first, d.last = at, at
	}
	d.first, d.last = min(d.first, at), max(d.last, at)
	for _, s := range spans {
		if s.end > 0 {
			d.spans[d.n] = s
			d.n++
		}
	}
}

// far reports whether a date lies before the year 1900 or more than a year ahead.
func (d *dates) far(now time.Time) bool {
	return d.first < 12*1900 || d.last > 12*(now.Year()+1)+int(now.Month())-1
}

// masked returns the URL without its dates.
func (d *dates) masked(url string) string {
	slices.SortFunc(d.spans[:d.n], func(a, b span) int { return a.start - b.start })
	var b strings.Builder
	b.Grow(len(url))
	at := 0
	for _, s := range d.spans[:d.n] {
		if s.start < at {
			continue // it was found twice
		}
		b.WriteString(url[at:s.start])
		b.WriteByte('#')
		at = s.end
	}
	b.WriteString(url[at:])
	return b.String()
}

// datesOf finds the dates in a URL without its scheme.
func datesOf(url string) (d dates) {
	_, tail := urlnorm.CutHost(url)
	query := strings.IndexByte(url, '?')
	for i := len(url) - len(tail); i < len(url); {
		end := digits(url, i)
		if end == i {
			i++
			continue
		}
		i = d.written(url, span{i, end})
	}
	if query >= 0 {
		d.inParameters(url, query+1)
	}
	return d
}

// written looks for a date that begins with a number of a URL, and returns where to go on.
func (d *dates) written(url string, year span) (next int) {
	month := span{year.end + 1, digits(url, year.end+1)}
	if year.end-year.start != 4 || year.end >= len(url) || url[year.start] == '0' || !isSeparator(url[year.end]) {
		return year.end
	}
	separator := url[year.end]
	m := number(url, month)
	if separator == '/' && month.start == month.end {
		m, month = monthName(url, month)
	}
	if m < 1 || m > 12 || month.end-month.start > 3 || longNumber(url, month) {
		return year.end
	}
	found := span{year.start, month.end}
	if month.end < len(url) && url[month.end] == separator {
		day := span{month.end + 1, digits(url, month.end+1)}
		if n := number(url, day); n >= 1 && n <= 31 && day.end-day.start <= 2 {
			found.end = day.end
		}
	}
	d.add(number(url, year), m, found)
	return found.end
}

func isSeparator(c byte) bool { return c == '/' || c == '-' || c == '_' || c == '.' }

// longNumber reports whether a number has more digits than a month.
func longNumber(url string, s span) bool { return s.end-s.start > 2 && url[s.start] <= '9' }

const monthNames = "janfebmaraprmayjunjulaugsepoctnovdec"

// monthName reads the short name of a month that is all of a segment.
func monthName(url string, at span) (month int, found span) {
	end := at.start + 3
	if end > len(url) || end < len(url) && url[end] != '/' {
		return 0, at
	}
	var lower [3]byte
	for i := range lower {
		lower[i] = lowered(url[at.start+i])
	}
	if i := strings.Index(monthNames, string(lower[:])); i >= 0 && i%3 == 0 {
		return i/3 + 1, span{at.start, end}
	}
	return 0, at
}

// inParameters looks for dates in the parameters of a query that begins at start.
func (d *dates) inParameters(url string, start int) {
	var year, month, day span
	for start < len(url) {
		end := start + length(url[start:], '&')
		name := url[start : start+length(url[start:end], '=')]
		value := span{start + len(name) + 1, end}
		if value.start < end && digits(url, value.start) == end {
			switch kind := parameterKind(name); {
			case kind == 'y' && end-value.start == 4:
				year = value
			case kind == 'm' && end-value.start <= 2:
				month = value
			case kind == 'd' && end-value.start <= 2:
				day = value
			case kind != 0:
				d.compact(url, value)
			}
		}
		start = end + 1
	}
	if m := number(url, month); year.end > 0 && m >= 1 && m <= 12 {
		d.add(number(url, year), m, year, month, day)
	}
}

// compact looks for a date of six or eight digits.
func (d *dates) compact(url string, value span) {
	if n := value.end - value.start; n != 6 && n != 8 {
		return
	}
	year, month := number(url, span{value.start, value.start + 4}), number(url, span{value.start + 4, value.start + 6})
	if year >= 1000 && month >= 1 && month <= 12 {
		d.add(year, month, value)
	}
}

// parameterKind tells what a parameter holds by its name: y, m or d, or D for a date in one; 0 for what is
// no date.
func parameterKind(name string) byte {
	if len(name) > 5 {
		return 0
	}
	var lower [5]byte
	for i := range len(name) {
		lower[i] = lowered(name[i])
	}
	switch string(lower[:len(name)]) {
	case "y", "yr", "year", "yyyy":
		return 'y'
	case "m", "mm", "mon", "month":
		return 'm'
	case "d", "dd", "day":
		return 'd'
	case "date", "ym", "when", "from", "to", "start", "end", "week":
		return 'D'
	}
	return 0
}

// length returns how long s is up to a byte, or its end.
func length(s string, c byte) int {
	if i := strings.IndexByte(s, c); i >= 0 {
		return i
	}
	return len(s)
}

// digits returns where the digits end that begin at i.
func digits(s string, i int) int {
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	return i
}

// number returns the number in a span, 0 for none.
func number(s string, at span) (n int) {
	if at.end-at.start > 9 {
		return 0
	}
	for i := at.start; i < at.end && i < len(s); i++ {
		n = 10*n + int(s[i]-'0')
	}
	return n
}
