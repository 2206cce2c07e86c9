// Package cron reads cron expressions of five fields with an optional time zone, such as "0 8 * * 1-5 Europe/Athens",
// and determines when they are due.
//
// Each time that an expression names on the clock of its zone is due exactly once, to the minute. A time that the clock
// passes over because it is put forward is due at the moment of that; one that it shows twice because it is put back is
// due the first time. Zones are those of the IANA database as of the Go release, and come with the program.
package cron

import (
	"fmt"
	"math/bits"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxLength is the most characters of an expression, with single spaces between its fields.
const MaxLength = 512

// Expression is a cron expression: a minute, an hour, a day of the month, a month and a day of the week. Where both
// days are restricted, either is enough; a field that begins with * restricts nothing, as in other crons.
type Expression struct {
	text    string
	minutes uint64 // bits, as those below: the numbers at which it is due
	hours   uint64
	days    uint64
	months  uint64
	weekday uint64 // 0 is Sunday
	either  bool   // one of the days is enough
	zone    *time.Location
}

// Error tells why a text is no expression.
type Error struct {
	Message string
	Hint    string // the expression that may have been meant; empty for none
}

// Error gives the message and, if there is one, the hint.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return fmt.Sprintf("%s (did you mean %q?)", e.Message, e.Hint)
}

// Normal returns a text with single spaces between its fields, and none around them.
func Normal(text string) string { return strings.Join(split(text), " ") }

func split(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n", r) })
}

// Parse reads an expression. The zone is UTC if it names none. One that is never due, such as 30 February, is
// refused. The error is an *[Error].
func Parse(text string) (*Expression, error) {
	given := split(text)
	e, problem := parse(given)
	if problem == nil {
		return e, nil
	}
	if problem.Hint = mended(problem.Hint); problem.Hint == "" {
		problem.Hint = meant(given)
	}
	return nil, problem
}

// String returns the expression with single spaces between its fields.
func (e *Expression) String() string { return e.text }

const wanted = "a minute, an hour, a day of the month, a month and a day of the week are wanted, and a time zone if it is not UTC"

func parse(given []string) (*Expression, *Error) {
	e := &Expression{text: strings.Join(given, " "), zone: time.UTC}
	switch {
	case utf8.RuneCountInString(e.text) > MaxLength:
		return nil, &Error{Message: fmt.Sprintf("it is longer than %d characters", MaxLength)}
	case len(given) == 0:
		return nil, &Error{Message: "it is empty: " + wanted}
	case len(given) < len(fields) || len(given) > len(fields)+1:
		return nil, &Error{Message: fmt.Sprintf("it has %s: %s", counted(len(given)), wanted)}
	}
	for i, into := range []*uint64{&e.minutes, &e.hours, &e.days, &e.months, &e.weekday} {
		set, problem := fields[i].parse(given[i])
		if problem != nil {
			if problem.instead != "" {
				return nil, &Error{problem.message, replaced(given, i, problem.instead)}
			}
			return nil, &Error{Message: problem.message}
		}
		*into = set
	}
	if len(given) > len(fields) {
		var problem *Error
		if e.zone, problem = zoneOf(given); problem != nil {
			return nil, problem
		}
	}
	e.either = given[2][0] != '*' && given[4][0] != '*'
	if least, most := bits.TrailingZeros64(e.days), e.longestMonth(); !e.either && least > most {
		if most == 29 {
			most = 28 // of each February
		}
		return nil, &Error{fmt.Sprintf("it is never due: none of its months has a day %d", least), replaced(given, 2, fmt.Sprint(most))}
	}
	return e, nil
}

func counted(fields int) string {
	if fields == 1 {
		return "1 field"
	}
	return fmt.Sprint(fields, " fields")
}

// replaced is the expression with another field.
func replaced(given []string, i int, field string) string {
	other := append([]string(nil), given...)
	other[i] = field
	return strings.Join(other, " ")
}

// longestMonth is how many days the longest of the months has, in a leap year.
func (e *Expression) longestMonth() (days int) {
	for month := 1; month <= 12; month++ {
		if e.months&(1<<month) != 0 {
			days = max(days, time.Date(2000, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day())
		}
	}
	return days
}
