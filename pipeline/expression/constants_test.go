package expression

import (
	"errors"
	"strings"
	"testing"
)

func TestConstantsThatFailAreFoundWhenCompiled(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		place   string
		message string
	}{
		`at > date("2026-02-30")`:                 {"date", "invalid date 2026-02-30"},
		`x ?? upper(string(date('2026-13-01')))`:  {"date", "invalid date 2026-13-01"},
		`x == 1 ? duration("5 apples") : nil`:     {"duration", "unknown unit"},
		`any(list, # > int("many"))`:              {"int", `"many"`},
		`{"a": [fromJSON("{")]}`:                  {"fromJSON", "unexpected end"},
		`let d = date("2026-02-30"); at > d`:      {"date", "invalid date 2026-02-30"},
		`x % (3 % 0)`:                             {"%", "divide by zero"},
		"x\n  + [1, 2][7]":                        {"[", "out of range"},
		`repeat("x", -1) + x`:                     {"repeat", "-1 times"},
		`date("2026-02-28").In(timezone("Mars"))`: {"timezone", "Mars"},
	} {
		_, err := Compile(text)
		var wrong *Error
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want.message) {
			t.Errorf("%s: %v; want %q", text, err, want.message)
			continue
		}
		if at, width := wrong.Within(); !strings.HasPrefix(text[at:at+width], want.place) {
			t.Errorf("%s: %v is at %q", text, err, text[at:at+width])
		}
	}
	for _, text := range []string{
		`at > date("2026-02-28")`, `now() - duration("24h")`, `date(x)`, `any(list, # > int(x))`, `1 / 0`, `"a" matches "a+"`, `len(1..1000) > x`, `host("http://a.org/") == x`,
		`any([1, 2], # > 1)`, `let x = 3; x % 2`, `date("2026-02-28").Year() > x`, `[1, 2][1]`, `x in ["a", "b"]`, `not (x == 1)`, `-1 > x`, `"${" + x`,
	} {
		if _, err := Compile(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
