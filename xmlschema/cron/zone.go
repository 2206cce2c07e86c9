package cron

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // containers have no database of time zones

	"github.com/webrace/webrace/internal/suggest"
)

// zoneNames are those of lib/time/zoneinfo.zip of the Go release, one a line, but for Factory. Others that a machine
// may have (localtime, right/…) would mean something else on the next one.
//
//go:embed zones.txt
var zoneNames string

var zones = strings.Fields(zoneNames)

// zoneOf returns the zone that the last of the fields names.
func zoneOf(given []string) (*time.Location, *Error) {
	name := given[len(fields)]
	if slices.Contains(zones, name) {
		zone, err := time.LoadLocation(name)
		if err != nil {
			return nil, &Error{Message: fmt.Sprintf("time zone %s cannot be read: %v", name, err)}
		}
		return zone, nil
	}
	if looksLikeField(name) {
		return nil, &Error{Message: "it has 6 fields, and the last is no time zone: " + wanted}
	}
	problem := &Error{Message: fmt.Sprintf("%q is no time zone of the IANA database, as Europe/Athens is", name)}
	if other := zoneLike(name); other != "" {
		problem.Hint = replaced(given, len(fields), other)
	}
	return nil, problem
}

// fromUTC is how some write a zone that no place is named for.
var fromUTC = regexp.MustCompile(`^(?:UTC|GMT)?([+-])0?(\d{1,2})(?::?00)?$`)

// zoneLike returns the zone that a name may have been meant for; empty for none.
func zoneLike(name string) string {
	if m := fromUTC.FindStringSubmatch(strings.ToUpper(name)); m != nil { // the database counts the other way
		hours, _ := strconv.Atoi(m[2])
		if zone := fmt.Sprintf("Etc/GMT%s%d", map[string]string{"+": "-", "-": "+"}[m[1]], hours); slices.Contains(zones, zone) {
			return zone
		}
		return ""
	}
	for _, zone := range zones {
		if strings.EqualFold(zone, name) {
			return zone
		}
	}
	for _, zone := range zones {
		if _, place, _ := strings.Cut(zone, "/"); strings.EqualFold(place, name) {
			return zone
		}
	}
	return suggest.Nearest(name, zones)
}
