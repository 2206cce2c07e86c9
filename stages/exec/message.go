package exec

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
)

// newest is the version of the protocol that this host speaks; it understands the one before it, too.
const newest = 1

// speaks reports whether a host of a version understands a program of another.
func speaks(host, program int) bool { return program >= 1 && (program == host || program == host-1) }

// The messages of the host. After hello it sends items, until it closes the program's standard input.
type hello struct {
	Type     string         `json:"type"` // "hello"
	ABI      int            `json:"abi"`
	Pipeline string         `json:"pipeline"`
	Stage    string         `json:"stage"`
	Options  pipeline.Table `json:"options"`
	InFlight int            `json:"in_flight"`
	MaxFrame int64          `json:"max_frame"`
}

// appendItem adds the header of an item: {"type":"item","id":7,"kind":"document","value":{…},"key":"…"}, with its meta
// data, which is JSON as well, before the key if it has any. Our library for Python finds the key at the end.
func appendItem(b []byte, id uint64, kind string, value, meta json.RawMessage, key string) []byte {
	b = append(b, `{"type":"item","id":`...)
	b = strconv.AppendUint(b, id, 10)
	b = append(b, `,"kind":"`...) // a name, in which nothing needs to be escaped
	b = append(b, kind...)
	b = append(b, `","value":`...)
	b = append(b, value...)
	if meta != nil {
		b = append(append(b, `,"meta":`...), meta...)
	}
	if key != "" { // of hexadecimal digits
		b = append(append(append(b, `,"key":"`...), key...), '"')
	}
	return append(b, '}')
}

// message is any of a program's: ready, emit, done and error. Fields that it does not have are ignored.
type message struct {
	Type string `json:"type"`

	ABI  int       `json:"abi"`  // of ready
	Spec *progSpec `json:"spec"` // of ready

	ID uint64 `json:"id"` // of the others

	Port  string                     `json:"port"`  // of emit: "" is the default one
	Keep  bool                       `json:"keep"`  // of emit: the value is the item's own, but for what is set
	Set   map[string]json.RawMessage `json:"set"`   // of emit with keep: the fields that are other
	Body  bool                       `json:"body"`  // of emit with keep: the frame's body takes the place of the value's
	Kind  string                     `json:"kind"`  // of emit without keep; that of the port where it is left out
	Value json.RawMessage            `json:"value"` // of emit without keep
	Meta  map[string]string          `json:"meta"`  // of emit: meta data that is set, besides the item's

	Count  json.RawMessage `json:"count"`  // of done and error: what is added to counters
	Error  string          `json:"error"`  // of error
	Option string          `json:"option"` // of error, in the place of ready: the option that is at fault
	Retry  float64         `json:"retry_after_s"`
}

// readMessage reads the header of a frame.
func readMessage(header []byte) (m message, err error) {
	if m, ok := readPlain(header); ok {
		return m, nil
	}
	if err := json.Unmarshal(header, &m); err != nil {
		return m, errors.New(cut(err.Error(), longestError))
	}
	m.shorten()
	return m, nil
}

// What most frames hold, as our library for Python writes them: they need no reader of JSON.
const (
	plainDone = `{"type":"done","id":`
	plainKeep = `{"type":"emit","id":`
	keepEnd   = `,"keep":true}`
)

// readPlain reads the header of a frame that reports that an item is done, or is passed on as it came, and no more.
func readPlain(header []byte) (m message, ok bool) {
	text := string(header[:min(len(header), len(plainKeep)+20+len(keepEnd)+1)]) // longer ones are none
	rest, done := strings.CutPrefix(text, plainDone)
	digits, ends := strings.CutSuffix(rest, "}")
	m.Type = "done"
	if !done {
		rest, ok = strings.CutPrefix(text, plainKeep)
		digits, ends = strings.CutSuffix(rest, keepEnd)
		m.Type, m.Keep, ends = "emit", true, ends && ok
	}
	if !ends || digits == "" || digits[0] < '1' || digits[0] > '9' {
		return message{}, false
	}
	id, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return message{}, false
	}
	m.ID = id
	return m, true
}

// progSpec is what a program declares of itself.
type progSpec struct {
	Takes   []string     `json:"takes"`
	Gives   []progOutput `json:"gives"`
	Fields  []string     `json:"fields,omitzero"` // those that it wants of an item; all if it names none
	Needs   []string     `json:"needs,omitzero"`  // the parts that it needs of an item; those that its fields tell of, if it does not say
	Options []string     `json:"options"`         // the names of those that it knows; any if it does not say
}

type progOutput struct {
	Port string `json:"port"`
	Kind string `json:"kind"`
}

// fits returns what of the options the program does not know, or declares otherwise of itself: an
// [pipeline.OptionError] for each, which tells what to write.
func (p *progSpec) fits(o Options) error {
	var said []Output
	for _, out := range p.Gives {
		said = append(said, Output{Port: out.Port, Kind: out.Kind})
	}
	var wrong []error
	if p.Takes != nil && !slices.Equal(sorted(p.Takes), sorted(o.Takes)) {
		wrong = append(wrong, fault("takes", "it takes something else than the stage is declared to: set takes = %s", literal(p.Takes)))
	}
	if p.Gives != nil && !slices.Equal(outputs(said), outputs(o.Gives)) {
		wrong = append(wrong, fault("gives", "it gives something else than the stage is declared to: set gives = [%s]", strings.Join(outputs(said), ", ")))
	}
	if err := p.knownFields(o.Takes); err != nil {
		wrong = append(wrong, err)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Options)) {
		if p.Options == nil || slices.Contains(p.Options, name) {
			continue
		}
		hint := "it has none"
		if len(p.Options) > 0 {
			hint = didYouMean(name, sorted(p.Options))
		}
		wrong = append(wrong, fault("options."+name, "it has no option %q (%s)", name, hint))
	}
	return errors.Join(wrong...)
}

// knownFields refuses a field that no value has of the kinds that the program is given, unless one of these has fields
// of its own.
func (p *progSpec) knownFields(takes []string) error {
	var names []string
	for _, kind := range takes {
		info, err := codec.Named(kind)
		if err != nil || len(info.Fields) == 0 {
			return nil
		}
		for _, f := range info.Fields {
			names = append(names, f.Name)
		}
	}
	for _, name := range p.Fields {
		if !slices.Contains(names, name) {
			return fmt.Errorf("it asks for the field %q, which %s does not have (%s)", name, strings.Join(takes, " or "), didYouMean(name, names))
		}
	}
	return nil
}

func didYouMean(name string, names []string) string {
	if near := suggest.Nearest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	return "there are " + suggest.Choices(name, names)
}

func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }

func literal(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// outputs writes ports as pipelines.toml has them, sorted.
func outputs(list []Output) []string {
	written := make([]string, len(list))
	for i, out := range list {
		written[i] = fmt.Sprintf("{ kind = %q }", out.Kind)
		if out.Port != "" {
			written[i] = fmt.Sprintf("{ port = %q, kind = %q }", out.Port, out.Kind)
		}
	}
	return sorted(written)
}
