package formats

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/webrace/webrace"
)

// longestPath is how many bytes of a path are written: paths of long keys would else be longer than the document.
const longestPath = 256

// json reads JSON: a block is a leaf, with the path to it as jq writes it, without the first point. Of values behind
// the first one, a path begins with the number of the value. Reading takes no more stack for deep documents.
func (w *writer) json(body []byte) { w.values(body, false) }

// jsonLines reads values one after another, each of which has a number.
func (w *writer) jsonLines(body []byte) {
	w.values(body, true)
}

func (w *writer) values(body []byte, numbered bool) { w.valuesOf(body, numbered, nil) }

func (w *writer) valuesOf(body []byte, numbered bool, keep *jsonFilter) {
	d := Decoder(body)
	j := &jsonReader{writer: w, numbered: numbered, keep: keep}
	defer j.endEntries()
	for {
		token, err := d.Token()
		if err != nil {
			if !errors.Is(err, io.EOF) || len(j.levels) > 0 || j.count == 0 {
				w.spoil("it is no JSON from byte %d on: %v", d.InputOffset(), err)
			}
			return
		}
		if w.ended() || !j.token(token) {
			return
		}
	}
}

// Decoder returns a decoder of the values of a document, whose numbers stay as they are written.
func Decoder(body []byte) *json.Decoder {
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	if bytes.IndexByte(body, 0x1e) >= 0 { // which begins values of application/json-seq
		body = bytes.ReplaceAll(body, []byte{0x1e}, []byte{'\n'})
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	return d
}

// CountJSON counts the values in a JSON text before any is made: an object as two, for the memory that it takes. What
// is no JSON may count as more or fewer.
func CountJSON(text []byte) (values int) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{':
			values += 2
		case '[', ',':
			values++
		}
	}
	return values
}

// JSONFault returns where a text is no JSON, by what its decoder reports of that.
func JSONFault(text []byte, err error) error {
	at := len(text)
	if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
		at = min(max(int(syntax.Offset)-1, 0), at)
	}
	line := 1 + bytes.Count(text[:at], []byte("\n"))
	return fmt.Errorf("line %d, column %d: %w", line, at-bytes.LastIndexByte(text[:at], '\n'), err)
}

// jsonReader is the work on a document.
type jsonReader struct {
	*writer
	numbered bool        // the values are
	count    int         // of them
	keep     *jsonFilter // nil: all are
	fate     fate        // of the value at the path
	levels   []jsonLevel
	beyond   int // levels deeper than the limit, which are passed over
	path     []byte
	text     []byte
}

// jsonLevel is an object or list that is open.
type jsonLevel struct {
	list  bool
	path  int // how long the path to it is
	index int // of the next element of a list, or how many keys an object had
	keyed bool
	fate  fate

	key   string     // of an object: that of its value at hand
	skip  int        // how much of the path tells only where in lists it is
	entry *jsonEntry // nil if it is no element of a list
}

// token handles a token, and reports whether there is place for more.
func (j *jsonReader) token(token json.Token) bool {
	delim, isDelim := token.(json.Delim)
	if j.beyond > 0 {
		if isDelim && (delim == '{' || delim == '[') {
			j.beyond++
		} else if isDelim {
			j.beyond--
		}
		return true
	}
	top := j.top()
	if top != nil && !top.list && !top.keyed && !isDelim {
		key, _ := token.(string)
		j.path = appendKey(j.path[:top.path], key)
		top.keyed, top.key = true, key
		return true
	}
	if isDelim && (delim == '}' || delim == ']') {
		return j.close(delim)
	}
	j.enter(top)
	if isDelim {
		if len(j.levels) >= j.limits.Depth {
			j.exceed("what is nested deeper than %d levels is left out", j.limits.Depth)
			j.beyond = 1
			return true
		}
		j.open(delim)
		return true
	}
	return j.leaf(token)
}

func (j *jsonReader) top() *jsonLevel {
	if len(j.levels) == 0 {
		return nil
	}
	return &j.levels[len(j.levels)-1]
}

// enter makes the path lead to the next value of what is open.
func (j *jsonReader) enter(top *jsonLevel) {
	switch {
	case top == nil:
		if j.path = j.path[:0]; j.numbered || j.count > 0 {
			j.path = appendIndex(j.path, j.count)
		}
		j.count++
		j.fate = j.keep.within(j.path, undecided)
		return
	case top.list:
		j.path = appendIndex(j.path[:top.path], top.index)
	}
	top.index++
	top.keyed = false
	j.fate = j.keep.within(j.path, top.fate)
}

func appendIndex(path []byte, index int) []byte {
	return append(strconv.AppendInt(append(path, '['), int64(index), 10), ']')
}

