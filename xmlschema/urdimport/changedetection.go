package urdimport

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/webrace/webrace/xmlschema"
)

// interval is a time between checks. Its numbers may be missing, null, or written as text.
type interval struct{ Weeks, Days, Hours, Minutes, Seconds json.RawMessage }

func (i interval) duration() (total time.Duration) {
	for _, part := range []struct {
		n    json.RawMessage
		unit time.Duration
	}{{i.Weeks, 7 * 24 * time.Hour}, {i.Days, 24 * time.Hour}, {i.Hours, time.Hour}, {i.Minutes, time.Minute}, {i.Seconds, time.Second}} {
		var n int64
		if json.Unmarshal([]byte(strings.Trim(string(part.n), `"`)), &n) == nil && n > 0 && n < 1e6 {
			total += time.Duration(n) * part.unit
		}
	}
	return total
}

// backup is url-watches.json of changedetection.io: its watches by id, and its settings.
type backup struct {
	Watching map[string]json.RawMessage `json:"watching"`
	Settings struct {
		Requests    schedule `json:"requests"`
		Application struct {
			Timezone string          `json:"timezone"`
			Default  string          `json:"scheduler_timezone_default"`
			Tags     json.RawMessage `json:"tags"`
		} `json:"application"`
	} `json:"settings"`
}

// schedule is how often, and when, a watch is looked at.
type schedule struct {
	Between interval `json:"time_between_check"`
	Windows windows  `json:"time_schedule_limit"`
}

// watch is what a URD can hold of a watch.
type watch struct {
	URL        string   `json:"url"`
	Paused     bool     `json:"paused"`
	UseDefault *bool    `json:"time_between_check_use_default"`
	Trigger    []string `json:"trigger_text"`
	Added      *bool    `json:"filter_text_added"`
	Processor  string   `json:"processor"`
	Backend    string   `json:"fetch_backend"`
	schedule
	parts
	asked
	marked
}

// unmapped are the fields that a URD has no counterpart for, where they are set to something.
var unmapped = []string{
	"browser_steps", "conditions", "notification_body", "notification_title", "notification_urls", "proxy", "text_should_not_be_present",
	"webdriver_js_execute_code",
}

// changeDetection reads a backup's url-watches.json, the watches in it alone, or one watch.
func (r *reader) changeDetection(content []byte) error {
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	var all map[string]json.RawMessage
	if err := json.Unmarshal(content, &all); err != nil {
		return placed(content, err)
	}
	var b backup
	prefix := ""
	switch {
	case all["watching"] != nil:
		if err := json.Unmarshal(content, &b); err != nil {
			return placed(content, err)
		}
		prefix = "watching."
	case all["url"] != nil:
		b.Watching = map[string]json.RawMessage{"watch": content}
	default:
		b.Watching = all
	}
	tags := tagsOf(b.Settings.Application.Tags)
	otherwise := b.Settings.Requests
	otherwise.Windows.Timezone = cmp.Or(otherwise.Windows.Timezone, b.Settings.Application.Default, b.Settings.Application.Timezone)
	for _, id := range slices.Sorted(maps.Keys(b.Watching)) {
		if err := r.watch(b.Watching[id], otherwise, tags, Entry{Path: prefix + name(id)}); err != nil {
			return err
		}
	}
	return nil
}

// name is an id in a path, in quotes unless it is an ordinary one.
func name(id string) string {
	ordinary := func(r rune) bool {
		return r == '-' || r == '_' || r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r))
	}
	if id == "" || len(id) > 80 || strings.ContainsFunc(id, func(r rune) bool { return !ordinary(r) }) {
		return fmt.Sprintf("%.80q", id)
	}
	return id
}

