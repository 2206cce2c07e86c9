package channel

import (
	"slices"
	"time"

	"github.com/webrace/webrace/internal/timezone"
)

// mostUrgent is the urgency that passes quiet hours where these let it.
const mostUrgent = 3

// Due returns when an entry that comes now is to be sent, in UTC: the first moment, no earlier than now, at which it
// has been held as long as is set, the channel is not muted, a digest is sent or has been since, and the hours are
// not quiet. A digest whose time is in quiet hours is sent when they end.
//
// Where the clock is put forward over the time of a digest, that is sent at the moment of the change; one whose time
// the clock shows twice is sent the first time alone. Quiet hours go by what the clock shows.
//
// It is for settings that [Settings.Check] admits. With others it may be another moment, but none before now.
func (s Settings) Due(now time.Time, urgency int) time.Time {
	zone := time.UTC
	if named, err := timezone.Load(s.Zone); err == nil {
		zone = named
	}
	due := now.Round(0).Add(time.Duration(min(max(s.Hold, 0), maxHold)) * time.Second)
	if due.Before(s.MuteUntil) {
		due = s.MuteUntil
	}
	due = s.Digest.next(due.In(zone))
	if !s.Quiet.Urgent || urgency < mostUrgent {
		due = s.Quiet.end(due)
	}
	return due.UTC()
}

// next returns the first time of a digest that is not before t, in the zone of t; t itself if there are no digests.
func (d Digest) next(t time.Time) time.Time {
	var minutes []int
	for _, text := range d.Times {
		if minute, ok := minuteOfDay(text); ok {
			minutes = append(minutes, minute)
		}
	}
	slices.Sort(minutes)
	// Of a day before, the clock may have skipped a part that ends at t. Of those after, one is named within a week.
	for days := -1; days <= 7 && len(minutes) > 0; days++ {
		day := time.Date(t.Year(), t.Month(), t.Day()+days, 0, 0, 0, 0, time.UTC)
		if !onDay(d.Days, day.Weekday()) {
			continue
		}
		for _, minute := range minutes {
			at := timezone.Instant(day.Add(time.Duration(minute)*time.Minute), t.Location())
			if !at.Before(t) {
				return at.In(t.Location())
			}
		}
	}
	return t
}

// onDay reports whether a day of the week is among those that are named; if none are, each is.
func onDay(days []string, day time.Weekday) bool {
	return len(days) == 0 || slices.Contains(days, weekdays[day])
}

// end returns the first time that is not quiet and not before t, in the zone of t.
func (q QuietHours) end(t time.Time) time.Time {
	from, ok := minuteOfDay(q.From)
	to, ends := minuteOfDay(q.To)
	if !ok || !ends || from == to {
		return t
	}
	for q.quiet(t, from, to) {
		wait := to - (t.Hour()*60 + t.Minute())
		if wait < 0 {
			wait += 24 * 60 // the hours go over midnight
		}
		end := t.Add(time.Duration(wait)*time.Minute - time.Duration(t.Second())*time.Second - time.Duration(t.Nanosecond()))
		if _, change := t.ZoneBounds(); !change.IsZero() && change.Before(end) {
			end = change // from then on the clock shows something else
		}
		t = end.In(t.Location())
	}
	return t
}

// quiet reports whether it is quiet when the clock shows what it does at t, of hours that are not the same.
func (q QuietHours) quiet(t time.Time, from, to int) bool {
	minute, day := t.Hour()*60+t.Minute(), t.Weekday()
	if from < to {
		return from <= minute && minute < to && onDay(q.Days, day)
	}
	return from <= minute && onDay(q.Days, day) || minute < to && onDay(q.Days, (day+6)%7)
}
