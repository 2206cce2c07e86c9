package cron

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func must(t testing.TB, text string) *Expression {
	t.Helper()
	e, err := Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return e
}

// dues are the next times, so many, after a time.
func dues(e *Expression, t time.Time, n int) (all []string) {
	for range n {
		t = e.Next(t)
		all = append(all, t.UTC().Format("2006-01-02 15:04"))
	}
	return all
}

func TestTimesAreThoseOfTheLine(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 1, 30, 7, 59, 59, 999, time.UTC) // a Friday
	for line, want := range map[string]string{
		"0 8 * * 1-5":                 "2026-01-30 08:00, 2026-02-02 08:00, 2026-02-03 08:00",
		"0 8 * * 1-5 Europe/Athens":   "2026-02-02 06:00, 2026-02-03 06:00, 2026-02-04 06:00",
		"* * * * *":                   "2026-01-30 08:00, 2026-01-30 08:01, 2026-01-30 08:02",
		"*/25 9,20-21 * * *":          "2026-01-30 09:00, 2026-01-30 09:25, 2026-01-30 09:50",
		"5/30 8 * * *":                "2026-01-30 08:05, 2026-01-30 08:35, 2026-01-31 08:05",
		"0 0 31 * *":                  "2026-01-31 00:00, 2026-03-31 00:00, 2026-05-31 00:00",
		"0 0 29 2 *":                  "2028-02-29 00:00, 2032-02-29 00:00, 2036-02-29 00:00",
		"0 0 1 * 1":                   "2026-02-01 00:00, 2026-02-02 00:00, 2026-02-09 00:00", // either day
		"0 0 */15 * 1":                "2026-02-16 00:00, 2026-03-16 00:00, 2026-06-01 00:00", // both
		"0 0 * * 5-7":                 "2026-01-31 00:00, 2026-02-01 00:00, 2026-02-06 00:00",
		"0 0 * * SAT-SUN":             "2026-01-31 00:00, 2026-02-01 00:00, 2026-02-07 00:00",
		"0 0 1 Feb,dec *":             "2026-02-01 00:00, 2026-12-01 00:00, 2027-02-01 00:00",
		" 30\t8  30  1 *\n":           "2026-01-30 08:30, 2027-01-30 08:30, 2028-01-30 08:30",
		"0 0 29 2 */7":                "2032-02-29 00:00, 2060-02-29 00:00, 2088-02-29 00:00",
		"30 3 30 1 * Asia/Kathmandu":  "2027-01-29 21:45, 2028-01-29 21:45, 2029-01-29 21:45",
		"0 8 1 1-12/6 * Pacific/Apia": "2026-06-30 19:00, 2026-12-31 19:00, 2027-06-30 19:00",
	} {
		if got := strings.Join(dues(must(t, line), from, 3), ", "); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}

// In Athens the clock is put from 3:00 to 4:00 on 29 March 2026, at 1:00 UTC, and from 4:00 back to 3:00 on 25 October,
// at 1:00 UTC as well.
func TestTheClockIsChanged(t *testing.T) {
	t.Parallel()
	spring, autumn := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC), time.Date(2026, 10, 24, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		line string
		from time.Time
		want string
	}{
		{"30 3 * * *", spring, "2026-03-29 01:00, 2026-03-30 00:30"},
		{"*/20 3 * * *", spring, "2026-03-29 01:00, 2026-03-30 00:00"}, // three times that do not exist are one moment
		{"*/30 2-4 * * *", spring, "2026-03-29 00:00, 2026-03-29 00:30, 2026-03-29 01:00, 2026-03-29 01:30, 2026-03-29 23:00"},
		{"0 4 * * *", spring, "2026-03-29 01:00, 2026-03-30 01:00"},
		{"0 3 29 3 *", spring, "2026-03-29 01:00, 2027-03-29 00:00"},
		{"30 3 * * *", autumn, "2026-10-25 00:30, 2026-10-26 01:30"},
		{"*/30 2-4 * * *", autumn, "2026-10-24 23:00, 2026-10-24 23:30, 2026-10-25 00:00, 2026-10-25 00:30, 2026-10-25 02:00, 2026-10-25 02:30, 2026-10-26 00:00"},
		{"30 3 * * *", time.Date(2026, 10, 25, 1, 10, 0, 0, time.UTC), "2026-10-26 01:30"}, // asked while it is shown again
		{"0 4 * * *", autumn, "2026-10-25 02:00, 2026-10-26 02:00"},
	} {
		n := strings.Count(c.want, ",") + 1
		if got := strings.Join(dues(must(t, c.line+" Europe/Athens"), c.from, n), ", "); got != c.want {
			t.Errorf("%q: %s, want %s", c.line, got, c.want)
		}
	}
	// Samoa had no 30 December 2011.
	if got := dues(must(t, "0 8 * * * Pacific/Apia"), time.Date(2011, 12, 29, 20, 0, 0, 0, time.UTC), 2); !slices.Equal(got, []string{"2011-12-30 10:00", "2011-12-30 18:00"}) {
		t.Errorf("over a day that is left out: %v", got)
	}
}

