package xmlschema

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/suggest"
)

// maxToken is the most characters of an id, an owner or another name that serves as a key.
const maxToken = 256

// str returns an attribute's value as it stands.
func (b *binding) str(name string) string {
	if a := b.attr(name); a != nil {
		return a.value
	}
	return ""
}

// value returns an attribute without the white space around its value, and that value.
func (b *binding) value(name string) (*attribute, string) {
	a := b.attr(name)
	if a == nil {
		return nil, ""
	}
	return a, trim(a.value)
}

// token returns an attribute that serves as a key.
func (b *binding) token(name string) string {
	a, s := b.value(name)
	if a == nil {
		return ""
	}
	switch {
	case s == "":
		b.at(a, name+" is empty", "")
	case strings.ContainsAny(s, " \t\n\r"):
		b.at(a, fmt.Sprintf("%s %q contains white space", name, s), "")
	case utf8.RuneCountInString(s) > maxToken:
		b.at(a, fmt.Sprintf("%s is longer than %d characters", name, maxToken), "")
	}
	return s
}

// fingerprint returns an attribute of 64 bits, written as sixteen digits; 0 if it is absent.
func (b *binding) fingerprint(name string) uint64 {
	a, s := b.value(name)
	if a == nil {
		return 0
	}
	n, err := strconv.ParseUint(s, 16, 64)
	if err != nil || len(s) != 16 || s != strings.ToLower(s) {
		b.at(a, fmt.Sprintf("%s %q is not sixteen digits from 0 to f", name, s), "")
	}
	return n
}

// enum returns an attribute that has one of a few values, the first of which it has by default.
func (b *binding) enum(name string, values ...string) string {
	a, s := b.value(name)
	if a == nil {
		return values[0]
	}
	if !slices.Contains(values, s) {
		b.at(a, fmt.Sprintf("%s %q is not one of %s", name, s, strings.Join(values, ", ")), suggest.Nearest(s, values))
	}
	return s
}

func (b *binding) boolean(name string) bool {
	a, s := b.value(name)
	switch {
	case a == nil || s == "false" || s == "0":
		return false
	case s == "true" || s == "1":
		return true
	}
	b.at(a, fmt.Sprintf("%s %q is not true or false", name, s), suggest.Nearest(s, []string{"true", "false"}))
	return false
}

// integer returns a number between least and most.
func (b *binding) integer(name string, otherwise, least, most int) int {
	a, s := b.value(name)
	if a == nil {
		return otherwise
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < least || n > most {
		allowed := fmt.Sprintf("from %d to %d", least, most)
		if most >= math.MaxInt32 {
			allowed = fmt.Sprintf("of %d or more", least)
		}
		b.at(a, fmt.Sprintf("%s %q is not a whole number %s", name, s, allowed), "")
		return otherwise
	}
	return n
}

// fraction returns a number from 0 to 1.
func (b *binding) fraction(name string) float64 {
	a, s := b.value(name)
	if a == nil {
		return 0
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !decimal.MatchString(s) || f > 1 {
		b.at(a, fmt.Sprintf("%s %q is not a decimal number from 0 to 1", name, s), "")
		return 0
	}
	return f
}

var (
	decimal       = regexp.MustCompile(`^(\d+(\.\d*)?|\.\d+)$`)
	milliseconds  = regexp.MustCompile(`^[0-9]+$`)
	goDuration    = regexp.MustCompile(`^(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`)
	strictTime    = regexp.MustCompile(`T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?[Z+-]`) // time.Parse also takes T8: and 00,5
	spokenLength  = regexp.MustCompile(`^([0-9]{1,6}) ?(second|minute|hour|day|week)s?$`)
	spokenSeconds = map[string]time.Duration{
		"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour,
	}
)

// duration returns a length of time written as Go writes it, 1h30m, or in milliseconds. The papers' forms
// also allow 1 hour.
func (b *binding) duration(name string) time.Duration {
	a, s := b.value(name)
	if a == nil {
		return 0
	}
	switch {
	case milliseconds.MatchString(s):
		n, err := strconv.ParseInt(s, 10, 64)
		if err == nil && n <= math.MaxInt64/int64(time.Millisecond) {
			return time.Duration(n) * time.Millisecond
		}
	case goDuration.MatchString(s):
		if d, err := time.ParseDuration(s); err == nil {
			return d
		}
	case b.d.legacy && spokenLength.MatchString(s):
		m := spokenLength.FindStringSubmatch(s)
		n, _ := strconv.Atoi(m[1]) // six digits
		return time.Duration(n) * spokenSeconds[m[2]]
	default:
		b.at(a, fmt.Sprintf("%s %q is not a duration such as 10m or 1h30m, or a number of milliseconds", name, s), "")
		return 0
	}
	b.at(a, fmt.Sprintf("%s %q is too long a time", name, s), "")
	return 0
}

// lastMillisecond is that of the year 9999.
const lastMillisecond = 253402300799999

// instant returns a time written as RFC 3339 requires, or in milliseconds since 1970; 0 is never.
func (b *binding) instant(name string) time.Time {
	a, s := b.value(name)
	if a == nil {
		return time.Time{}
	}
	if milliseconds.MatchString(s) {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n > lastMillisecond {
			b.at(a, fmt.Sprintf("%s %q is later than the year 9999", name, s), "")
			return time.Time{}
		}
		if n == 0 {
			return time.Time{}
		}
		return time.UnixMilli(n).UTC()
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || !strictTime.MatchString(s) || !inCalendar(t) {
		b.at(a, fmt.Sprintf("%s %q is not a time such as 2001-01-06T08:25:00Z, or a number of milliseconds since 1970", name, s), "")
		return time.Time{}
	}
	return t.UTC()
}

// inCalendar reports whether t is a time that XML Schema knows as well: its years begin at 1, and zones
// are at most 14 hours away.
func inCalendar(t time.Time) bool {
	_, offset := t.Zone()
	utc := t.UTC().Year()
	return t.Year() >= 1 && utc >= 1 && utc <= 9999 && offset >= -14*3600 && offset <= 14*3600
}

// formatDuration writes 10m for what [time.Duration.String] calls 10m0s.
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
