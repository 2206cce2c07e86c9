package cron

import (
	"regexp"
	"slices"
	"strings"
)

// shorthands are what other crons take for whole expressions.
var shorthands = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// timeOfDay is a time as clocks show it.
var timeOfDay = regexp.MustCompile(`^([01]?[0-9]|2[0-3]):([0-5][0-9])$`)

// meant returns the expression that may have been meant by fields that are none; empty if that is not known.
func meant(given []string) string {
	for _, other := range readings(given) {
		if hint := mended(strings.Join(other, " ")); hint != "" {
			return hint
		}
	}
	return ""
}

// mended follows the hints to a text to an expression, as what was meant by one field may have another that is wrong;
// empty if they lead to none.
func mended(text string) string {
	for range len(fields) + 1 {
		_, wrong := parse(split(text))
		if wrong == nil {
			return text
		}
		text = wrong.Hint
	}
	return ""
}

// looksLikeField reports whether a text has nothing of a zone's name in it.
func looksLikeField(text string) bool { return strings.Trim(text, "0123456789*/,-?") == "" }

// readings are other ways to take the fields, the likeliest first.
func readings(given []string) (all [][]string) {
	if len(given) == 0 {
		return nil
	}
	first, rest := given[0], given[1:]
	if whole, known := shorthands[strings.ToLower(first)]; known {
		all = append(all, append(strings.Fields(whole), rest...))
	}
	if m := timeOfDay.FindStringSubmatch(first); m != nil {
		all = append(all, append([]string{strings.TrimPrefix(m[2], "0"), m[1], "*", "*", "*"}, rest...))
	}
	if key, zone, assigned := strings.Cut(first, "="); assigned && slices.Contains([]string{"TZ", "CRON_TZ"}, key) {
		all = append(all, append(slices.Clone(rest), zone))
	}
	if len(given) > len(fields)+1 { // America/New York
		zone := strings.Join(given[len(fields):], "_")
		all = append(all, append(slices.Clone(given[:len(fields)]), zone))
	}
	if len(given) > len(fields) {
		all = append(all, rest) // with seconds in front
		if looksLikeField(given[len(fields)]) {
			all = append(all, slices.Delete(slices.Clone(given), len(fields), len(fields)+1)) // with a year behind
		}
	}
	return all
}
