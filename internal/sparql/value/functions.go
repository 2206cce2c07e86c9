package value

import (
	"math"
	"strings"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// Functions on numbers: section 17.4.4.

func absolute(args []webrace.Term, _ *Env) (webrace.Term, error) {
	var p parsed
	parse(args[0], &p)
	if !p.numeric() {
		return "", ErrType
	}
	if p.num.sign() < 0 {
		p.num = p.num.negative()
	}
	p.real = math.Abs(p.real)
	return p.number(), nil
}

func rounded(to rounding) func([]webrace.Term, *Env) (webrace.Term, error) {
	return func(args []webrace.Term, _ *Env) (webrace.Term, error) {
		var p parsed
		parse(args[0], &p)
		if !p.numeric() {
			return "", ErrType
		}
		p.num, p.real = p.num.round(to), roundFloat(p.real, to)
		return p.number(), nil
	}
}

// Functions on dates and times: section 17.4.5. Besides xsd:dateTime they take dates and times of day, for what those
// have.

func now(_ []webrace.Term, env *Env) (webrace.Term, error) { return DateTime(env.Now), nil }

// DateTime returns the term of a time, to the millisecond.
func DateTime(t time.Time) webrace.Term {
	_, offset := t.Zone()
	return moment{
		local:  t.Unix() + int64(offset/60)*60,
		nanos:  int32(t.Nanosecond() / 1e6 * 1e6),
		offset: int16(offset / 60),
		zoned:  true,
	}.term(dateTime)
}

// dated takes a literal apart that has a date.
func dated(t webrace.Term) (p parsed, err error) {
	parse(t, &p)
	if p.kind != dateTime && p.kind != date {
		return p, ErrType
	}
	return p, nil
}

// timed takes a literal apart that has a time of day.
func timed(t webrace.Term) (p parsed, err error) {
	parse(t, &p)
	if p.kind != dateTime && p.kind != timeOfDay {
		return p, ErrType
	}
	return p, nil
}

func year(args []webrace.Term, _ *Env) (webrace.Term, error) {
	p, err := dated(args[0])
	if err != nil {
		return "", err
	}
	y, _, _ := p.at.date()
	return Integer(y), nil
}

func month(args []webrace.Term, _ *Env) (webrace.Term, error) {
	p, err := dated(args[0])
	if err != nil {
		return "", err
	}
	_, m, _ := p.at.date()
	return Integer(m), nil
}

func day(args []webrace.Term, _ *Env) (webrace.Term, error) {
	p, err := dated(args[0])
	if err != nil {
		return "", err
	}
	_, _, d := p.at.date()
	return Integer(d), nil
}

func hours(args []webrace.Term, _ *Env) (webrace.Term, error) {
	p, err := timed(args[0])
	if err != nil {
		return "", err
	}
	return Integer(p.at.clock() / 3600), nil
}

func minutes(args []webrace.Term, _ *Env) (webrace.Term, error) {
	p, err := timed(args[0])
	if err != nil {
		return "", err
	}
	return Integer(p.at.clock() / 60 % 60), nil
}

func seconds(args []webrace.Term, _ *Env) (webrace.Term, error) {
	p, err := timed(args[0])
	if err != nil {
		return "", err
	}
	n := number{n: p.at.clock()%60*1e9 + int64(p.at.nanos), scale: 9}
	return n.normal().decimal(), nil
}

// timezone gives an xsd:dayTimeDuration; without a timezone it is an error.
func timezone(args []webrace.Term, _ *Env) (webrace.Term, error) {
	var p parsed
	parse(args[0], &p)
	if p.kind < dateTime || p.kind > timeOfDay || !p.at.zoned {
		return "", ErrType
	}
	return span{seconds: int64(p.at.offset) * 60}.term(dayTimeDuration)
}

// tz gives the timezone as it is written.
func tz(args []webrace.Term, _ *Env) (webrace.Term, error) {
	var p parsed
	parse(args[0], &p)
	switch {
	case p.kind < dateTime || p.kind > timeOfDay:
		return "", ErrType
	case !p.at.zoned:
		return `""`, nil
	case strings.HasSuffix(p.text, "Z"):
		return `"Z"`, nil
	default:
		return rdf.NewString(p.text[len(p.text)-len("+00:00"):]), nil
	}
}
