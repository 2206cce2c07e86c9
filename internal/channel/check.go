package channel

import (
	"fmt"
	"mime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/internal/timezone"
)

// The most of what settings may hold.
const (
	maxLabels      = 50
	maxLabelLength = 100 // characters
	maxHold        = 24 * 60 * 60
	maxDigestTimes = 6
	maxMediaType   = 200 // bytes
)

// FieldError tells what is wrong with one field of settings.
type FieldError struct {
	Field   string // its name, as it is called in JSON, behind those of the objects that it is in: quiet.from
	Message string // what is wrong with it, and what is wanted
	Meant   string // the value that was probably meant; of a field that there is not, the name; empty for none
}

// Error gives all of it.
func (e FieldError) Error() string { return e.Field + ": " + e.Message + suggest.DidYouMean(e.Meant) }

// Errors are what is wrong with settings, a field each. It is never empty.
type Errors []FieldError

// Error gives them all, in a line.
func (e Errors) Error() string {
	all := make([]string, len(e))
	for i, one := range e {
		all[i] = one.Error()
	}
	return strings.Join(all, "; ")
}

func (e *Errors) add(field, meant, format string, args ...any) {
	*e = append(*e, FieldError{Field: field, Message: fmt.Sprintf(format, args...), Meant: meant})
}

// Check returns nil, or the [Errors] of all fields that hold what they cannot.
func (s Settings) Check() error {
	var wrong Errors
	s.Filter.check(&wrong)
	if s.Hold < 0 || s.Hold > maxHold {
		wrong.add("hold_s", "", "%d is not a number of seconds from 0 to %d, which is a day; a digest collects more than that", s.Hold, maxHold)
	}
	s.Digest.check(&wrong)
	s.Quiet.check(&wrong)
	if year := s.MuteUntil.Year(); !s.MuteUntil.IsZero() && (year < 1970 || year > 9998) { // nor can others be written as JSON
		wrong.add("mute_until", "", "the year %d is not from 1970 to 9998", year)
	}
	if s.Zone != "" {
		if _, err := timezone.Load(s.Zone); err != nil {
			wrong.add("zone", timezone.Nearest(s.Zone), "%v", err)
		}
	}
	s.Webhook.check(&wrong)
	if wrong == nil {
		return nil
	}
	return wrong
}

func (f Filter) check(wrong *Errors) {
	if len(f.Labels) > maxLabels {
		wrong.add("filter.labels", "", "%d are more than %d", len(f.Labels), maxLabels)
	}
	for _, label := range f.Labels {
		switch {
		case label == "" || label != line(label):
			wrong.add("filter.labels", line(label), "%.100q is no label: one line of text is wanted, with single spaces", label)
		case utf8.RuneCountInString(label) > maxLabelLength:
			wrong.add("filter.labels", "", "%.100q… is longer than %d characters", label, maxLabelLength)
		}
	}
	if f.Relevance < 0 || f.Relevance > 100 {
		wrong.add("filter.relevance", "", "%d is not a number from 0 to 100", f.Relevance)
	}
	if f.Urgency < 0 || f.Urgency > 3 {
		wrong.add("filter.urgency", "", "%d is none of 1, 2 and 3, nor 0 for any", f.Urgency)
	}
}

func (d Digest) check(wrong *Errors) {
	if len(d.Times) > maxDigestTimes {
		wrong.add("digest.times", "", "%d are more than %d", len(d.Times), maxDigestTimes)
	}
	for _, text := range d.Times {
		checkTimeOfDay(wrong, "digest.times", text)
	}
	if len(d.Times) == 0 && len(d.Days) > 0 {
		wrong.add("digest.times", "", "a digest on some days needs a time, as 08:00")
	}
	checkDays(wrong, "digest.days", d.Days)
}

