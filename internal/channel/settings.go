package channel

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/suggest"
)

// Settings are what the owner of a channel has set it to. The zero value has everything sent at once.
type Settings struct {
	Filter    Filter     `json:"filter,omitzero"`
	Hold      int        `json:"hold_s,omitempty"` // seconds that an entry waits, so that a burst of them becomes one message
	Digest    Digest     `json:"digest,omitzero"`
	Quiet     QuietHours `json:"quiet,omitzero"`
	MuteUntil time.Time  `json:"mute_until,omitzero"` // nothing is sent before; zero: not muted
	Zone      string     `json:"zone,omitempty"`      // the IANA name of the time zone that all times of day are of; empty: UTC
	Webhook   Webhook    `json:"webhook,omitzero"`    // of channels that are one
}

// Filter is what of all that its owner is told comes on a channel.
type Filter struct {
	Labels    []string `json:"labels,omitempty"`    // any of them is enough; none: all pass
	Relevance int      `json:"relevance,omitempty"` // the least, 0 to 100
	Urgency   int      `json:"urgency,omitempty"`   // the least, 1 to 3; 0: any
}

// Digest is when what has come is sent in one message. The zero value sends as it comes.
type Digest struct {
	Times []string `json:"times,omitempty"` // of day, as 08:00; none: no digest
	Days  []string `json:"days,omitempty"`  // of the week, as mon; none: all
}

// QuietHours are when nothing is sent, by the clock on the wall. Hours that end before they begin go over midnight.
type QuietHours struct {
	From   string   `json:"from,omitempty"`   // a time of day, as 22:00
	To     string   `json:"to,omitempty"`     // the first that is not quiet any more; the same as From: none are quiet
	Days   []string `json:"days,omitempty"`   // of the week, on which quiet hours begin; none: all
	Urgent bool     `json:"urgent,omitempty"` // what has urgency 3 is sent all the same
}

// Webhook is what the requests of a webhook hold. The zero value has the JSON of a [Message], which its sender signs.
type Webhook struct {
	Preset    string `json:"preset,omitempty"`     // one of [Presets]
	Body      string `json:"body,omitempty"`       // in place of a preset: a template of the body, see [ParseTemplate]
	Method    string `json:"method,omitempty"`     // of a request with such a body: POST, PUT or PATCH; empty: POST
	MediaType string `json:"media_type,omitempty"` // of such a body; empty: application/json
}

// Parse reads settings that were written as JSON. It refuses fields that there are not, and all that [Settings.Check]
// refuses. The error is an [Errors] if it is for the values of fields; the settings have these values then, so that a
// form can show them beside what is wrong.
func Parse(text []byte) (Settings, error) {
	var s Settings
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return Settings{}, readable(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Settings{}, errors.New("there is more behind the settings: one JSON object is wanted")
	}
	s.MuteUntil = s.MuteUntil.UTC()
	for _, list := range []*[]string{&s.Filter.Labels, &s.Digest.Times, &s.Digest.Days, &s.Quiet.Days} {
		if len(*list) == 0 {
			*list = nil
		}
	}
	return s, s.Check()
}

// readable is an error of the JSON library in the words of who wrote the settings.
func readable(err error) error {
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) && wrong.Field != "" {
		return Errors{{Field: wrong.Field, Message: fmt.Sprintf("is a %s, and has to be %s", wrong.Value, kindName(wrong.Type))}}
	}
	if wrong := (*time.ParseError)(nil); errors.As(err, &wrong) || strings.HasPrefix(err.Error(), "Time.UnmarshalJSON") {
		return Errors{{Field: "mute_until", Message: "is no time: a text as 2026-11-30T08:00:00Z is wanted"}}
	}
	if quoted, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		name, _ := strconv.Unquote(quoted)
		return Errors{{Field: name, Message: "is no field of the settings", Meant: suggest.Nearest(name, fieldNames(reflect.TypeFor[Settings]()))}}
	}
	if errors.Is(err, io.EOF) {
		return errors.New("the settings are empty: {} has everything sent at once")
	}
	return fmt.Errorf("read the settings: %w", err)
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int:
		return "a whole number"
	case reflect.String:
		return "a text"
	case reflect.Slice:
		return "a list of texts"
	case reflect.Bool:
		return "true or false"
	}
	return "an object"
}

// fieldNames are the names in JSON of all fields of a struct, and of those in it.
func fieldNames(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
			if f.Type.Kind() == reflect.Struct {
				names = append(names, fieldNames(f.Type)...)
			}
		}
	}
	return names
}
