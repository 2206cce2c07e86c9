package channel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/internal/timezone"
)

// wall is what the clock of a zone shows in each minute of some weeks, found by looking at it.
type wall struct {
	zone  string
	start time.Time
	shown []shownMinute
}

type shownMinute struct {
	clock, day string   // 08:00, mon
	named      []string // what begins with this minute, as "mon 08:00": it is shown for the first time, or is skipped over
}

func wallOf(t *testing.T, zone string, around time.Time) wall {
	t.Helper()
	location, err := timezone.Load(zone)
	if err != nil {
		t.Fatal(err)
	}
	w := wall{zone: zone, start: around.Add(-6 * 24 * time.Hour).Truncate(time.Minute)}
	const days = 24
	seen := map[int64]bool{}
	var before time.Time
	for n := range days * 24 * 60 {
		at := w.start.Add(time.Duration(n) * time.Minute).In(location)
		// What the clock shows, as a time of a clock that is never changed.
		face := time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), 0, 0, time.UTC)
		m := shownMinute{clock: face.Format("15:04"), day: strings.ToLower(face.Format("Mon"))}
		if before.IsZero() {
			before = face.Add(-time.Minute)
		}
		from := face
		if before.Before(face) {
			from = before.Add(time.Minute)
		}
		for ; !from.After(face); from = from.Add(time.Minute) {
			if minute := from.Unix(); !seen[minute] {
				seen[minute] = true
				m.named = append(m.named, strings.ToLower(from.Format("Mon"))+from.Format(" 15:04"))
			}
		}
		before = face
		w.shown = append(w.shown, m)
	}
	return w
}

// due walks from a moment to the first that is allowed, minute by minute.
func (w wall) due(t *testing.T, s Settings, now time.Time, urgency int) time.Time {
	t.Helper()
	begin := now.Add(time.Duration(s.Hold) * time.Second)
	if s.MuteUntil.After(begin) {
		begin = s.MuteUntil
	}
	collected := len(s.Digest.Times) == 0
	for n := int(begin.Sub(w.start) / time.Minute); n < len(w.shown); n++ {
		at, m := w.start.Add(time.Duration(n)*time.Minute), w.shown[n]
		for _, named := range m.named {
			day, clock, _ := strings.Cut(named, " ")
			if !at.Before(begin) && slices.Contains(s.Digest.Times, clock) && (len(s.Digest.Days) == 0 || slices.Contains(s.Digest.Days, day)) {
				collected = true
			}
		}
		if !collected || !(s.Quiet.Urgent && urgency == 3) && quietAt(s.Quiet, m.clock, m.day) {
			continue
		}
		if at.Before(begin) {
			return begin
		}
		return at
	}
	t.Fatalf("%+v: nothing is allowed after %v", s, now)
	return time.Time{}
}

// changes are moments around which a clock is changed, in zones that have odd ones.
var changes = []struct {
	zone string
	at   time.Time
}{
	{"Europe/Nicosia", time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC)},
	{"Europe/Nicosia", time.Date(2026, 10, 25, 1, 0, 0, 0, time.UTC)},
	{"America/Sao_Paulo", time.Date(2018, 2, 18, 2, 0, 0, 0, time.UTC)}, // at midnight
	{"America/Sao_Paulo", time.Date(2018, 11, 4, 3, 0, 0, 0, time.UTC)},
	{"Australia/Lord_Howe", time.Date(2026, 4, 4, 15, 0, 0, 0, time.UTC)}, // by half an hour
	{"Australia/Lord_Howe", time.Date(2026, 10, 3, 15, 30, 0, 0, time.UTC)},
	{"Pacific/Apia", time.Date(2011, 12, 30, 10, 0, 0, 0, time.UTC)},     // by a day
	{"Pacific/Kwajalein", time.Date(1993, 8, 21, 12, 0, 0, 0, time.UTC)}, // likewise
	{"Antarctica/Troll", time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC)},   // by two hours
	{"America/St_Johns", time.Date(2006, 10, 29, 2, 31, 0, 0, time.UTC)}, // at a minute past midnight
	{"Africa/Casablanca", time.Date(2026, 2, 15, 2, 0, 0, 0, time.UTC)},
	{"UTC", time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC)},
}

// TestDueIsTheFirstMinuteThatIsAllowed compares with the walk, for settings and moments at random around each change.
func TestDueIsTheFirstMinuteThatIsAllowed(t *testing.T) {
	t.Parallel()
	for i, change := range changes {
		t.Run(fmt.Sprint(change.zone, " ", change.at.Year()), func(t *testing.T) {
			t.Parallel()
			w := wallOf(t, change.zone, change.at)
			r := rand.New(rand.NewPCG(uint64(i), 1))
			for range testutil.Seeds(1000) {
				s := randomSettings(r, change.zone, change.at)
				if err := s.Check(); err != nil {
					t.Fatalf("%+v: %v", s, err)
				}
				now := change.at.Add(time.Duration(r.Int64N(int64(60*time.Hour))) - 40*time.Hour)
				switch r.IntN(4) {
				case 0, 1:
					now = now.Truncate(time.Minute)
				case 2: // it has been held when the clock is changed
					now = change.at.Add(-time.Duration(s.Hold) * time.Second)
				}
				urgency := 1 + r.IntN(3)
				if got, want := s.Due(now, urgency), w.due(t, s, now, urgency); !got.Equal(want) {
					t.Fatalf("%+v\nat %v, urgency %d, is due at %v, want %v", s, now, urgency, got, want)
				}
			}
		})
	}
}

func randomSettings(r *rand.Rand, zone string, around time.Time) Settings {
	s := Settings{Zone: zone}
	some := func(n int) bool { return r.IntN(n) == 0 }
	clock := func() string {
		if some(2) { // most changes are at night
			return fmt.Sprintf("%02d:%02d", (22+r.IntN(8))%24, []int{0, 1, 15, 30, 59}[r.IntN(5)])
		}
		return fmt.Sprintf("%02d:%02d", r.IntN(24), r.IntN(60))
	}
	days := func() (all []string) {
		for _, day := range weekdays {
			if some(3) {
				all = append(all, day)
			}
		}
		return all
	}
	if some(2) {
		s.Hold = r.IntN(3 * 3600)
	}
	if some(4) {
		s.MuteUntil = around.Add(time.Duration(r.Int64N(int64(48*time.Hour))) - 24*time.Hour)
	}
	if !some(3) {
		for range 1 + r.IntN(3) {
			s.Digest.Times = append(s.Digest.Times, clock())
		}
		if some(2) {
			s.Digest.Days = days()
		}
	}
	if !some(3) {
		s.Quiet = QuietHours{From: clock(), To: clock(), Urgent: some(2)}
		if some(2) {
			s.Quiet.Days = days()
		}
	}
	return s
}