func TestWhatIsNoExpressionIsSaidWithWhatWasMeant(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]struct{ message, hint string }{
		"":                             {"it is empty", ""},
		"0 8 * *":                      {"it has 4 fields: a minute, an hour", ""},
		"0 24 * * *":                   {`hour "24" is not a number from 0 to 23`, "0 0 * * *"},
		"60 8 * * *":                   {`minute "60" is not a number from 0 to 59`, "0 8 * * *"},
		"0 8 0 * *":                    {`day of the month "0" is not a number from 1 to 31`, ""},
		"0 8 * 13 *":                   {`month "13" is not a number from 1 to 12, nor one of jan, feb`, ""},
		"0 8 * * monday-friday":        {`day of the week "monday" is not`, "0 8 * * mon-fri"},
		"0 8 * * jan":                  {`day of the week "jan" is not`, ""},
		"0 8 * * 8":                    {`day of the week "8" is not a number from 0 to 7`, ""},
		"0 22-6 * * *":                 {`hour "22-6" ends before it begins`, "0 22-23,0-6 * * *"},
		"0 8 * * fri-mon":              {`day of the week "fri-mon" ends before it begins`, "0 8 * * 5-6,0-1"},
		"*/90 * * * *":                 {`the step of minute "*/90" is beyond 59: it counts anew in each hour`, ""},
		"*/0 * * * *":                  {`the step of minute "*/0" is not a number of 1 or more`, ""},
		"0 8 ? * 1":                    {`day of the month "?" is not`, "0 8 * * 1"},
		"0 8 L * *":                    {`day of the month "L" is not`, ""},
		"0,, 8 * * *":                  {`minute "" is not`, ""},
		"+5 8 * * *":                   {`minute "+5" is not`, ""},
		"-5 8 * * *":                   {`minute "" is not`, ""},
		"٥ 8 * * *":                    {`minute "٥" is not`, ""},
		"0 8 30 2 *":                   {"it is never due: none of its months has a day 30", "0 8 28 2 *"},
		"0 8 31 4,6 *":                 {"it is never due: none of its months has a day 31", "0 8 30 4,6 *"},
		"0 8 * * 1-5 Europe/Athen":     {`"Europe/Athen" is no time zone`, "0 8 * * 1-5 Europe/Athens"},
		"0 8 * * 1-5 athens":           {`"athens" is no time zone`, "0 8 * * 1-5 Europe/Athens"},
		"0 8 * * 1-5 europe/athens":    {`"europe/athens" is no time zone`, "0 8 * * 1-5 Europe/Athens"},
		"0 8 * * 1-5 Local":            {`"Local" is no time zone`, ""},
		"0 8 * * 1-5 UTC+2":            {`"UTC+2" is no time zone`, "0 8 * * 1-5 Etc/GMT-2"},
		"0 8 * * 1-5 ../../passwd":     {`"../../passwd" is no time zone`, ""},
		"0 8 * * * America/New York":   {"it has 7 fields", "0 8 * * * America/New_York"},
		"0 0 8 * * 1-5":                {"it has 6 fields, and the last is no time zone", "0 8 * * 1-5"},
		"0 8 * * 1 2027":               {"it has 6 fields, and the last is no time zone", "0 8 * * 1"},
		"@daily":                       {"it has 1 field: ", "0 0 * * *"},
		"@daily Europe/Athens":         {"it has 2 fields", "0 0 * * * Europe/Athens"},
		"08:05":                        {"it has 1 field: ", "5 08 * * *"},
		"8:00 Europe/Athens":           {"it has 2 fields", "0 8 * * * Europe/Athens"},
		"CRON_TZ=Asia/Tokyo 0 8 * * *": {`minute "CRON_TZ=Asia" is not`, "0 8 * * * Asia/Tokyo"},
		strings.Repeat("0,", MaxLength) + "0 * * * *": {"it is longer than 512 characters", ""},
	} {
		_, err := Parse(line)
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(e.Message, want.message) || e.Hint != want.hint {
			t.Errorf("%.60q: %v, want %s, meant %q", line, err, want.message, want.hint)
		}
	}
}

