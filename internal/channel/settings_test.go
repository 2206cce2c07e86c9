package channel

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

const fullSettings = `{
	"filter": {"labels": ["weather", "sea"], "relevance": 50, "urgency": 2},
	"hold_s": 60,
	"digest": {"times": ["08:00", "18:30"], "days": ["mon", "fri"]},
	"quiet": {"from": "22:00", "to": "07:00", "days": ["sat", "sun"], "urgent": true},
	"mute_until": "2026-12-24T10:00:00+02:00",
	"zone": "Europe/Nicosia",
	"webhook": {"body": "{\"text\": {{json .Subject}}}", "method": "PUT", "media_type": "application/json; charset=utf-8"}
}`

func TestSettingsAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	want := Settings{
		Filter:    Filter{Labels: []string{"weather", "sea"}, Relevance: 50, Urgency: 2},
		Hold:      60,
		Digest:    Digest{Times: []string{"08:00", "18:30"}, Days: []string{"mon", "fri"}},
		Quiet:     QuietHours{From: "22:00", To: "07:00", Days: []string{"sat", "sun"}, Urgent: true},
		MuteUntil: time.Date(2026, 12, 24, 8, 0, 0, 0, time.UTC),
		Zone:      "Europe/Nicosia",
		Webhook:   Webhook{Body: `{"text": {{json .Subject}}}`, Method: "PUT", MediaType: "application/json; charset=utf-8"},
	}
	got, err := Parse([]byte(fullSettings))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	isWritten(t, got)
	for _, text := range []string{"{}", `{"filter":{"labels":[]},"digest":{},"mute_until":"0001-01-01T00:00:00Z"}`} {
		if got, err := Parse([]byte(text)); err != nil || !reflect.DeepEqual(got, Settings{}) {
			t.Errorf("%s: %+v, %v, want the zero value", text, got, err)
		}
	}
	if text, err := json.Marshal(Settings{}); string(text) != "{}" {
		t.Errorf("the zero value is %s, %v", text, err)
	}
}

// isWritten holds that what is written of settings is read as the same.
func isWritten(t *testing.T, s Settings) {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Parse(text); err != nil || !reflect.DeepEqual(again, s) {
		t.Fatalf("%s is read as %+v, %v, want %+v", text, again, err, s)
	}
}

