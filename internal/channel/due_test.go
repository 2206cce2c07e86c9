package channel

import (
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/timezone"
)

const minuteLayout = "2006-01-02 15:04"

func moment(t testing.TB, text string) time.Time {
	t.Helper()
	for _, layout := range []string{minuteLayout, "2006-01-02 15:04:05"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at
		}
	}
	t.Fatalf("%q is no moment", text)
	return time.Time{}
}

func read(t testing.TB, text string) Settings {
	t.Helper()
	s, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

// TestDue has moments in UTC. 30 November 2026 is a Monday.
func TestDue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, settings, now, due string }{
		{"at once", `{}`, "2026-11-30 12:00:30", "2026-11-30 12:00:30"},
		{"held", `{"hold_s":60}`, "2026-11-30 12:00:30", "2026-11-30 12:01:30"},
		{"muted", `{"hold_s":60,"mute_until":"2026-12-24T08:00:00Z"}`, "2026-11-30 12:00", "2026-12-24 08:00"},
		{"muted for less than it is held", `{"hold_s":60,"mute_until":"2026-11-30T12:00:10Z"}`, "2026-11-30 12:00", "2026-11-30 12:01"},
		{"not muted any more", `{"mute_until":"2026-11-01T00:00:00Z"}`, "2026-11-30 12:00", "2026-11-30 12:00"},

		{"the next digest", `{"digest":{"times":["18:30","08:00"]}}`, "2026-11-30 12:00", "2026-11-30 18:30"},
		{"the digest of this moment", `{"digest":{"times":["12:00"]}}`, "2026-11-30 12:00", "2026-11-30 12:00"},
		{"a digest that has just been", `{"digest":{"times":["12:00"]}}`, "2026-11-30 12:00:01", "2026-12-01 12:00"},
		{"a digest before it has been held", `{"hold_s":60,"digest":{"times":["12:00"]}}`, "2026-11-30 11:59:30", "2026-12-01 12:00"},
		{"a digest of some days", `{"digest":{"times":["08:00"],"days":["wed","fri"]}}`, "2026-11-30 12:00", "2026-12-02 08:00"},
		{"a digest of a day, a week on", `{"digest":{"times":["08:00"],"days":["mon"]}}`, "2026-11-30 08:01", "2026-12-07 08:00"},
		{"a digest of the zone", `{"zone":"Europe/Nicosia","digest":{"times":["08:00"]}}`, "2026-11-30 12:00", "2026-12-01 06:00"},
		{"a digest after the channel was muted", `{"mute_until":"2026-12-24T08:30:00Z","digest":{"times":["08:00"]}}`, "2026-11-30 12:00", "2026-12-25 08:00"},

		{"quiet hours", `{"quiet":{"from":"09:00","to":"17:00"}}`, "2026-11-30 12:00:30", "2026-11-30 17:00"},
		{"their first moment", `{"quiet":{"from":"12:00","to":"17:00"}}`, "2026-11-30 12:00", "2026-11-30 17:00"},
		{"before them", `{"quiet":{"from":"12:00","to":"17:00"}}`, "2026-11-30 11:59:59", "2026-11-30 11:59:59"},
		{"after them", `{"quiet":{"from":"09:00","to":"12:00"}}`, "2026-11-30 12:00", "2026-11-30 12:00"},
		{"held into them", `{"hold_s":60,"quiet":{"from":"12:00","to":"17:00"}}`, "2026-11-30 11:59:30", "2026-11-30 17:00"},
		{"muted into them", `{"mute_until":"2026-12-24T13:00:00Z","quiet":{"from":"12:00","to":"17:00"}}`, "2026-11-30 11:59:30", "2026-12-24 17:00"},
		{"over midnight, in the evening", `{"quiet":{"from":"22:00","to":"07:00"}}`, "2026-11-30 23:00", "2026-12-01 07:00"},
		{"over midnight, in the morning", `{"quiet":{"from":"22:00","to":"07:00"}}`, "2026-11-30 03:00", "2026-11-30 07:00"},
		{"to midnight", `{"quiet":{"from":"22:00","to":"00:00"}}`, "2026-11-30 23:00", "2026-12-01 00:00"},
		{"none", `{"quiet":{"from":"07:00","to":"07:00"}}`, "2026-11-30 07:00", "2026-11-30 07:00"},
		{"all but a minute", `{"quiet":{"from":"08:00","to":"07:59"}}`, "2026-11-30 08:00", "2026-12-01 07:59"},
		{"on other days", `{"quiet":{"from":"09:00","to":"17:00","days":["sat","sun"]}}`, "2026-11-30 12:00", "2026-11-30 12:00"},
		{"of the night before", `{"quiet":{"from":"22:00","to":"07:00","days":["sun"]}}`, "2026-11-30 03:00", "2026-11-30 07:00"},
		{"of the night to come alone", `{"quiet":{"from":"22:00","to":"07:00","days":["mon"]}}`, "2026-11-30 03:00", "2026-11-30 03:00"},
		{"of the zone", `{"zone":"Europe/Nicosia","quiet":{"from":"22:00","to":"07:00"}}`, "2026-11-30 20:00", "2026-12-01 05:00"},
		{"of the zone, not yet", `{"zone":"Europe/Nicosia","quiet":{"from":"22:00","to":"07:00"}}`, "2026-11-30 19:59", "2026-11-30 19:59"},
		{"a digest in them", `{"digest":{"times":["06:00"]},"quiet":{"from":"22:00","to":"07:00"}}`, "2026-11-30 12:00", "2026-12-01 07:00"},
		{"between a digest in them and their end", `{"digest":{"times":["06:00"]},"quiet":{"from":"22:00","to":"07:00"}}`, "2026-11-30 06:30", "2026-12-01 07:00"},

		// In Nicosia the clock is put from 3:00 to 4:00 at 1:00 UTC, and from 4:00 back to 3:00 at 1:00 UTC as well.
		{"a digest that there is not", `{"zone":"Europe/Nicosia","digest":{"times":["03:30"]}}`, "2026-03-28 12:00", "2026-03-29 01:00"},
		{"and once alone", `{"zone":"Europe/Nicosia","digest":{"times":["03:30"]}}`, "2026-03-29 01:00:01", "2026-03-30 00:30"},
		{"a digest that there is twice", `{"zone":"Europe/Nicosia","digest":{"times":["03:30"]}}`, "2026-10-24 12:00", "2026-10-25 00:30"},
		{"and the first alone", `{"zone":"Europe/Nicosia","digest":{"times":["03:30"]}}`, "2026-10-25 00:31", "2026-10-26 01:30"},
		{"quiet hours whose end there is not", `{"zone":"Europe/Nicosia","quiet":{"from":"22:00","to":"03:30"}}`, "2026-03-28 22:00", "2026-03-29 01:00"},
		{"quiet hours whose end there is twice", `{"zone":"Europe/Nicosia","quiet":{"from":"22:00","to":"03:30"}}`, "2026-10-24 22:00", "2026-10-25 00:30"},
		{"and that are so again", `{"zone":"Europe/Nicosia","quiet":{"from":"22:00","to":"03:30"}}`, "2026-10-25 01:10", "2026-10-25 01:30"},
		{"quiet hours that there are not", `{"zone":"Europe/Nicosia","quiet":{"from":"03:00","to":"04:00"}}`, "2026-03-29 00:59", "2026-03-29 00:59"},
		{"a short night", `{"zone":"Europe/Nicosia","quiet":{"from":"22:00","to":"07:00"}}`, "2026-03-28 20:00", "2026-03-29 04:00"},
		{"a long night", `{"zone":"Europe/Nicosia","quiet":{"from":"22:00","to":"07:00"}}`, "2026-10-24 19:00", "2026-10-25 05:00"},
		{"a digest not there, in quiet hours", `{"zone":"Europe/Nicosia","digest":{"times":["03:30"]},"quiet":{"from":"01:00","to":"05:00"}}`, "2026-03-28 12:00", "2026-03-29 02:00"},

		// In São Paulo midnight was left out on 4 November 2018; from 24:00 on 17 February it was put back to 23:00.
		{"a midnight that there is not", `{"zone":"America/Sao_Paulo","digest":{"times":["00:00"],"days":["sun"]}}`, "2018-11-03 12:00", "2018-11-04 03:00"},
		{"an evening that there is twice", `{"zone":"America/Sao_Paulo","digest":{"times":["23:30"],"days":["sat"]}}`, "2018-02-17 12:00", "2018-02-18 01:30"},
		{"and is Saturday again", `{"zone":"America/Sao_Paulo","quiet":{"from":"23:00","to":"23:30","days":["sat"]}}`, "2018-02-18 02:00", "2018-02-18 02:30"},
		// On Lord Howe Island the clock is put from 2:00 to 2:30, on 3 October at 15:30 UTC.
		{"by half an hour", `{"zone":"Australia/Lord_Howe","digest":{"times":["02:15"]}}`, "2026-10-03 12:00", "2026-10-03 15:30"},
		{"and at its end", `{"zone":"Australia/Lord_Howe","quiet":{"from":"01:00","to":"02:29"}}`, "2026-10-03 15:00", "2026-10-03 15:30"},
		// Samoa had no 30 December 2011, a Friday.
		{"a day that there is not", `{"zone":"Pacific/Apia","digest":{"times":["08:00"],"days":["fri"]}}`, "2011-12-29 20:00", "2011-12-30 10:00"},
		{"asked at its end", `{"zone":"Pacific/Apia","digest":{"times":["08:00"],"days":["fri"]}}`, "2011-12-30 10:00", "2011-12-30 10:00"},
		{"and no second time", `{"zone":"Pacific/Apia","digest":{"times":["08:00"],"days":["fri"]}}`, "2011-12-30 10:01", "2012-01-05 18:00"},
		{"a night after no day", `{"zone":"Pacific/Apia","quiet":{"from":"22:00","to":"07:00","days":["thu"]}}`, "2011-12-30 09:00", "2011-12-30 10:00"},
	} {
		s, now := read(t, c.settings), moment(t, c.now)
		if due := s.Due(now, 1); !due.Equal(moment(t, c.due)) || due.Location() != time.UTC {
			t.Errorf("%s: %s at %s is due at %v, want %s", c.name, c.settings, c.now, due, c.due)
		}
		if s.Quiet.Urgent = true; !s.Due(now, 2).Equal(moment(t, c.due)) {
			t.Errorf("%s: %s at %s: quiet hours that urgency 3 passes let 2 pass", c.name, c.settings, c.now)
		}
		if strings.Contains(c.settings, "quiet") && !strings.Contains(c.settings, "digest") {
			due := now.Add(time.Duration(s.Hold) * time.Second)
			if due.Before(s.MuteUntil) {
				due = s.MuteUntil
			}
			if got := s.Due(now, 3); !got.Equal(due) {
				t.Errorf("%s: %s at %s: urgency 3 is due at %v, want %v", c.name, c.settings, c.now, got, due)
			}
		}
	}
}