// slow is an expression that tries each minute: what it means follows from its text alone.
type slow struct {
	text [5]string
	zone *time.Location
}

func slowly(e *Expression) slow {
	all := strings.Fields(e.String())
	return slow{[5]string(all), e.zone}
}

// has reports whether a field names a number.
func has(text, names string, least, most, n int) bool {
	value := func(s string) int {
		if i := strings.Index(names, strings.ToLower(s)); len(s) == 3 && i >= 0 {
			return i/4 + least
		}
		v, _ := strconv.Atoi(s)
		return v
	}
	for part := range strings.SplitSeq(text, ",") {
		span, by, stepped := strings.Cut(part, "/")
		from, to, ranged := strings.Cut(span, "-")
		low, high, step := value(from), value(from), 1
		if stepped {
			step, high = value(by), most
		}
		if ranged {
			if high = value(to); most == 7 && high == 0 {
				high = 7
			}
		}
		if span == "*" {
			low, high = least, most
		}
		if n >= low && n <= high && (n-low)%step == 0 {
			return true
		}
	}
	return false
}

func (s slow) names(shown time.Time) bool {
	const months, weekdays = "jan feb mar apr may jun jul aug sep oct nov dec", "sun mon tue wed thu fri sat"
	inMonth, weekday := has(s.text[2], "", 1, 31, shown.Day()), int(shown.Weekday())
	inWeek := has(s.text[4], weekdays, 0, 7, weekday) || weekday == 0 && has(s.text[4], weekdays, 0, 7, 7)
	day := inMonth && inWeek
	if s.text[2][0] != '*' && s.text[4][0] != '*' {
		day = inMonth || inWeek
	}
	return day && has(s.text[0], "", 0, 59, shown.Minute()) && has(s.text[1], "", 0, 23, shown.Hour()) && has(s.text[3], months, 1, 12, int(shown.Month()))
}

// between returns what is due after from and no later than to. It steps through the minutes, and looks at the clock.
func (s slow) between(from, to time.Time) (due []time.Time) {
	seen := map[time.Time]bool{}
	var before time.Time
	for at := from.Add(-25 * time.Hour).Truncate(time.Minute); !at.After(to); at = at.Add(time.Minute) {
		local := at.In(s.zone)
		shown := time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), 0, 0, time.UTC)
		isDue := !seen[shown] && s.names(shown)
		for skipped := before.Add(time.Minute); !before.IsZero() && skipped.Before(shown); skipped = skipped.Add(time.Minute) {
			isDue = isDue || !seen[skipped] && s.names(skipped)
		}
		if seen[shown] = true; isDue && at.After(from) {
			due = append(due, at)
		}
		before = shown
	}
	return due
}

// holds fails unless an expression gives what the slow one does of the days after a time.
func holds(t *testing.T, line string, from time.Time, days int) {
	t.Helper()
	e := must(t, line)
	if e.String() != Normal(line) || must(t, e.String()).String() != e.String() {
		t.Fatalf("%q is written %q", line, e)
	}
	to := from.AddDate(0, 0, days)
	want := slowly(e).between(from, to)
	at := from
	for i := 0; ; i++ {
		next := e.Next(at)
		if !next.After(at) || next.Second() != 0 || next.Nanosecond() != 0 {
			t.Fatalf("%q: after %v comes %v", line, at, next)
		}
		if at = next; next.After(to) {
			if i < len(want) {
				t.Fatalf("%q: after %v comes %v, want %v", line, from, next, want[i])
			}
			break
		}
		if i >= len(want) || !next.Equal(want[i]) {
			t.Fatalf("%q: after %v, number %d is %v, want %v", line, from, i, next, want)
		}
	}
	if due := slowly(e).between(at.Add(-time.Nanosecond), at); len(due) != 1 || !due[0].Equal(at) {
		t.Fatalf("%q: %v is named, and not due: %v", line, at, due)
	}
}

