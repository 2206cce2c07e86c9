package value

import (
	"cmp"
	"strings"
)

// span is a duration: months and seconds, which cannot be converted into each other.
type span struct {
	months  int64
	seconds int64
	nanos   int32
}

// maxDurationDigits keeps what a duration counts within an int64.
const maxDurationDigits = 11

// parseDuration reads an xsd:duration, or one of the two types that have an order.
func parseDuration(name, text string) (k kind, d span, ok bool) {
	k = duration
	switch name {
	case "yearMonthDuration":
		k = yearMonthDuration
	case "dayTimeDuration":
		k = dayTimeDuration
	}
	rest := text
	negative := strings.HasPrefix(rest, "-")
	rest, ok = strings.CutPrefix(strings.TrimPrefix(rest, "-"), "P")
	if !ok {
		return k, d, false
	}
	days, times, timed := strings.Cut(rest, "T")
	if k == dayTimeDuration && strings.ContainsAny(days, "YM") ||
		k == yearMonthDuration && (timed || strings.Contains(days, "D")) {
		return k, d, false
	}
	parts := 0
	s := scanner{rest: days}
	d.months = s.component('Y', &parts)*12 + s.component('M', &parts)
	d.seconds = s.component('D', &parts) * secondsOfDay
	if s.rest != "" || s.bad || timed && times == "" {
		return k, d, false
	}
	s.rest = times
	d.seconds += s.component('H', &parts)*3600 + s.component('M', &parts)*60
	d.seconds += s.seconds(&d, &parts)
	if negative {
		d.months, d.seconds, d.nanos = -d.months, -d.seconds, -d.nanos
	}
	return k, d, parts > 0 && s.rest == "" && !s.bad
}

// component reads a number and its unit, if they are next.
func (s *scanner) component(unit byte, parts *int) int64 {
	after := *s
	n := after.digits(1, maxDurationDigits)
	if after.bad || !after.accept(unit) {
		return 0
	}
	*s = after
	*parts++
	return n
}

func (s *scanner) seconds(d *span, parts *int) int64 {
	after := *s
	n := after.digits(1, maxDurationDigits)
	nanos := after.fraction()
	if after.bad || !after.accept('S') {
		return 0
	}
	*s, d.nanos = after, nanos
	*parts++
	return n
}

// compare orders by months, then by seconds; only durations of one ordered type are asked which is less.
func (d span) compare(o span) int {
	return cmp.Or(cmp.Compare(d.months, o.months), cmp.Compare(d.seconds, o.seconds), cmp.Compare(d.nanos, o.nanos))
}
