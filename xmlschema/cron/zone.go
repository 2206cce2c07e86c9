package cron

import (
	"time"

	"github.com/webrace/webrace/internal/timezone"
)

// zoneOf returns the zone that the last of the fields names.
func zoneOf(given []string) (*time.Location, *Error) {
	name := given[len(fields)]
	zone, err := timezone.Load(name)
	if err == nil {
		return zone, nil
	}
	if looksLikeField(name) {
		return nil, &Error{Message: "it has 6 fields, and the last is no time zone: " + wanted}
	}
	problem := &Error{Message: err.Error()}
	if other := timezone.Nearest(name); other != "" {
		problem.Hint = replaced(given, len(fields), other)
	}
	return nil, problem
}