func TestWhatIsWrongWithAFieldIsSaidOfIt(t *testing.T) {
	t.Parallel()
	many := `["` + strings.Repeat(`a","`, maxLabels) + `a"]`
	for text, want := range map[string]string{
		`{"hold":60}`:                         `hold: is no field of the settings (did you mean hold_s?)`,
		`{"quiet":{"form":"22:00"}}`:          `form: is no field of the settings (did you mean from?)`,
		`{"filter":{"labels":"weather"}}`:     `filter.labels: is a string, and has to be a list of texts`,
		`{"filter":{"labels":[1]}}`:           `filter.labels: is a number, and has to be a text`,
		`{"filter":50}`:                       `filter: is a number, and has to be an object`,
		`{"filter":{"relevance":1.5}}`:        `filter.relevance: is a number 1.5, and has to be a whole number`,
		`{"quiet":{"urgent":"yes"}}`:          `quiet.urgent: is a string, and has to be true or false`,
		`{"mute_until":"tomorrow"}`:           `mute_until: is no time: a text as 2026-11-30T08:00:00Z is wanted`,
		`{"mute_until":5}`:                    `mute_until: is no time: a text as 2026-11-30T08:00:00Z is wanted`,
		`{"filter":{"labels":` + many + `}}`:  `filter.labels: 51 are more than 50`,
		`{"filter":{"labels":["a\nb"]}}`:      `filter.labels: "a\nb" is no label: one line of text is wanted, with single spaces (did you mean a b?)`,
		`{"filter":{"labels":[""]}}`:          `filter.labels: "" is no label: one line of text is wanted, with single spaces`,
		`{"filter":{"relevance":101}}`:        `filter.relevance: 101 is not a number from 0 to 100`,
		`{"filter":{"urgency":4}}`:            `filter.urgency: 4 is none of 1, 2 and 3, nor 0 for any`,
		`{"hold_s":-1}`:                       `hold_s: -1 is not a number of seconds from 0 to 86400, which is a day; a digest collects more than that`,
		`{"hold_s":86401}`:                    `hold_s: 86401 is not a number of seconds from 0 to 86400, which is a day; a digest collects more than that`,
		`{"digest":{"times":["8:00"]}}`:       `digest.times: "8:00" is no time of day: 00:00 to 23:59 is wanted, of two digits each (did you mean 08:00?)`,
		`{"digest":{"times":["6 PM"]}}`:       `digest.times: "6 PM" is no time of day: 00:00 to 23:59 is wanted, of two digits each (did you mean 18:00?)`,
		`{"digest":{"days":["mon"]}}`:         `digest.times: a digest on some days needs a time, as 08:00`,
		`{"quiet":{"from":"24:00","to":"1"}}`: `quiet.from: "24:00" is no time of day: 00:00 to 23:59 is wanted, of two digits each (did you mean 00:00?); quiet.to: "1" is no time of day: 00:00 to 23:59 is wanted, of two digits each (did you mean 01:00?)`,
		`{"quiet":{"from":"22:00"}}`:          `quiet.to: quiet hours that begin need an end, as 07:00`,
		`{"quiet":{"to":"07:00"}}`:            `quiet.from: quiet hours that end need a beginning, as 22:00`,
		`{"quiet":{"days":["mon"]}}`:          `quiet.from: quiet hours on some days need a beginning and an end, as 22:00 and 07:00`,
		`{"quiet":{"from":"22:00","to":"07:00","days":["Monday","mon","mon","someday"]}}`: `quiet.days: "Monday" is no day of the week: sun, mon, tue, wed, thu, fri or sat is wanted (did you mean mon?); ` +
			`quiet.days: mon is there twice; quiet.days: "someday" is no day of the week: sun, mon, tue, wed, thu, fri or sat is wanted`,
		`{"digest":{"times":["00:00","01:00","02:00","03:00","04:00","05:00","06:00"]}}`: `digest.times: 7 are more than 6`,
		`{"mute_until":"9999-12-31T23:59:59-12:00"}`:                                     `mute_until: the year 10000 is not from 1970 to 9998`,
		`{"zone":"nicosia"}`:                                      `zone: "nicosia" is no time zone of the IANA database, as Europe/Athens is (did you mean Asia/Nicosia?)`,
		`{"zone":"Local"}`:                                        `zone: "Local" is no time zone of the IANA database, as Europe/Athens is`,
		`{"webhook":{"preset":"slak"}}`:                           `webhook.preset: "slak" is none: there are slack, ntfy and discord (did you mean slack?)`,
		`{"webhook":{"preset":"slack","body":"x"}}`:               `webhook.body: there is the body of preset "slack" already: leave one of them out`,
		`{"webhook":{"method":"PUT","media_type":"a/b"}}`:         `webhook.method: is for a body of one's own: leave it out, or write webhook.body; webhook.media_type: is for a body of one's own: leave it out, or write webhook.body`,
		`{"webhook":{"body":"x","method":"get"}}`:                 `webhook.method: "get" is not POST, PUT or PATCH (did you mean PUT?)`,
		`{"webhook":{"body":"x","media_type":"text"}}`:            `webhook.media_type: "text" is no media type, as application/json is`,
		`{"webhook":{"body":"x","media_type":"a/b\r\nX: y"}}`:     `webhook.media_type: "a/b\r\nX: y" is no media type, as application/json is`,
		`{"webhook":{"body":"a\n{{range 9}}x{{end}}"}}`:           `webhook.body: line 2: {{range 9}} is not allowed: ` + allowedOnly,
		`{"filter":{"relevance":-1},"zone":"X","hold_s":9999999}`: `filter.relevance: -1 is not a number from 0 to 100; hold_s: 9999999 is not a number of seconds from 0 to 86400, which is a day; a digest collects more than that; zone: "X" is no time zone of the IANA database, as Europe/Athens is`,
	} {
		_, err := Parse([]byte(text))
		var wrong Errors
		if !errors.As(err, &wrong) || len(wrong) == 0 || err.Error() != want {
			t.Errorf("%.80s: %v\nwant %s", text, err, want)
		}
	}
}

func TestWhatIsNoObjectIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":      "the settings are empty",
		"{} {}": "there is more behind the settings",
		"{}x":   "there is more behind the settings",
		"{":     "read the settings: unexpected EOF",
		"[]":    "read the settings: ",
		"5":     "read the settings: ",
	} {
		s, err := Parse([]byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), want) || !reflect.DeepEqual(s, Settings{}) {
			t.Errorf("%q: %+v, %v, want %s", text, s, err, want)
		}
	}
}

func TestWhatIsRefusedForItsValuesIsReturnedAllTheSame(t *testing.T) {
	t.Parallel()
	s, err := Parse([]byte(`{"hold_s":60,"zone":"nicosia"}`))
	if err == nil || s.Zone != "nicosia" || s.Hold != 60 {
		t.Errorf("%+v, %v", s, err)
	}
}

// FuzzParse holds that what is read can be written, and is the same when it is read again; and that what is refused
// is said of a field, or of the whole.
func FuzzParse(f *testing.F) {
	f.Add([]byte(fullSettings))
	f.Add([]byte(`{"filter":{"labels":[]},"mute_until":"0000-01-01T00:00:00+12:00"}`))
	f.Add([]byte(`{"HOLD_S":60,"quiet":null,"zone":"UTC","webhook":{"preset":"ntfy"}}`))
	f.Add([]byte(`{"mute_until":"9998-12-31T23:59:59.999999999-23:59"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse(text)
		var wrong Errors
		switch {
		case err == nil:
			isWritten(t, s)
		case errors.As(err, &wrong):
			for _, one := range wrong {
				if one.Field == "" && !strings.Contains(string(text), `"":`) || one.Message == "" {
					t.Errorf("%s: %+v", text, wrong)
				}
			}
		}
	})
}

func TestAFilterPassesWhatHasOneOfItsLabelsAndItsLeast(t *testing.T) {
	t.Parallel()
	all, picky := Settings{}, Settings{Filter: Filter{Labels: []string{"sea", "wind"}, Relevance: 50, Urgency: 2}}
	for _, c := range []struct {
		entry Entry
		picky bool
	}{
		{Entry{}, false},
		{Entry{Labels: []string{"wind"}, Relevance: 50, Urgency: 2}, true},
		{Entry{Labels: []string{"land", "sea"}, Relevance: 100, Urgency: 3}, true},
		{Entry{Labels: []string{"Wind"}, Relevance: 50, Urgency: 2}, false},
		{Entry{Relevance: 50, Urgency: 2}, false},
		{Entry{Labels: []string{"wind"}, Relevance: 49, Urgency: 2}, false},
		{Entry{Labels: []string{"wind"}, Relevance: 50, Urgency: 1}, false},
		{Entry{Labels: []string{"wind"}, Notice: true, Urgency: 2}, true},
		{Entry{Notice: true, Urgency: 2}, false},
		{Entry{Labels: []string{"wind"}, Notice: true, Urgency: 1}, false},
	} {
		if !all.Passes(c.entry) {
			t.Errorf("%+v does not pass where there is no filter", c.entry)
		}
		if got := picky.Passes(c.entry); got != c.picky {
			t.Errorf("%+v passes: %v, want %v", c.entry, got, c.picky)
		}
	}
}
