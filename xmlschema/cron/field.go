package cron

import (
	"fmt"
	"strconv"
	"strings"
)

// field is what one of the five fields may hold.
type field struct {
	name        string
	least, most int
	names       []string // of the numbers from the least on
}

var fields = [...]field{
	{"minute", 0, 59, nil},
	{"hour", 0, 23, nil},
	{"day of the month", 1, 31, nil},
	{"month", 1, 12, strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec")},
	{"day of the week", 0, 7, strings.Fields("sun mon tue wed thu fri sat")}, // 7 is Sunday, too
}

// fault is what is wrong with a field, and what the field may have been meant to be; empty if that is not known.
type fault struct{ message, instead string }

// parse reads a field: numbers, ranges and steps with commas between them. It returns a bit for each number.
func (f field) parse(text string) (set uint64, problem *fault) {
	parts := strings.Split(text, ",")
	for i, part := range parts {
		first, last, step, problem := f.part(part)
		if problem != nil {
			if problem.instead != "" {
				parts[i] = problem.instead
				problem.instead = strings.Join(parts, ",")
			}
			return 0, problem
		}
		for n := first; n <= last; n += step {
			set |= 1 << n
		}
	}
	if f.most == 7 && set&(1<<7) != 0 {
		set = set&^(1<<7) | 1
	}
	return set, nil
}

// part reads one of *, n, a-b, */step, n/step and a-b/step. What begins at n and has a step goes on to the end.
func (f field) part(text string) (first, last, step int, problem *fault) {
	span, by, stepped := strings.Cut(text, "/")
	first, last, step = f.least, f.most, 1
	if span != "*" {
		from, to, ranged := strings.Cut(span, "-")
		if first, problem = f.number(from, text); problem != nil {
			return 0, 0, 0, problem
		}
		switch {
		case ranged:
			if last, problem = f.number(to, text); problem != nil {
				return 0, 0, 0, problem
			}
			if f.most == 7 && last == 0 {
				last = 7 // sat-sun
			}
		case !stepped:
			last = first
		}
	}
	if stepped {
		if step, problem = f.step(by, text); problem != nil {
			return 0, 0, 0, problem
		}
	}
	if last < first {
		problem = &fault{message: fmt.Sprintf("%s %q ends before it begins", f.name, text)}
		if !stepped {
			end := f.most
			if end == 7 {
				end = 6
			}
			problem.instead = fmt.Sprintf("%d-%d,%d-%d", first, end, f.least, last)
		}
		return 0, 0, 0, problem
	}
	return first, last, step, nil
}

// number reads a number or a name, in a part of the field.
func (f field) number(text, part string) (int, *fault) {
	for i, name := range f.names {
		if strings.EqualFold(name, text) {
			return f.least + i, nil
		}
	}
	n, known := natural(text)
	if known && n >= f.least && n <= f.most {
		return n, nil
	}
	problem := &fault{message: fmt.Sprintf("%s %q is not a number from %d to %d", f.name, text, f.least, f.most)}
	if f.names != nil {
		problem.message += ", nor one of " + strings.Join(f.names, ", ")
	}
	switch instead := f.nameLike(text); {
	case part == "?":
		problem.instead = "*"
	case instead != "":
		problem.instead = strings.Replace(part, text, instead, 1)
	case known && f.least == 0 && f.names == nil && n == f.most+1: // 24 o'clock
		problem.instead = strings.Replace(part, text, "0", 1)
	}
	return 0, problem
}

// nameLike returns the name that a text begins with; empty for none.
func (f field) nameLike(text string) string {
	for _, name := range f.names {
		if strings.HasPrefix(strings.ToLower(text), name) {
			return name
		}
	}
	return ""
}

func (f field) step(text, part string) (int, *fault) {
	n, known := natural(text)
	switch {
	case !known || n == 0:
		return 0, &fault{message: fmt.Sprintf("the step of %s %q is not a number of 1 or more", f.name, part)}
	case n > f.most:
		return 0, &fault{message: fmt.Sprintf("the step of %s %q is beyond %d: it counts anew in each %s", f.name, part, f.most, f.within())}
	}
	return n, nil
}

// within is what the numbers of the field count in.
func (f field) within() string {
	return map[string]string{"minute": "hour", "hour": "day", "day of the month": "month", "month": "year", "day of the week": "week"}[f.name]
}

// natural reads a few digits.
func natural(text string) (n int, is bool) {
	if text == "" || len(text) > 4 || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}