func (q QuietHours) check(wrong *Errors) {
	switch {
	case q.From == "" && q.To == "":
		if len(q.Days) > 0 {
			wrong.add("quiet.from", "", "quiet hours on some days need a beginning and an end, as 22:00 and 07:00")
		}
	case q.From == "":
		wrong.add("quiet.from", "", "quiet hours that end need a beginning, as 22:00")
	case q.To == "":
		wrong.add("quiet.to", "", "quiet hours that begin need an end, as 07:00")
	}
	if q.From != "" {
		checkTimeOfDay(wrong, "quiet.from", q.From)
	}
	if q.To != "" {
		checkTimeOfDay(wrong, "quiet.to", q.To)
	}
	checkDays(wrong, "quiet.days", q.Days)
}

func checkTimeOfDay(wrong *Errors, field, text string) {
	if _, ok := minuteOfDay(text); ok {
		return
	}
	meant := ""
	for _, layout := range []string{"15:04", "15.04", "15:04:05", "3pm", "3 pm", "3:04pm", "3:04 pm", "15"} {
		if t, err := time.Parse(layout, strings.ToLower(strings.TrimSpace(text))); err == nil {
			meant = t.Format("15:04")
			break
		}
	}
	if strings.TrimSpace(text) == "24:00" {
		meant = "00:00"
	}
	wrong.add(field, meant, "%.20q is no time of day: 00:00 to 23:59 is wanted, of two digits each", text)
}

// minuteOfDay returns the minute of the day that a time of day names, such as 480 for 08:00.
func minuteOfDay(text string) (minute int, ok bool) {
	t, err := time.Parse("15:04", text)
	return t.Hour()*60 + t.Minute(), err == nil && len(text) == len("15:04")
}

// weekdays are the names of days, at their [time.Weekday].
var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

func checkDays(wrong *Errors, field string, days []string) {
	for i, day := range days {
		switch {
		case !slices.Contains(weekdays, day):
			meant := strings.ToLower(strings.TrimSpace(day))
			if meant = meant[:min(3, len(meant))]; !slices.Contains(weekdays, meant) {
				meant = ""
			}
			wrong.add(field, meant, "%.20q is no day of the week: %s is wanted", day, suggest.Or(weekdays))
		case slices.Contains(days[:i], day):
			wrong.add(field, "", "%s is there twice", day)
		}
	}
}

func (w Webhook) check(wrong *Errors) {
	if w.Preset != "" && !slices.Contains(Presets(), w.Preset) {
		wrong.add("webhook.preset", suggest.Nearest(w.Preset, Presets()), "%.40q is none: there are %s", w.Preset, suggest.And(Presets()))
	}
	if w.Body == "" {
		if w.Method != "" {
			wrong.add("webhook.method", "", "is for a body of one's own: leave it out, or write webhook.body")
		}
		if w.MediaType != "" {
			wrong.add("webhook.media_type", "", "is for a body of one's own: leave it out, or write webhook.body")
		}
		return
	}
	if w.Preset != "" {
		wrong.add("webhook.body", "", "there is the body of preset %.40q already: leave one of them out", w.Preset)
	}
	if _, err := ParseTemplate(w.Body); err != nil {
		wrong.add("webhook.body", "", "%v", err)
	}
	if methods := []string{"POST", "PUT", "PATCH"}; w.Method != "" && !slices.Contains(methods, w.Method) {
		wrong.add("webhook.method", suggest.Nearest(strings.ToUpper(w.Method), methods), "%.20q is not %s", w.Method, suggest.Or(methods))
	}
	if w.MediaType != "" && !isMediaType(w.MediaType) {
		wrong.add("webhook.media_type", "", "%.100q is no media type, as application/json is", w.MediaType)
	}
}

// isMediaType reports whether a text is a media type, perhaps with parameters, that a header field may hold.
func isMediaType(text string) bool {
	for _, r := range text {
		if r < ' ' || r > '~' {
			return false
		}
	}
	mediaType, _, err := mime.ParseMediaType(text)
	return err == nil && strings.Contains(mediaType, "/") && len(text) <= maxMediaType
}