func (j *jsonReader) open(delim json.Delim) {
	l := jsonLevel{list: delim == '[', path: len(j.path), fate: j.fate, skip: j.skip()}
	if !l.list && j.inList() {
		l.entry = &jsonEntry{from: len(j.Text.Blocks), list: j.listName(), rank: len(Names)}
	}
	j.levels = append(j.levels, l)
}

// close ends an object or list; one that is empty is a leaf.
func (j *jsonReader) close(delim json.Delim) (more bool) {
	top := *j.top()
	j.levels = j.levels[:len(j.levels)-1]
	more = true
	if j.path, j.fate = j.path[:top.path], top.fate; top.index == 0 {
		more = j.write(string(rune(delim-2)) + string(rune(delim)))
	}
	if top.entry != nil {
		top.entry.mark(&j.Text)
	}
	return more
}

func (j *jsonReader) leaf(token json.Token) bool {
	value := "null"
	switch v := token.(type) {
	case string:
		value = v
	case json.Number:
		value = v.String()
	case bool:
		value = strconv.FormatBool(v)
	}
	if token != nil {
		j.name(value)
	}
	return j.write(value)
}

func (j *jsonReader) write(value string) bool {
	if j.fate != kept {
		return true
	}
	j.text = append(j.text[:0], Leaf(string(j.path), value)...)
	if n := len(j.Text.Blocks); !j.block(j.text, webrace.FieldBody) {
		return false
	} else if n < len(j.Text.Blocks) {
		j.place(&j.Text.Blocks[n], value)
	}
	return true
}

// Leaf returns how a leaf of JSON is written: its path, and its value behind a colon.
func Leaf(path, value string) string {
	if path == "" {
		return value
	}
	return shorten(path, longestPath) + ": " + value
}

// Path returns how the path to a leaf is written: the keys of objects and the numbers of elements of lists, as jq
// writes them, without the first point.
func Path(steps []any) string {
	var path []byte
	for _, step := range steps {
		switch step := step.(type) {
		case string:
			path = appendKey(path, step)
		case int:
			path = appendIndex(path, step)
		}
	}
	return string(path)
}

// appendKey appends a key to a path: behind a point if it is an identifier of jq, and else in brackets and quotes.
func appendKey(path []byte, key string) []byte {
	if isIdentifier(key) {
		if len(path) > 0 {
			path = append(path, '.')
		}
		return append(path, key...)
	}
	if len(key) > 2*longestPath { // which will be left out anyway
		key = shorten(key, 2*longestPath)
	}
	quoted, err := json.Marshal(key)
	if err != nil || !utf8.Valid(quoted) {
		quoted = strconv.AppendQuote(nil, key)
	}
	return append(append(append(path, '['), quoted...), ']')
}

func isIdentifier(key string) bool {
	for i, c := range []byte(key) {
		letter := c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return key != "" && len(key) <= longestPath
}

// FlattenJSON writes the leaves of a decoded value as blocks, as those of a document are, below a path. Emit reports
// whether it takes more.
func FlattenJSON(steps []any, value any, text func(scalar any) string, emit func(block string) bool) bool {
	return flatten([]byte(Path(steps)), value, text, emit)
}

func flatten(path []byte, value any, text func(any) string, emit func(string) bool) bool {
	switch v := value.(type) {
	case []any:
		if len(v) == 0 {
			return emit(Leaf(string(path), "[]"))
		}
		for i, element := range v {
			if !flatten(appendIndex(path[:len(path):len(path)], i), element, text, emit) {
				return false
			}
		}
		return true
	case map[string]any:
		if len(v) == 0 {
			return emit(Leaf(string(path), "{}"))
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if !flatten(appendKey(path[:len(path):len(path)], key), v[key], text, emit) {
				return false
			}
		}
		return true
	}
	return emit(Leaf(string(path), text(value)))
}

// Part returns the leaves of JSON at and below the chosen paths, without those at and below the ignored. If chosen is
// nil, all are.
func Part(f Format, body []byte, chosen, ignored map[string]bool) *webrace.Text {
	w := &writer{ctx: context.Background(), limits: Default}
	keep := &jsonFilter{chosen: chosen, ignored: ignored}
	w.valuesOf(body, f == JSONLines, keep)
	return &w.Text
}

// jsonFilter determines which values are kept.
type jsonFilter struct{ chosen, ignored map[string]bool }

// within returns what becomes of a value, by its path and what becomes of what it is in.
func (p *jsonFilter) within(path []byte, around fate) fate {
	switch {
	case p == nil:
		return kept
	case around == dropped || p.ignored[string(path)]:
		return dropped
	case around == kept || p.chosen == nil || p.chosen[string(path)]:
		return kept
	}
	return undecided
}

// fate is what becomes of a value: undecided are leaves that are left out, and what chosen values may be in.
type fate uint8

const (
	undecided fate = iota
	kept
	dropped
)
