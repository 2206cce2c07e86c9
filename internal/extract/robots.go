package extract

import (
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"
)

// DefaultRobotsName is what pages call the crawler by, unless [Options] set another.
const DefaultRobotsName = "webrace"

// Robot is who asks what a document may be used for, and when. Without a name it is [DefaultRobotsName], and
// without a time it asks now.
type Robot struct {
	Name string
	At   time.Time
}

// Robots returns what the document asks of a robot, in the header it was sent with and in itself: all that is
// asked of every robot, and of this one by its name.
func (r *Result) Robots(header http.Header, who Robot) Directives {
	asked := Directives{r.NoIndex, r.NoFollow, r.Unavailable}
	for _, line := range header.Values("X-Robots-Tag") {
		asked.read(line, robotsName(who.Name))
	}
	if who.At.IsZero() {
		who.At = time.Now()
	}
	if !asked.Unavailable.IsZero() && who.At.After(asked.Unavailable) {
		asked.NoIndex = true
	}
	return asked
}

// CheckRobotsName returns why pages cannot call a robot so.
func CheckRobotsName(name string) error {
	for _, c := range []byte(name) {
		if c != '-' && c != '_' && c != '.' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return fmt.Errorf("%.100q is no product token", name)
		}
	}
	if name == "" {
		return fmt.Errorf("must be the product token of the user agent")
	}
	return nil
}

// robotsName is how names are compared: without regard to case.
func robotsName(name string) string {
	if name == "" {
		return DefaultRobotsName
	}
	return strings.ToLower(name)
}

// Directives is what is asked of a robot.
type Directives struct {
	NoIndex     bool      // not to index the document
	NoFollow    bool      // to follow none of its links
	Unavailable time.Time // not to index it from then on; zero for never
}

// read adds those of a line, "noindex, otherbot: nofollow; webrace: none": what follows a name on its line is
// asked of that robot alone. Commas, semicolons and spaces part them.
func (d *Directives) read(line, robot string) {
	ours, dated := true, false
	for part := range strings.FieldsFuncSeq(strings.ToLower(line), func(r rune) bool { return r == ',' || r == ';' }) {
		part = strings.TrimSpace(part)
		if dated { // what comes before it was the day of the week
			dated = false
			part = d.until(part, ours)
		}
		for part != "" {
			word, rest, named := cutWord(part)
			switch {
			case !named && ours:
				d.NoIndex = d.NoIndex || word == "noindex" || word == "none"
				d.NoFollow = d.NoFollow || word == "nofollow" || word == "none"
			case !named:
			case word == "unavailable_after":
				if dated = isWord(rest); dated {
					rest = ""
				} else {
					rest = d.until(rest, ours)
				}
			case hasValue(word):
				_, rest, _ = cutWord(rest)
			default:
				ours = word == robot || word == "*" || word == "robots"
			}
			part = rest
		}
	}
}

// until notes the earliest of the times from which on the document is not to be indexed, and returns what follows it.
// What begins with no date means nothing.
func (d *Directives) until(text string, ours bool) (rest string) {
	const longest = 6 // words of a date
	words := strings.Fields(text)
	for n := min(len(words), longest); n > 0; n-- {
		t := parseDate(strings.Join(words[:n], " "))
		if t.IsZero() {
			continue
		}
		if ours && (d.Unavailable.IsZero() || t.Before(d.Unavailable)) {
			d.Unavailable = t
		}
		return strings.Join(words[n:], " ")
	}
	return ""
}

// cutWord cuts the first word off what people wrote, and reports whether a colon follows it.
func cutWord(s string) (word, rest string, named bool) {
	end := strings.IndexFunc(s, func(r rune) bool { return r == ':' || unicode.IsSpace(r) })
	if end < 0 {
		return s, "", false
	}
	rest = strings.TrimSpace(s[end:])
	after, named := strings.CutPrefix(rest, ":")
	return s[:end], strings.TrimSpace(after), named
}

// hasValue knows the directives that are written like the name of a robot.
func hasValue(name string) bool {
	switch name {
	case "max-snippet", "max-image-preview", "max-video-preview":
		return true
	}
	return false
}

func isWord(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return r < 'a' || r > 'z' }) < 0
}

// dateLayouts are those of RFC 822, RFC 850 and ISO 8601, which are asked for, without the day of the week.
var dateLayouts = []string{
	"2 Jan 2006 15:04:05 MST", "2 Jan 2006 15:04:05 -0700", "2 Jan 06 15:04:05 MST", "2 Jan 06 15:04:05 -0700",
	"2-Jan-2006 15:04:05 MST", "2-Jan-06 15:04:05 MST", "2 Jan 2006", "2-Jan-2006",
	time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04:05 MST", "2006-01-02 15:04:05 -0700", "2006-01-02",
}

// parseDate returns the zero time for what is no date, which asks for nothing.
func parseDate(s string) time.Time {
	const longest = 60
	if len(s) > longest {
		return time.Time{}
	}
	s = strings.ToUpper(strings.Join(strings.Fields(s), " ")) // names of months are known in any case, those of zones are not
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
