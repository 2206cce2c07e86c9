package portal

import (
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/internal/timezone"
	"github.com/webrace/webrace/storage/control"
)

// ownFormat is what is chosen for a body of one's own, where presets can be chosen.
const ownFormat = "own"

// settingsFields are the fields of the form by those of settings that are not called the same.
var settingsFields = map[string]string{
	"filter.labels": "labels", "filter.relevance": "relevance", "filter.urgency": "urgency", "hold_s": "hold",
	"digest.times": "digest_times", "digest.days": "digest_days", "quiet.from": "quiet_from", "quiet.to": "quiet_to", "quiet.days": "quiet_days",
	"webhook.preset": "format", "webhook.body": "body", "webhook.method": "method", "webhook.media_type": "media_type",
}

// holdUnits are the units of time of the form, the greatest first, in seconds.
var holdUnits = []struct {
	name    string
	seconds int
}{{"hours", 3600}, {"minutes", 60}, {"seconds", 1}}

// settingsForm writes settings as the fields of the form have them: read again by readSettings they are the same, but
// for the order of days, a day of the week that is there twice, and POST where it is said, which it is anyway.
func settingsForm(s channel.Settings) url.Values {
	f := make(url.Values)
	set := func(name, value string) { f[name] = []string{value} }
	set("labels", strings.Join(s.Filter.Labels, "\n"))
	set("relevance", numberText(s.Filter.Relevance))
	set("urgency", strconv.Itoa(s.Filter.Urgency))
	for _, unit := range holdUnits {
		if s.Hold%unit.seconds == 0 && s.Hold > 0 || unit.seconds == 1 {
			set("hold", numberText(s.Hold/unit.seconds))
			set("hold_unit", unit.name)
			break
		}
	}
	set("digest_times", strings.Join(s.Digest.Times, " "))
	f["digest_days"] = s.Digest.Days
	set("quiet_from", s.Quiet.From)
	set("quiet_to", s.Quiet.To)
	f["quiet_days"] = s.Quiet.Days
	if s.Quiet.Urgent {
		set("quiet_urgent", "1")
	}
	set("zone", s.Zone)
	if !s.MuteUntil.IsZero() {
		set("mute_was", s.MuteUntil.Format(time.RFC3339Nano))
		set("mute_until", s.MuteUntil.In(zoneOf(s.Zone)).Format(localMinute))
	}
	set("format", s.Webhook.Preset)
	if s.Webhook.Body != "" {
		set("format", ownFormat)
	}
	set("body", s.Webhook.Body)
	set("method", s.Webhook.Method)
	set("media_type", s.Webhook.MediaType)
	return f
}

// localMinute is how a field of a form has a time by the clock on the wall.
const localMinute = "2006-01-02T15:04"

// numberText writes a number, of which 0 is the same as none.
func numberText(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func zoneOf(name string) *time.Location {
	if zone, err := timezone.Load(name); err == nil && name != "" {
		return zone
	}
	return time.UTC
}

// readSettings reads what a form says of a channel of a kind, and reports what is wrong with its fields.
func readSettings(f *form, kind control.ChannelKind) channel.Settings {
	var s channel.Settings
	for label := range strings.Lines(strings.ReplaceAll(f.Value("labels"), "\r", "\n")) {
		if label = strings.TrimSpace(label); label != "" {
			s.Filter.Labels = append(s.Filter.Labels, label)
		}
	}
	s.Filter.Relevance, s.Filter.Urgency = f.number("relevance"), f.number("urgency")
	if kind != control.ChannelFeed {
		readTimes(f, &s)
	}
	if kind == control.ChannelWebhook {
		s.Webhook = readWebhook(f)
	}
	f.refuseFields(s.Check())
	return s
}

// readTimes reads when what passes is sent.
func readTimes(f *form, s *channel.Settings) {
	for _, unit := range holdUnits {
		if f.Value("hold_unit") == unit.name {
			s.Hold = min(f.number("hold"), math.MaxInt32) * unit.seconds
		}
	}
	if times := strings.FieldsFunc(f.Value("digest_times"), func(r rune) bool { return r == ',' || r == ';' || r <= ' ' }); len(times) > 0 {
		s.Digest.Times = times
	}
	s.Digest.Days, s.Quiet.Days = daysIn(f.Values("digest_days")), daysIn(f.Values("quiet_days"))
	s.Quiet.From, s.Quiet.To, s.Quiet.Urgent = f.line("quiet_from"), f.line("quiet_to"), f.Is("quiet_urgent", "1")
	s.Zone = f.line("zone")
	s.MuteUntil = readMute(f, zoneOf(s.Zone))
}

// daysIn returns those that were ticked, nil for none; of a day that is there twice one.
func daysIn(ticked []string) (days []string) {
	have := make(map[string]bool)
	for _, day := range ticked {
		if !have[day] {
			days = append(days, day)
		}
		have[day] = true
	}
	return days
}

// readMute reads until when a channel is muted. What is shown to the minute is what it was, if it was not changed.
func readMute(f *form, zone *time.Location) time.Time {
	typed := strings.Replace(f.line("mute_until"), " ", "T", 1)
	if typed == "" {
		return time.Time{}
	}
	if was, err := time.Parse(time.RFC3339Nano, f.Value("mute_was")); err == nil && was.In(zone).Format(localMinute) == typed {
		return was.UTC()
	}
	for _, layout := range []string{localMinute, "2006-01-02T15:04:05", "2006-01-02"} {
		if t, err := time.Parse(layout, typed); err == nil {
			return timezone.Instant(t, zone).UTC()
		}
	}
	f.wrong("mute_until", "channel.wrong_time")
	return time.Time{}
}

func readWebhook(f *form) (w channel.Webhook) {
	w.Preset = f.Value("format")
	if w.Preset != ownFormat {
		return w
	}
	w.Preset = ""
	w.Body = strings.ReplaceAll(strings.ReplaceAll(f.Value("body"), "\r\n", "\n"), "\r", "\n") // browsers send line ends as \r\n
	if w.Body == "" {
		f.wrong("body", "channel.no_body")
		return w
	}
	if w.Method = f.Value("method"); w.Method == http.MethodPost {
		w.Method = "" // which is the same
	}
	w.MediaType = f.line("media_type")
	return w
}

// number reads a whole number; none is 0.
func (f *form) number(name string) int {
	typed := f.line(name)
	if typed == "" {
		return 0
	}
	n, err := strconv.Atoi(typed)
	if err != nil || n > math.MaxInt32 || n < math.MinInt32 {
		f.wrong(name, "channel.wrong_number")
		return 0
	}
	return n
}

// refuseFields reports at the fields of settings what is wrong with them, and what was probably meant.
func (f *form) refuseFields(err error) {
	var wrong channel.Errors
	if !errors.As(err, &wrong) {
		return
	}
	for _, w := range wrong {
		name := settingsFields[w.Field]
		if name == "" {
			name = w.Field
		}
		said := w.Message
		if w.Meant != "" {
			said += text("channel.meant", w.Meant)
		}
		f.wrongText(name, said)
	}
}
