package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/webrace/webrace/pipeline/codec"
)

// Tapped is what a [Tap] shows of an item. Nothing of it is the item's own.
type Tapped struct {
	Pipeline string
	Stage    string
	Port     string // [TapInput] for what entered the stage
	Time     time.Time
	Number   int64 // of the items that have passed since the tap was opened; what lies between two was not looked at, or not wanted
	Missed   int64 // items, up to this one, see [Tap.Passed]

	Kind     string // the name of its codec, see [codec.Encode]
	Meta     map[string]string
	Value    json.RawMessage // the header: the value without its body, with less of what is long
	Body     []byte          // the beginning of the body
	BodySize int             // of all of it
}

// show fills in what there is to see of an item.
func (s *Tapped) show(it *Item, maxBody int) {
	s.Meta = maps.Clone(it.Meta)
	kind, value, body, err := codec.Encode(it.Value)
	if err != nil {
		value, _ = json.Marshal(fmt.Sprintf("%+v", it.Value)) // of a string this does not fail
	}
	s.Kind, s.Value, s.BodySize = kind, abridged(value), len(body)
	s.Body = slices.Clone(body[:min(len(body), max(maxBody, 0))])
}

// MarshalJSON writes the item on one line. The body is text where it is text, as far as it goes.
func (s Tapped) MarshalJSON() ([]byte, error) {
	line := tappedJSON{
		Pipeline: s.Pipeline, Stage: s.Stage, Port: s.Port, Time: s.Time, Number: s.Number, Missed: s.Missed,
		Kind: s.Kind, Meta: s.Meta, Value: s.Value, BodySize: s.BodySize,
	}
	if text, ok := s.Text(); ok {
		line.Body = text
	} else {
		line.Base64 = s.Body
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // it is for people, too; the caller that encodes it decides for itself
	err := encoder.Encode(line)
	return out.Bytes(), err
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Tapped) UnmarshalJSON(text []byte) error {
	var line tappedJSON
	if err := json.Unmarshal(text, &line); err != nil {
		return err
	}
	*s = Tapped{
		Pipeline: line.Pipeline, Stage: line.Stage, Port: line.Port, Time: line.Time, Number: line.Number, Missed: line.Missed,
		Kind: line.Kind, Meta: line.Meta, Value: line.Value, BodySize: line.BodySize, Body: line.Base64,
	}
	if line.Body != "" {
		s.Body = []byte(line.Body)
	}
	return nil
}

type tappedJSON struct {
	Pipeline string            `json:"pipeline"`
	Stage    string            `json:"stage"`
	Port     string            `json:"port"`
	Time     time.Time         `json:"time"`
	Number   int64             `json:"number"`
	Missed   int64             `json:"missed,omitempty"`
	Kind     string            `json:"kind"`
	Meta     map[string]string `json:"meta,omitempty"`
	Value    json.RawMessage   `json:"value"`
	Body     string            `json:"body,omitempty"`
	Base64   []byte            `json:"body_base64,omitempty"`
	BodySize int               `json:"body_size,omitempty"`
}

// Text returns the beginning of the body, up to the last whole character, if it is UTF-8 and holds nothing
// that text does not.
func (s *Tapped) Text() (string, bool) {
	text := s.Body
	if len(text) < s.BodySize {
		text = wholeCharacters(text)
	}
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return "", false
	}
	return string(text), true
}

// wholeCharacters leaves out the beginning of a character that has been cut off.
func wholeCharacters(text []byte) []byte {
	for cut := 1; cut < utf8.UTFMax && cut <= len(text); cut++ {
		if last := text[len(text)-cut:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return text[:len(text)-cut]
			}
			break
		}
	}
	return text
}

// A value larger than this is shown with its long texts and lists cut.
const (
	longValue = 16 << 10
	longText  = 500 // bytes
	longList  = 20
)

// abridged returns JSON that is as it came, or, where that is long, has less of its longest parts and tells
// how much is missing.
func abridged(value json.RawMessage) json.RawMessage {
	if len(value) <= longValue {
		return value
	}
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return value // it is written by encoding/json, and read by it
	}
	short, err := json.Marshal(cut(v))
	if err != nil {
		return value
	}
	return short
}

func cut(v any) any {
	switch v := v.(type) {
	case string:
		return cutText(v)
	case []any:
		more := len(v) - longList
		if more > 1 {
			v = v[:longList]
		}
		for i := range v {
			v[i] = cut(v[i])
		}
		if more > 1 {
			v = append(v, fmt.Sprintf("… %d more", more))
		}
		return v
	case map[string]any:
		for name := range v {
			v[name] = cut(v[name])
		}
	}
	return v
}

func cutText(text string) string {
	if len(text) <= longText {
		return text
	}
	end := longText
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s… %d more bytes", text[:end], len(text)-end)
}
