package ask

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/internal/visible"
	"github.com/webrace/webrace/xmlschema"
)

// How long the strings of an answer may be, in characters; longer ones are cut.
const (
	longestName   = 200
	longestReason = 500
	longestField  = 2000
)

// answer is a JSON object that meets the schema of its form. Its numbers have all their digits ([json.Number]).
type answer map[string]any

// UnmarshalJSON reads it as it was written.
func (a *answer) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode((*map[string]any)(a))
}

// form is what an answer has to be like.
type form struct {
	name     string // yes-no, summary or fields
	schema   json.RawMessage
	resolved *jsonschema.Resolved
}

// The reason comes first, so that a model writes its verdict behind what it has found.
const yesNoSchema = `{"type":"object","properties":{"reason":{"type":"string","description":"one sentence: what in the text decides it"},"answer":{"type":"string","enum":["yes","no"]}},"required":["reason","answer"],"additionalProperties":false}`

const summarySchema = `{"type":"object","properties":{"summary":{"type":"string","description":"two sentences at most"}},"required":["summary"],"additionalProperties":false}`

func yesNoForm() *form {
	f, err := parseForm(yesNo, yesNoSchema)
	if err != nil {
		panic(err) // a constant
	}
	return f
}

func newForm(o Options) (*form, error) {
	if o.Answer != fields && o.Schema != "" {
		return nil, errors.New(`goes with answer = "fields"`)
	}
	switch o.Answer {
	case summary:
		return parseForm(summary, summarySchema)
	case fields:
		return parseForm(fields, o.Schema)
	}
	return yesNoForm(), nil
}

// fieldName is the name of a property, which becomes that of a value.
var fieldName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)

func parseForm(name, text string) (*form, error) {
	var s jsonschema.Schema
	var compact bytes.Buffer
	switch err := json.Unmarshal([]byte(text), &s); {
	case text == "":
		return nil, errors.New(`is not set: write the JSON Schema of an object, as {"type": "object", "properties": {"price": {"type": "number"}}, "required": ["price"]}`)
	case err != nil:
		return nil, fmt.Errorf("is no JSON Schema: %w", err)
	case s.Type != "object" || len(s.Properties) == 0:
		return nil, errors.New(`is not one of an object with properties: {"type": "object", "properties": {…}}`)
	}
	for property := range s.Properties {
		if !fieldName.MatchString(property) || property == "model" || property == "unjudged" {
			return nil, fmt.Errorf("property %q cannot be named so: a name is of letters, digits, _ and -, and neither model nor unjudged, which are the stage's own", property)
		}
	}
	if err := checkTypes(&s, "the schema"); err != nil {
		return nil, err
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("cannot be used: %w", err)
	}
	if err := json.Compact(&compact, []byte(text)); err != nil {
		return nil, err
	}
	return &form{name, compact.Bytes(), resolved}, nil
}

// types are those of JSON Schema. The library takes another one for a type that nothing has.
var types = []string{"", "null", "boolean", "object", "array", "number", "integer", "string"}

func checkTypes(s *jsonschema.Schema, of string) error {
	for _, name := range append(s.Types, s.Type) {
		if !slices.Contains(types, name) {
			hint := ""
			if meant := suggest.Nearest(name, types); meant != "" {
				hint = fmt.Sprintf(" (did you mean %q?)", meant)
			}
			return fmt.Errorf("has the type %q of %s%s: it is one of %s", name, of, hint, strings.Join(types[1:], ", "))
		}
	}
	for property, inner := range s.Properties {
		if err := checkTypes(inner, "property "+property); err != nil {
			return err
		}
	}
	if s.Items != nil {
		return checkTypes(s.Items, "the elements of "+of)
	}
	return nil
}

func (f *form) isYesNo() bool { return f.name == yesNo }

// fenced is JSON as models write it whose servers do not know of schemas.
var fenced = regexp.MustCompile("(?s)^```(?:json)?\\s*\n(.*)\n```$")

// thought is what models write first whose servers do not keep it apart.
var thought = regexp.MustCompile(`(?s)^<think>.*?</think>`)

// parse reads what a model wrote. The error tells its operator what is wrong with it, and quotes none of it.
func (f *form) parse(content string) (answer, error) {
	content = strings.TrimSpace(thought.ReplaceAllLiteralString(strings.TrimSpace(content), ""))
	if m := fenced.FindStringSubmatch(content); m != nil {
		content = m[1]
	}
	var value any
	if err := json.Unmarshal([]byte(content), &value); err != nil {
		return nil, errors.New("the model answers what is no JSON")
	}
	var object answer
	if _, ok := value.(map[string]any); !ok || json.Unmarshal([]byte(content), &object) != nil {
		return nil, errors.New("the model answers what is no JSON object")
	}
	if err := f.resolved.Validate(value); err != nil {
		return nil, errors.New("the model answers what does not meet the schema")
	}
	a := make(answer)
	for name := range f.resolved.Schema().Properties {
		if v, has := object[name]; has {
			a[name] = bounded(v, f.longest())
		}
	}
	return a, nil
}

func (f *form) longest() int {
	if f.isYesNo() {
		return longestReason
	}
	return longestField
}

// bounded returns a value of an answer, whose strings are cut and cleaned.
func bounded(v any, most int) any {
	switch v := v.(type) {
	case string:
		return visible.Line(v, most)
	case []any:
		kept := make([]any, 0, min(len(v), mostElements))
		for _, element := range v[:min(len(v), mostElements)] {
			kept = append(kept, bounded(element, most))
		}
		return kept
	case map[string]any:
		kept := make(map[string]any)
		for name, element := range v {
			if len(kept) < mostElements {
				kept[visible.Line(name, longestName)] = bounded(element, most)
			}
		}
		return kept
	}
	return v
}

// mostElements is how many elements are kept of an array or object within an answer.
const mostElements = 100

// values returns an answer as texts by name, and whether it is no.
func (f *form) values(a answer) (values map[string]string, no bool) {
	values = make(map[string]string, len(a)+1)
	for name, v := range a {
		text, ok := v.(string)
		if !ok {
			written, _ := json.Marshal(v) // of what was read of JSON
			text = visible.Line(string(written), longestField)
		}
		values["ask."+name] = text
	}
	return values, f.isYesNo() && a["answer"] == xmlschema.AnswerNo
}
