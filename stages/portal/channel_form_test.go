package portal

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/storage/control"
)

// usual are settings as the form gives them: their days in the order of the week, each once, and nothing said that is
// so anyway.
func usual(s channel.Settings) channel.Settings {
	for _, days := range []*[]string{&s.Digest.Days, &s.Quiet.Days} {
		var ordered []string
		for _, day := range weekdays {
			if slices.Contains(*days, day) {
				ordered = append(ordered, day)
			}
		}
		*days = ordered
	}
	if s.Webhook.Method == "POST" {
		s.Webhook.Method = ""
	}
	s.Webhook.Body = strings.ReplaceAll(strings.ReplaceAll(s.Webhook.Body, "\r\n", "\n"), "\r", "\n")
	return s
}

// FuzzSettingsForm holds that settings which are shown in the form and sent back unchanged are the same settings, with
// nothing wrong with them.
func FuzzSettingsForm(f *testing.F) {
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"filter":{"labels":["sea, sand","b"],"relevance":70,"urgency":3},"hold_s":5400,"digest":{"times":["08:00","18:30"],"days":["tue","mon"]},` +
		`"quiet":{"from":"22:00","to":"07:00","days":["sun"],"urgent":true},"mute_until":"2026-11-30T08:00:12.5Z","zone":"Europe/Athens","webhook":{"body":"a\nb{{.Subject}}","method":"PUT","media_type":"text/plain"}}`))
	f.Add([]byte(`{"hold_s":61,"webhook":{"preset":"ntfy"},"mute_until":"2026-10-25T00:30:00Z","zone":"Europe/Berlin"}`))
	f.Add([]byte(`{"hold_s":120,"filter":{"urgency":1},"webhook":{"body":"\r{{.Text}}\n","method":"POST"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		want, err := channel.Parse(text)
		if err != nil {
			return
		}
		if want = usual(want); want.Check() != nil {
			return // a template may end in the middle of a line end
		}
		shown := settingsForm(want)
		for _, days := range []string{"digest_days", "quiet_days"} {
			slices.SortFunc(shown[days], func(a, b string) int { return slices.Index(weekdays, a) - slices.Index(weekdays, b) })
		}
		for _, lines := range []string{"labels", "body"} {
			shown.Set(lines, strings.ReplaceAll(shown.Get(lines), "\n", "\r\n")) // as browsers do
		}
		form := newForm(shown)
		got := readSettings(form, control.ChannelWebhook)
		a, _ := json.Marshal(want)
		b, _ := json.Marshal(got)
		if string(a) != string(b) || !form.ok() {
			t.Errorf("%s became %s: %v", a, b, form.Wrong)
		}
	})
}

// Whatever is sent instead of a form is read, with words on each field that is wrong, or as settings that are right.
func FuzzReadSettings(f *testing.F) {
	f.Add("70", "1", "hours", "8:00", "25:00", "Europe/Athen", "tomorrow", "own", "{{.X}}", "GET", "sea")
	f.Add("-1", "99999999999", "", "", "", "", "2026-11-30", "slack", "x", "", "\x00")
	f.Fuzz(func(t *testing.T, relevance, hold, unit, times, from, zone, mute, format, body, method, labels string) {
		form := newForm(map[string][]string{
			"relevance": {relevance}, "hold": {hold}, "hold_unit": {unit}, "digest_times": {times}, "quiet_from": {from}, "zone": {zone}, "mute_until": {mute},
			"format": {format}, "body": {body}, "method": {method}, "labels": {labels}, "digest_days": {from, from},
		})
		for _, kind := range []control.ChannelKind{control.ChannelMail, control.ChannelWebhook, control.ChannelFeed} {
			s := readSettings(form, kind)
			if form.ok() == (s.Check() != nil) && s.Check() != nil {
				t.Errorf("%+v is taken", s)
			}
		}
	})
}

// What is wrong with a field is said of it, with what was meant.
func TestWrongSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ field, value, says string }{
		{"relevance", "many", "no whole number"}, {"relevance", "101", "0 to 100"}, {"hold", "-1", "0 to 86400"}, {"digest_times", "08:00 6pm", "Did you mean 18:00?"},
		{"quiet_from", "22:00", "need an end"}, {"digest_days", "monday", "Did you mean mon?"}, {"zone", "Europe/Athen", "Did you mean Europe/Athens?"},
		{"mute_until", "tomorrow", "no date and time"}, {"format", "slak", "Did you mean slack?"}, {"urgency", "4", "none of 1, 2 and 3"},
	} {
		values := settingsForm(channel.Settings{})
		values.Set("hold_unit", "seconds")
		values.Set(c.field, c.value)
		f := newForm(values)
		readSettings(f, control.ChannelWebhook)
		found := ""
		for name, said := range f.Wrong {
			found += name + ": " + said + "; "
		}
		if !strings.Contains(found, c.says) || f.Wrong[c.field] == "" && c.field != "quiet_from" {
			t.Errorf("%s = %q: %q", c.field, c.value, found)
		}
	}
}
