package pipeline

import (
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"
)

// Duration is a time.Duration that is written as "10s", "1h30m" or, since crawls think in days, "7d" in
// pipelines.toml. It is never negative there.
type Duration time.Duration

const day = 24 * time.Hour

// UnmarshalText reads what [time.ParseDuration] does, after an optional number of days.
func (d *Duration) UnmarshalText(text []byte) error {
	s := string(text)
	var days time.Duration
	rest := s
	if number, after, found := strings.Cut(s, "d"); found {
		n, err := strconv.ParseUint(number, 10, 32)
		if err != nil || time.Duration(n) > math.MaxInt64/day {
			return badDuration(s)
		}
		days, rest = time.Duration(n)*day, after
	}
	var part time.Duration
	if rest != "" || s == "" {
		var err error
		if part, err = time.ParseDuration(rest); err != nil {
			return badDuration(s)
		}
	}
	if part < 0 || strings.HasPrefix(rest, "-") {
		return fmt.Errorf("%q is negative", s)
	}
	if days > math.MaxInt64-part {
		return badDuration(s)
	}
	*d = Duration(days + part)
	return nil
}

func badDuration(s string) error {
	return fmt.Errorf(`%q is no duration; write one like "10s", "1h30m" or "7d"`, s)
}

// MarshalText returns what String does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// String writes the duration without units that are zero: "1h30m", "7d".
func (d Duration) String() string {
	rest := time.Duration(d)
	if rest == 0 {
		return "0s"
	}
	if rest < 0 {
		return rest.String()
	}
	var s string
	if days := rest / day; days > 0 {
		s = strconv.FormatInt(int64(days), 10) + "d"
		rest %= day
	}
	if rest == 0 {
		return s
	}
	part := rest.String()
	if strings.HasSuffix(part, "m0s") {
		part = strings.TrimSuffix(part, "0s")
	}
	if strings.HasSuffix(part, "h0m") {
		part = strings.TrimSuffix(part, "0m")
	}
	return s + part
}

// Size is a number of bytes, written as "10MB" (10,000,000), "64KiB" (65,536) or a plain integer.
type Size int64

var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"TiB", 1 << 40}, {"TB", 1e12}, {"GiB", 1 << 30}, {"GB", 1e9},
	{"MiB", 1 << 20}, {"MB", 1e6}, {"KiB", 1 << 10}, {"KB", 1e3}, {"kB", 1e3}, {"B", 1},
}

// UnmarshalText reads a number that may have a decimal point, and a unit that may be left out.
func (s *Size) UnmarshalText(text []byte) error {
	number, unit := string(text), int64(1)
	for _, u := range sizeUnits {
		if before, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = strings.TrimRight(before, " "), u.bytes
			break
		}
	}
	if n, err := strconv.ParseUint(number, 10, 63); err == nil && int64(n) <= math.MaxInt64/unit {
		*s = Size(int64(n) * unit)
		return nil
	}
	f, err := strconv.ParseFloat(number, 64)
	decimal := strings.Trim(number, "0123456789.") == ""
	if err != nil || !decimal || f*float64(unit) >= math.MaxInt64 {
		return fmt.Errorf(`%q is no size; write one like "10MB", "64KiB" or 4096`, text)
	}
	*s = Size(f * float64(unit))
	return nil
}

// MarshalText returns what String does.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// String writes the size in the largest unit that leaves no remainder: "64KiB", "10MB", "1500B".
func (s Size) String() string {
	for _, u := range sizeUnits {
		if s != 0 && int64(s)%u.bytes == 0 {
			return strconv.FormatInt(int64(s)/u.bytes, 10) + u.name
		}
	}
	return "0B"
}

// File is the path of a file that a stage reads. In pipelines.toml it is relative to the file of the configuration that
// names it, so that the two can be moved together; a stage gets a path that it can open, as it stands: relative to the
// working directory, or absolute. In a value of --set it is relative to the working directory.
type File string

const redacted = "[redacted]"

// Secret is a password or token. However it is printed, logged or marshalled, by itself or within
// another value, it reads [redacted]; only Reveal gives it away.
type Secret struct {
	value *string // behind a pointer, so that printing a struct around it by reflection does not show it
}

// NewSecret returns a secret with this value.
func NewSecret(value string) Secret { return Secret{&value} }

// Reveal returns the secret itself.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsZero reports whether there is no secret.
func (s Secret) IsZero() bool { return s.Reveal() == "" }

// UnmarshalText keeps the text.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = NewSecret(string(text))
	return nil
}

// MarshalText returns what String does.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// String returns [redacted], or nothing if there is no secret.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return redacted
}

// GoString returns what String does.
func (s Secret) GoString() string { return s.String() }

// LogValue returns what String does.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Table is an option whose keys and values another program knows: whatever TOML can express, with strings,
// booleans, int64, float64, []any and map[string]any in it. Variables in its strings are replaced; dates
// stay strings.
type Table map[string]any
