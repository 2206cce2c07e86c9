package cron

import (
	"math/bits"
	"time"

	"github.com/webrace/webrace/internal/timezone"
)

// horizon is how many years an expression may have nothing due: 29 February falls on a given day of the week after 40
// years at most.
const horizon = 41

// Next returns the first time after t at which the expression is due; the zero time if there is none within 41 years,
// which no expression is.
func (e *Expression) Next(t time.Time) time.Time {
	local := t.In(e.zone)
	shown := time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), 0, 0, time.UTC)
	for {
		if shown = e.after(shown); shown.IsZero() {
			return time.Time{}
		}
		if at := timezone.Instant(shown, e.zone); at.After(t) { // it is not if the clock shows the time for the second time
			return at
		}
	}
}

// after returns the first time on the clock that is named, later than shown.
func (e *Expression) after(shown time.Time) time.Time {
	shown = shown.Add(time.Minute)
	minute := 60*shown.Hour() + shown.Minute()
	for day := dayOf(shown); day.Year() <= shown.Year()+horizon; minute = 0 {
		if e.months&(1<<day.Month()) == 0 {
			day = time.Date(day.Year(), day.Month()+1, 1, 0, 0, 0, 0, time.UTC)
			continue
		}
		if e.onDay(day) {
			if at, found := e.onwards(minute); found {
				return day.Add(time.Duration(at) * time.Minute)
			}
		}
		day = day.AddDate(0, 0, 1)
	}
	return time.Time{}
}

func dayOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

// onDay reports whether a day of one of the months is named.
func (e *Expression) onDay(day time.Time) bool {
	inMonth, inWeek := e.days&(1<<day.Day()) != 0, e.weekday&(1<<day.Weekday()) != 0
	if e.either {
		return inMonth || inWeek
	}
	return inMonth && inWeek
}

// onwards returns the first minute of the day that is named, no earlier than from.
func (e *Expression) onwards(from int) (minute int, found bool) {
	for hour := from / 60; hour < 24; hour++ {
		if e.hours&(1<<hour) == 0 {
			continue
		}
		minutes := e.minutes
		if hour == from/60 {
			minutes &= ^uint64(0) << (from % 60)
		}
		if minutes != 0 {
			return 60*hour + bits.TrailingZeros64(minutes), true
		}
	}
	return 0, false
}

// Shortest returns the shortest time between two times that are named, by a clock that is never changed; a year if they
// are further apart.
func (e *Expression) Shortest() time.Duration {
	first, _ := e.onwards(0)
	last, shortest := first, 366*24*60
	for next, more := e.onwards(first + 1); more; next, more = e.onwards(next + 1) {
		shortest, last = min(shortest, next-last), next
	}
	if apart := e.daysApart(); apart > 0 {
		shortest = min(shortest, apart*24*60-(last-first))
	}
	return time.Duration(shortest) * time.Minute
}

// daysApart is the least number of days from one that is named to the next; 0 if that is more than a year.
func (e *Expression) daysApart() (least int) {
	last := -1
	for n, day := 0, time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC); n < 2*366 && least != 1; n, day = n+1, day.AddDate(0, 0, 1) {
		if e.months&(1<<day.Month()) == 0 || !e.onDay(day) {
			continue
		}
		if last >= 0 && (least == 0 || n-last < least) {
			least = n - last
		}
		last = n
	}
	return least
}