// placed adds to an error of a JSON document where it is.
func placed(content []byte, err error) error {
	offset := int64(-1)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
		err = fmt.Errorf("this is no url-watches.json of changedetection.io: %s is a JSON %s, which it is not there", cmp.Or(kind.Field, "the document"), kind.Value)
	}
	if offset < 0 {
		return err
	}
	before := content[:min(max(offset-1, 0), int64(len(content)))]
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Errorf("%d:%d: %w", bytes.Count(before, []byte("\n"))+1, column, err)
}

func (r *reader) watch(raw json.RawMessage, otherwise schedule, tags map[string]string, e Entry) error {
	var w watch
	var fields map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(raw, &w), json.Unmarshal(raw, &fields)); err != nil || w.URL == "" {
		message := "this is no watch: it has no url"
		if err != nil {
			message = "this is no watch: a field has a value of another type"
		}
		e.URI = w.URL
		e.Problems = xmlschema.Problems{r.problem(e, xmlschema.Fault{Message: message})}
		return r.enter(e)
	}
	u := r.urd(w.URL)
	u.Paused = w.Paused
	keywords, lost := r.triggers(u, w.Trigger)
	lost = append(lost, w.mark(u, tags)...)
	lost = append(lost, w.when(u, otherwise)...)
	for _, name := range unmapped {
		if isSet(fields[name]) {
			lost = append(lost, name)
		}
	}
	lost = append(lost, w.rules(u)...)
	lost = append(lost, w.request(u)...)
	e.Lost = append(lost, w.odd()...)
	return r.add(e, u, keywords)
}

// when sets how often, or when, the source of a watch is asked.
func (w watch) when(u *xmlschema.URD, otherwise schedule) (lost []string) {
	own := w.UseDefault == nil || !*w.UseDefault
	between, open := otherwise.Between.duration(), otherwise.Windows
	if own {
		between = cmp.Or(w.Between.duration(), between)
		zone := open.Timezone
		open = w.Windows
		open.Timezone = cmp.Or(open.Timezone, zone)
	}
	if between > 0 {
		u.Timing, u.At = between, ""
	}
	if !open.Enabled || open.always() {
		return nil
	}
	line, ok := open.times(cmp.Or(u.Timing, unknownInterval))
	if !ok {
		return []string{"time_schedule_limit"}
	}
	u.Timing, u.At = 0, line
	return nil
}

// unknownInterval is how often changedetection.io looks at a page where nothing sets that.
const unknownInterval = 3 * time.Hour

// odd returns what a watch does in another way than a URD.
func (w watch) odd() (lost []string) {
	if w.Processor != "" && w.Processor != "text_json_diff" {
		lost = append(lost, "processor")
	}
	if w.Added != nil && !*w.Added {
		lost = append(lost, "filter_text_added")
	}
	if strings.Contains(w.Backend, "webdriver") || strings.Contains(w.Backend, "playwright") || strings.Contains(w.Backend, "browser") {
		lost = append(lost, "fetch_backend")
	}
	return lost
}

// triggers makes keywords of the texts that a watch waits for, of which any will do. Regular expressions,
// which are between slashes, and what no page can be matched with, are lost.
func (r *reader) triggers(u *xmlschema.URD, texts []string) (keywords []xmlschema.Keyword, lost []string) {
	for _, text := range texts {
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		k := xmlschema.Keyword{Key: text}
		if strings.HasPrefix(text, "/") || r.useless(u, k) {
			lost = append(lost, fmt.Sprintf("trigger_text %.80q", text))
			continue
		}
		keywords = append(keywords, k)
	}
	return keywords, lost
}

// useless reports whether the caller would refuse a keyword, were it the only one of a request.
func (r *reader) useless(u *xmlschema.URD, k xmlschema.Keyword) bool {
	alone := *u
	alone.Keywords = xmlschema.NewKeywords(k)
	return slices.ContainsFunc(r.check(&alone), func(f xmlschema.Fault) bool {
		return !f.Warning && strings.HasPrefix(f.About, "keywords")
	})
}

// isSet reports whether a field has a value that is not empty.
func isSet(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", "false", `""`, "[]", "{}":
		return false
	}
	return true
}