func TestADigestHoldsUrgencyToo(t *testing.T) {
	t.Parallel()
	s := read(t, `{"digest":{"times":["06:00"]},"quiet":{"from":"22:00","to":"07:00","urgent":true}}`)
	if due := s.Due(moment(t, "2026-11-30 12:00"), 3); !due.Equal(moment(t, "2026-12-01 06:00")) {
		t.Errorf("due at %v", due)
	}
}

// FuzzDue holds that nothing is due before now, or in quiet hours that it does not pass, or before a digest; and that
// what is due is due at once when it is asked for again.
func FuzzDue(f *testing.F) {
	f.Add([]byte(fullSettings), int64(1796000000), 1)
	f.Add([]byte(`{"zone":"Europe/Nicosia","digest":{"times":["03:30"]},"quiet":{"from":"01:00","to":"05:00"}}`), int64(1774700000), 2)
	f.Add([]byte(`{"zone":"Pacific/Apia","digest":{"times":["08:00"],"days":["fri"]},"quiet":{"from":"08:00","to":"07:59"}}`), int64(1325200000), 3)
	f.Add([]byte(`{"zone":"Africa/Monrovia","quiet":{"from":"22:00","to":"07:00"}}`), int64(-1e9), 0)
	f.Fuzz(func(t *testing.T, text []byte, at int64, urgency int) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		now := time.Unix(at%5e9, at%1e9)
		due := s.Due(now, urgency)
		if due.Before(now) || due.Before(s.MuteUntil) || due.Sub(now) < time.Duration(s.Hold)*time.Second {
			t.Fatalf("%s at %v is due at %v", text, now, due)
		}
		passes := s.Quiet.Urgent && urgency >= 3
		if !passes && isQuiet(t, s, due) {
			t.Fatalf("%s at %v is due at %v, which is quiet", text, now, due)
		}
		if len(s.Digest.Times) == 0 {
			s.Hold = 0
			if again := s.Due(due, urgency); !again.Equal(due) {
				t.Fatalf("%s at %v is due at %v, and then at %v", text, now, due, again)
			}
		}
	})
}

// isQuiet goes by what a clock on the wall shows, and by texts: times of day sort as they are.
func isQuiet(t testing.TB, s Settings, at time.Time) bool {
	t.Helper()
	zone := time.UTC
	if s.Zone != "" {
		var err error
		if zone, err = timezone.Load(s.Zone); err != nil {
			t.Fatal(err)
		}
	}
	at = at.In(zone)
	return quietAt(s.Quiet, at.Format("15:04"), strings.ToLower(at.Format("Mon")))
}

var dayBefore = map[string]string{"mon": "sun", "tue": "mon", "wed": "tue", "thu": "wed", "fri": "thu", "sat": "fri", "sun": "sat"}

func quietAt(q QuietHours, clock, day string) bool {
	named := func(day string) bool { return len(q.Days) == 0 || strings.Contains(strings.Join(q.Days, " "), day) }
	switch {
	case q.From == q.To:
		return false
	case q.From < q.To:
		return named(day) && clock >= q.From && clock < q.To
	case clock >= q.From:
		return named(day)
	}
	return clock < q.To && named(dayBefore[day])
}
