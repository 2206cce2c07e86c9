// Package timezone has the time zones of the IANA database, and what a clock that is put forward and back shows in
// them.
//
// Zones are those of the Go release, and come with the program: a name means the same on each machine, and in a
// container that has no database.
package timezone

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // containers have no database of time zones

	"github.com/webrace/webrace/internal/suggest"
)

// zoneNames are those of lib/time/zoneinfo.zip of the Go release, one a line, but for Factory. Others that a machine
// may have (localtime, right/…) would mean something else on the next one.
//
//go:embed zones.txt
var zoneNames string

var names = strings.Fields(zoneNames)

// Names returns the names of all zones, sorted. The caller must not change them.
func Names() []string { return names }

// loaded holds each zone that was asked for: to read one takes 21 µs, and 0.04 to find it here.
var loaded sync.Map // of name to *time.Location

// Load returns the zone of a name, which is one of [Names].
func Load(name string) (*time.Location, error) {
	if zone, ok := loaded.Load(name); ok {
		return zone.(*time.Location), nil
	}
	if _, found := slices.BinarySearch(names, name); !found {
		return nil, fmt.Errorf("%q is no time zone of the IANA database, as Europe/Athens is", name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("time zone %s cannot be read: %w", name, err)
	}
	loaded.Store(name, zone)
	return zone, nil
}

// fromUTC is how some write a zone that no place is named for.
var fromUTC = regexp.MustCompile(`^(?:UTC|GMT)?([+-])0?(\d{1,2})(?::?00)?$`)

// Nearest returns the zone that a text which names none may have been meant for: Europe/Athens for athens, Etc/GMT-2
// for UTC+2; empty for none.
func Nearest(text string) string {
	if text == "" {
		return ""
	}
	if m := fromUTC.FindStringSubmatch(strings.ToUpper(text)); m != nil { // the database counts the other way
		hours, _ := strconv.Atoi(m[2])
		if zone := fmt.Sprintf("Etc/GMT%s%d", map[string]string{"+": "-", "-": "+"}[m[1]], hours); slices.Contains(names, zone) {
			return zone
		}
		return ""
	}
	for _, zone := range names {
		if strings.EqualFold(zone, text) {
			return zone
		}
	}
	for _, zone := range names {
		if _, place, _ := strings.Cut(zone, "/"); strings.EqualFold(place, text) {
			return zone
		}
	}
	return suggest.Nearest(text, names)
}

// Instant returns when the clock of a zone shows a time, given as if the clock were that of UTC: the first time, if
// it does so twice, and the moment at which it is put forward, if it never does.
func Instant(shown time.Time, zone *time.Location) time.Time {
	if zone == time.UTC {
		return shown
	}
	at := shown.Add(-26 * time.Hour).In(zone) // no zone is as far ahead of UTC, or behind it
	for {
		_, offset := at.Zone()
		begins, ends := at.ZoneBounds()
		at = shown.Add(-time.Duration(offset) * time.Second)
		switch {
		case !ends.IsZero() && !at.Before(ends):
			at = ends.In(zone)
		case at.Before(begins):
			return begins.UTC()
		default:
			return at
		}
	}
}