// Around each change of the clock, in zones that have odd ones, every line is due when a clock shows its times.
func TestALineIsDueWhenAClockShowsItsTimes(t *testing.T) {
	t.Parallel()
	changes := map[string][]time.Time{
		"Europe/Athens":        {date(2026, 3, 28), date(2026, 10, 24)},
		"America/Havana":       {date(2026, 3, 7), date(2026, 10, 31)}, // at midnight
		"Australia/Lord_Howe":  {date(2026, 4, 3), date(2026, 10, 2)},  // by half an hour
		"Pacific/Apia":         {date(2011, 12, 28)},                   // by a day
		"Africa/Casablanca":    {date(2026, 2, 14), date(2026, 3, 21)},
		"Antarctica/Troll":     {date(2026, 3, 28), date(2026, 10, 24)}, // by two hours
		"America/Scoresbysund": {date(2024, 3, 30)},                     // two rules at once
		"UTC":                  {date(2026, 3, 28)},
	}
	lines := []string{"* * * * *", "*/7 * * * *", "0 * * * *", "30 0-4 * * *", "15,45 23,0,1,2,3 * * *", "59 1-3/2 * * sun,sat", "0 0 1,28-31 * 0", "5 3 */2 * 6"}
	for zone, times := range changes {
		for _, from := range times {
			for _, line := range lines {
				holds(t, line+" "+zone, from, 2)
			}
		}
	}
}

func date(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 20, 17, 3, 9, time.UTC)
}

// FuzzExpression holds that what is read is due later than it is asked for, and when a slow clock has it due.
func FuzzExpression(f *testing.F) {
	f.Add("0 8 * * 1-5 Europe/Athens", int64(1774700000))
	f.Add("30 3 * * * Europe/Athens", int64(1792880000))
	f.Add("*/5 22-23,0-6 1,15 jan-jun/2 MON,7 America/Havana", int64(1e9))
	f.Add("0 0 29 2 */7 Pacific/Apia", int64(1325200000))
	f.Add("8:00 Berlin", int64(1))
	f.Add("CRON_TZ=UTC 0 0 8 ? * fri-mon 2027", int64(0))
	f.Fuzz(func(t *testing.T, line string, at int64) {
		_, err := Parse(line)
		var e *Error
		if errors.As(err, &e) && e.Hint != "" {
			line = e.Hint
		} else if err != nil {
			return
		}
		// From 1973 on all offsets are whole minutes.
		from := time.Unix(100e6+int64(uint64(at)%4e9), at%1e9*at%1e9&0xfffff).UTC()
		holds(t, line, from, 1)
	})
}

func TestTheShortestIntervalIsThatOfAClockThatIsNeverChanged(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]time.Duration{
		"* * * * *": time.Minute, "*/7 * * * *": 4 * time.Minute, "0 8 * * 1-5 Europe/Athens": 24 * time.Hour, "0 8 * * 1": 7 * 24 * time.Hour,
		"0 8,20 * * 1": 12 * time.Hour, "50 23,0 * * *": 60 * time.Minute, "0 8 1 * *": 28 * 24 * time.Hour, "0 8 29 2 *": 366 * 24 * time.Hour, "0 0,23 1,15 * *": 23 * time.Hour,
		"59 23 * * 1,3": 48 * time.Hour, "0 8 1 1 *": 365 * 24 * time.Hour,
	} {
		e := must(t, line)
		if got := e.Shortest(); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
		least, shown := 366*24*time.Hour, e.after(time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC))
		for range 5000 {
			next := e.after(shown)
			if least, shown = min(least, next.Sub(shown)), next; shown.Year() > 2006 {
				break
			}
		}
		if least != want {
			t.Errorf("%q: two are %v apart, want %v", line, least, want)
		}
	}
}
