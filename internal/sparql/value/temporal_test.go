package value_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql/value"
)

// TestDates computes with dates, times and durations: the examples of XPath and XQuery Functions and Operators 3.1,
// sections 8.4, 9.7 and 19.1, and what is at their edges. An empty result is an error.
func TestDates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a    string
		op   byte
		b    string
		want string
	}{
		{`"P2Y11M"^^xsd:yearMonthDuration`, '+', `"P3Y3M"^^xsd:yearMonthDuration`, `"P6Y2M"^^xsd:yearMonthDuration`},
		{`"P2Y11M"^^xsd:yearMonthDuration`, '-', `"P3Y3M"^^xsd:yearMonthDuration`, `"-P4M"^^xsd:yearMonthDuration`},
		{`"P2Y11M"^^xsd:yearMonthDuration`, '*', `2.3`, `"P6Y9M"^^xsd:yearMonthDuration`},
		{`"P2Y11M"^^xsd:yearMonthDuration`, '/', `1.5`, `"P1Y11M"^^xsd:yearMonthDuration`},
		{`"P3Y4M"^^xsd:yearMonthDuration`, '/', `"-P1Y4M"^^xsd:yearMonthDuration`, `-2.5`},
		{`"P2DT12H5M"^^xsd:dayTimeDuration`, '+', `"P5DT12H"^^xsd:dayTimeDuration`, `"P8DT5M"^^xsd:dayTimeDuration`},
		{`"P2DT12H"^^xsd:dayTimeDuration`, '-', `"P1DT10H30M"^^xsd:dayTimeDuration`, `"P1DT1H30M"^^xsd:dayTimeDuration`},
		{`"PT2H10M"^^xsd:dayTimeDuration`, '*', `2.1`, `"PT4H33M"^^xsd:dayTimeDuration`},
		{`2.1`, '*', `"PT2H10M"^^xsd:dayTimeDuration`, `"PT4H33M"^^xsd:dayTimeDuration`},
		{`"P1DT2H30M10.5S"^^xsd:dayTimeDuration`, '/', `1.5e0`, `"PT17H40M7S"^^xsd:dayTimeDuration`},
		{`"P4D"^^xsd:dayTimeDuration`, '/', `"P1DT8H"^^xsd:dayTimeDuration`, `3.0`},
		{`"2000-10-30T06:12:00-05:00"^^xsd:dateTime`, '-', `"1999-11-28T09:00:00Z"^^xsd:dateTime`, `"P337DT2H12M"^^xsd:dayTimeDuration`},
		{`"2000-10-30"^^xsd:date`, '-', `"1999-11-28"^^xsd:date`, `"P337D"^^xsd:dayTimeDuration`},
		{`"2000-10-15-05:00"^^xsd:date`, '-', `"2000-10-10+02:00"^^xsd:date`, `"P5DT7H"^^xsd:dayTimeDuration`},
		{`"11:12:00Z"^^xsd:time`, '-', `"04:00:00-05:00"^^xsd:time`, `"PT2H12M"^^xsd:dayTimeDuration`},
		{`"08:00:00+09:00"^^xsd:time`, '-', `"17:00:00-06:00"^^xsd:time`, `"-P1D"^^xsd:dayTimeDuration`},
		{`"24:00:00"^^xsd:time`, '-', `"23:59:59"^^xsd:time`, `"-PT23H59M59S"^^xsd:dayTimeDuration`},
		{`"2000-10-30T11:12:00"^^xsd:dateTime`, '+', `"P1Y2M"^^xsd:yearMonthDuration`, `"2001-12-30T11:12:00"^^xsd:dateTime`},
		{`"2000-10-30T11:12:00"^^xsd:dateTime`, '+', `"P3DT1H15M"^^xsd:dayTimeDuration`, `"2000-11-02T12:27:00"^^xsd:dateTime`},
		{`"2000-10-30T11:12:00"^^xsd:dateTime`, '-', `"P1Y2M"^^xsd:yearMonthDuration`, `"1999-08-30T11:12:00"^^xsd:dateTime`},
		{`"2000-10-30T11:12:00"^^xsd:dateTime`, '-', `"P3DT1H15M"^^xsd:dayTimeDuration`, `"2000-10-27T09:57:00"^^xsd:dateTime`},
		{`"2000-10-30"^^xsd:date`, '+', `"P1Y2M"^^xsd:yearMonthDuration`, `"2001-12-30"^^xsd:date`},
		{`"2004-10-30Z"^^xsd:date`, '+', `"P2DT2H30M0S"^^xsd:dayTimeDuration`, `"2004-11-01Z"^^xsd:date`},
		{`"2000-10-30"^^xsd:date`, '-', `"P1Y2M"^^xsd:yearMonthDuration`, `"1999-08-30"^^xsd:date`},
		{`"2000-02-29Z"^^xsd:date`, '-', `"P1Y"^^xsd:yearMonthDuration`, `"1999-02-28Z"^^xsd:date`},
		{`"2000-10-31-05:00"^^xsd:date`, '-', `"P1Y1M"^^xsd:yearMonthDuration`, `"1999-09-30-05:00"^^xsd:date`},
		{`"2000-10-30"^^xsd:date`, '-', `"P3DT1H15M"^^xsd:dayTimeDuration`, `"2000-10-26"^^xsd:date`},
		{`"11:12:00"^^xsd:time`, '+', `"P3DT1H15M"^^xsd:dayTimeDuration`, `"12:27:00"^^xsd:time`},
		{`"23:12:00+03:00"^^xsd:time`, '+', `"P1DT3H15M"^^xsd:dayTimeDuration`, `"02:27:00+03:00"^^xsd:time`},
		{`"08:20:00-05:00"^^xsd:time`, '-', `"P23DT10H10M"^^xsd:dayTimeDuration`, `"22:10:00-05:00"^^xsd:time`},
		{`"P1D"^^xsd:dayTimeDuration`, '+', `"2026-01-31"^^xsd:date`, `"2026-02-01"^^xsd:date`},
		{`"2026-01-31T00:00:00Z"^^xsd:dateTime`, '+', `"P1M1DT0.5S"^^xsd:duration`, `"2026-03-01T00:00:00.5Z"^^xsd:dateTime`},
		{`"2026-01-01T00:00:00Z"^^xsd:dateTime`, '-', `"PT0.000000001S"^^xsd:dayTimeDuration`, `"2025-12-31T23:59:59.999999999Z"^^xsd:dateTime`},
		{`"-0001-01-01"^^xsd:date`, '-', `"P1D"^^xsd:dayTimeDuration`, `"-0002-12-31"^^xsd:date`},
		{`"PT0.3S"^^xsd:dayTimeDuration`, '-', `"PT0.7S"^^xsd:dayTimeDuration`, `"-PT0.4S"^^xsd:dayTimeDuration`},
		{`"PT1S"^^xsd:dayTimeDuration`, '/', `3`, `"PT0.333333333S"^^xsd:dayTimeDuration`},
		{`"PT2S"^^xsd:dayTimeDuration`, '*', `0.9999999999`, `"PT2S"^^xsd:dayTimeDuration`},
		{`"P1D"^^xsd:dayTimeDuration`, '*', `0`, `"PT0S"^^xsd:dayTimeDuration`},
		{`"P1M"^^xsd:yearMonthDuration`, '*', `-0.5`, `"P0M"^^xsd:yearMonthDuration`},

		{`"P1M"^^xsd:yearMonthDuration`, '+', `"P1D"^^xsd:dayTimeDuration`, ""},
		{`"P1D"^^xsd:duration`, '+', `"P1D"^^xsd:duration`, ""},
		{`"11:12:00"^^xsd:time`, '+', `"P1M"^^xsd:yearMonthDuration`, ""},
		{`"2000-10-30"^^xsd:date`, '-', `"2000-10-30T00:00:00"^^xsd:dateTime`, ""},
		{`"2000-10-30"^^xsd:date`, '+', `"2000-10-30"^^xsd:date`, ""},
		{`"P1D"^^xsd:dayTimeDuration`, '-', `"2000-10-30"^^xsd:date`, ""},
		{`"2000-10-30"^^xsd:date`, '-', `1`, ""},
		{`"2000-02-30"^^xsd:date`, '+', `"P1D"^^xsd:dayTimeDuration`, ""},
		{`"P1D"^^xsd:dayTimeDuration`, '/', `0`, ""},
		{`2`, '/', `"P1D"^^xsd:dayTimeDuration`, ""},
		{`"P1D"^^xsd:dayTimeDuration`, '/', `"PT0S"^^xsd:dayTimeDuration`, ""},
		{`"P1D"^^xsd:dayTimeDuration`, '*', `"NaN"^^xsd:double`, ""},
		{`"P1D"^^xsd:dayTimeDuration`, '*', `1e300`, ""},
		{`"P99999999999D"^^xsd:dayTimeDuration`, '+', `"P99999999999D"^^xsd:dayTimeDuration`, ""},
		{`"999999999-12-31"^^xsd:date`, '+', `"P1D"^^xsd:dayTimeDuration`, ""},
		{`"2000-01-01"^^xsd:date`, '+', `"P99999999999Y"^^xsd:yearMonthDuration`, ""},
		{`"2000-10-30"@en`, '-', `"1999-11-28"^^xsd:date`, ""},
	} {
		got, err := value.Arithmetic(c.op, term(c.a), term(c.b))
		if got != term(c.want) || (err != nil) != (c.want == "") {
			t.Errorf("%s %c %s is %s, %v, want %s", c.a, c.op, c.b, got, err, c.want)
		}
	}
	for _, c := range []struct{ cast, of, want string }{
		{"date", `"2026-11-28"`, `"2026-11-28"^^xsd:date`},
		{"date", `" 2026-11-28Z\n"`, `"2026-11-28Z"^^xsd:date`},
		{"date", `"2026-11-28T23:30:00-05:00"^^xsd:dateTime`, `"2026-11-28-05:00"^^xsd:date`},
		{"date", `"2026-11-28T24:00:00"^^xsd:dateTime`, `"2026-11-29"^^xsd:date`},
		{"date", `"2026-11-28"^^xsd:date`, `"2026-11-28"^^xsd:date`},
		{"date", `"2026-02-29"`, ""},
		{"date", `"2026-11-28T10:00:00"`, ""},
		{"date", `"10:00:00"^^xsd:time`, ""},
		{"date", `"2026-11-28"@en`, ""},
		{"date", `2026`, ""},
		{"dateTime", `"2026-11-28+02:00"^^xsd:date`, `"2026-11-28T00:00:00+02:00"^^xsd:dateTime`},
		{"dateTime", `"2026-11-28"`, ""},
		{"time", `"2026-11-28T23:30:00.5-05:00"^^xsd:dateTime`, `"23:30:00.5-05:00"^^xsd:time`},
		{"time", `"24:00:00"`, `"00:00:00"^^xsd:time`},
		{"time", `"2026-11-28"^^xsd:date`, ""},
		{"dayTimeDuration", `"P7D"`, `"P7D"^^xsd:dayTimeDuration`},
		{"dayTimeDuration", `"PT36H90M"`, `"P1DT13H30M"^^xsd:dayTimeDuration`},
		{"dayTimeDuration", `"P1Y2M3D"^^xsd:duration`, `"P3D"^^xsd:dayTimeDuration`},
		{"dayTimeDuration", `"P1M"^^xsd:yearMonthDuration`, `"PT0S"^^xsd:dayTimeDuration`},
		{"dayTimeDuration", `"P1M"`, ""},
		{"yearMonthDuration", `"P1Y2M3D"^^xsd:duration`, `"P1Y2M"^^xsd:yearMonthDuration`},
		{"yearMonthDuration", `"P14M"`, `"P1Y2M"^^xsd:yearMonthDuration`},
		{"duration", `"-P1DT90S"^^xsd:dayTimeDuration`, `"-P1DT1M30S"^^xsd:duration`},
		{"duration", `"P1Y1DT0S"`, `"P1Y1D"^^xsd:duration`},
		{"duration", `7`, ""},
	} {
		got, err := value.Call(rdf.XSD+c.cast, terms(c.of), nil)
		if got != term(c.want) || (err != nil) != (c.want == "") {
			t.Errorf("xsd:%s(%s) is %s, %v, want %s", c.cast, c.of, got, err, c.want)
		}
	}
}

