package article

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/visible"
)

// Line returns a text as those of an [Article] are: of one line, of what is seen, and at most 300 characters long.
func Line(s string) string { return visible.Line(s, longest) }

var by = regexp.MustCompile(`^(?i)(?:by|von|par|por|di|door|written by|posted by|author)[:\s]\s*`)

// readAuthor returns a name; empty for what is an address, as some state, or no name by its length.
func readAuthor(s string) string {
	s = visible.Line(s, longest)
	s = strings.Trim(by.ReplaceAllString(s, ""), " ,;|-–—")
	if strings.Contains(s, "://") || strings.HasPrefix(s, "www.") || strings.HasPrefix(s, "@") || utf8.RuneCountInString(s) > 100 ||
		!strings.ContainsFunc(s, unicode.IsLetter) {
		return ""
	}
	return s
}

var tag = regexp.MustCompile(`^[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}$`)

// readLanguage returns a tag of BCP 47; empty if it is none.
func readLanguage(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), ",")
	if !tag.MatchString(s) {
		return ""
	}
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == '-' || r == '_' })
	for i, part := range parts {
		switch {
		case i > 0 && len(part) == len("US"): // a region
			parts[i] = strings.ToUpper(part)
		default:
			parts[i] = strings.ToLower(part)
		}
	}
	if parts[0] == "und" {
		return ""
	}
	return strings.Join(parts, "-")
}

// Layouts of dates with a zone, and without one.
var (
	zoned = [...]string{
		time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05.999Z0700", "2006-01-02 15:04:05Z07:00",
		"2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05Z0700", time.RFC1123Z, time.RFC1123,
	}
	dates = [...]string{
		"2006-01-02", "2006/01/02", "2006/1/2", "20060102", "January 2, 2006", "Jan 2, 2006", "2 January 2006", "2 Jan 2006", "02.01.2006", "2.1.2006",
	}
	isoDate = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})(?:[T ]|$)`)
)

// readDate returns a moment as RFC 3339 has it, or a date where no zone is stated; empty if it is none.
func readDate(s string) string {
	s = visible.Line(s, 50)
	if s == "" {
		return ""
	}
	for _, layout := range zoned {
		if t, err := time.Parse(layout, s); err == nil && plausible(t) {
			return t.Truncate(time.Second).Format(time.RFC3339)
		}
	}
	if m := isoDate.FindStringSubmatch(s); m != nil { // whatever time stands behind it is of an unknown zone
		s = m[1]
	}
	for _, layout := range dates {
		if t, err := time.Parse(layout, s); err == nil && plausible(t) {
			return t.Format(time.DateOnly)
		}
	}
	return ""
}

// plausible reports whether something can have been published then: templates state the year 1 or 1970.
func plausible(t time.Time) bool { return t.Year() > 1970 && t.Year() < 2100 }

var dayInPath = regexp.MustCompile(`/((?:19|20)\d\d)[/-]([01]?\d)[/-]([0-3]?\d)(?:/|-|$)`)

// dateOfPath returns the day that a path has; empty if it has none.
func dateOfPath(path string) string {
	if m := dayInPath.FindStringSubmatch(path); m != nil {
		return readDate(m[1] + "/" + m[2] + "/" + m[3])
	}
	return ""
}

var (
	dateInText  = regexp.MustCompile(`(?i)\b(?:(\d{4})-(\d\d)-(\d\d)|(\d\d?)[.]\s?(\d\d?)[.]\s?(\d{4})|(\d\d?)[.]?(?:\s+de)?\s+(\pL{3,10})[.]?(?:\s+de)?\s+(\d{4})|(\pL{3,10})[.]?\s+(\d\d?),?\s+(\d{4}))\b`)
	monthsNames = [12]string{
		"jan january januar jänner janvier janv enero ene gennaio gen janeiro januari", "feb february februar février févr febrero febbraio fevereiro fev februari",
		"mar march märz mär mars marzo março maart", "apr april avril avr abril abr aprile", "may mai mayo maggio mag maio mei",
		"jun june juni juin junio giugno giu junho", "jul july juli juil juillet julio luglio lug julho", "aug august août agosto ago augustus",
		"sep sept september septembre septiembre settembre set setembro", "oct october oktober okt octobre octubre ottobre ott outubro out",
		"nov november novembre noviembre novembro", "dec december dezember dez décembre déc diciembre dic dicembre dezembro",
	}
	months = func() map[string]int {
		all := make(map[string]int)
		for i, names := range monthsNames {
			for name := range strings.FieldsSeq(names) {
				all[name] = i + 1
			}
		}
		return all
	}()
)

// dateIn returns the first day that is named in a text; empty if there is none.
func dateIn(text string) string {
	m := dateInText.FindStringSubmatch(visible.Line(text, longest))
	if m == nil {
		return ""
	}
	year, month, day := m[1]+m[6]+m[9]+m[12], m[2]+m[5], m[3]+m[4]+m[7]+m[11]
	if name := m[8] + m[10]; name != "" {
		month = strconv.Itoa(months[strings.ToLower(name)])
	}
	return readDate(year + "/" + strings.TrimPrefix(month, "0") + "/" + strings.TrimPrefix(day, "0"))
}