// TestDatesAgainstTheCalendarOfGo adds durations to random times, and takes times from each other.
func TestDatesAgainstTheCalendarOfGo(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(27, 7))
	dateTime := func(at time.Time) webrace.Term {
		return rdf.NewTyped(at.UTC().Format("2006-01-02T15:04:05.999999999Z"), rdf.XSD+"dateTime")
	}
	for range 5000 {
		at := time.Unix(r.Int64N(8e9)-4e9, r.Int64N(1e9)).UTC()
		months, seconds := r.IntN(4000)-2000, time.Duration(r.Int64N(4e18)-2e18)
		sign, n := "", months
		if n < 0 {
			sign, n = "-", -n
		}
		first := time.Date(at.Year(), at.Month()+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
		last := first.AddDate(0, 1, -1).Day()
		clock := at.Sub(at.Truncate(24 * time.Hour))
		want := dateTime(first.AddDate(0, 0, min(at.Day(), last)-1).Add(clock))
		d := rdf.NewTyped(fmt.Sprintf("%sP%dM", sign, n), rdf.XSD+"yearMonthDuration")
		if got, err := value.Arithmetic('+', dateTime(at), d); err != nil || got != want {
			t.Fatalf("%s + %s is %s, %v, want %s", dateTime(at), d, got, err, want)
		}
		sign, m := "", seconds
		if m < 0 {
			sign, m = "-", -m
		}
		d = rdf.NewTyped(fmt.Sprintf("%sPT%d.%09dS", sign, m/time.Second, m%time.Second), rdf.XSD+"dayTimeDuration")
		later := dateTime(at.Add(seconds))
		if got, err := value.Arithmetic('+', dateTime(at), d); err != nil || got != later {
			t.Fatalf("%s + %s is %s, %v, want %s", dateTime(at), d, got, err, later)
		}
		difference, err := value.Arithmetic('-', later, dateTime(at))
		if err != nil {
			t.Fatal(err)
		}
		if same, err := value.Compare("=", difference, d); err != nil || !same {
			t.Fatalf("%s - %s is %s, %v, want %s", later, dateTime(at), difference, err, d)
		}
		if canonical, err := value.Call(rdf.XSD+"dayTimeDuration", terms(string(d)), nil); err != nil || canonical != difference {
			t.Fatalf("%s is %s, as a difference %s", d, canonical, difference)
		}
	}
}
