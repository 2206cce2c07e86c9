// Package watch shows people what a running process does: its stages as a table that is always up to date,
// and the items that pass a place, a line each. It draws; where the figures and the items come from is the
// business of the caller.
package watch

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/webrace/webrace/internal/terminal"
	"github.com/webrace/webrace/pipeline"
)

// Field is one of the fields of a value, shortened to fit on a line with others.
type Field struct {
	Name, Text string
	inner      int // 1 of a list or an object
}

// names of fields that tell which value it is, the most telling first.
var telling = []string{"url", "uri", "from", "id", "name", "title", "error"}

// most characters of a text among other fields.
const longField = 48

// Describe returns what identifies the item best, and the other fields of its value: in their order, but
// lists and objects, of which only the size is told, at the end.
func Describe(item pipeline.Tapped) (what string, rest []Field) {
	var fields []Field
	decoder := json.NewDecoder(bytes.NewReader(item.Value))
	decoder.UseNumber()
	if start, err := decoder.Token(); err == nil && start == json.Delim('{') {
		fields = fieldsOf(decoder)
	} else if err == nil && start != json.Delim('[') {
		return terminal.Line(fmt.Sprint(start)), nil
	}
	slices.SortStableFunc(fields, func(a, b Field) int { return cmp.Compare(a.inner, b.inner) })
	best := slices.MinFunc(append(fields, Field{}), func(a, b Field) int { return cmp.Compare(rank(a.Name), rank(b.Name)) })
	if rank(best.Name) == len(telling) {
		return cmp.Or(textOf(item), item.Kind), fields
	}
	return best.Text, slices.DeleteFunc(fields, func(f Field) bool { return f == best })
}

func rank(name string) int {
	if i := slices.Index(telling, name); i >= 0 {
		return i
	}
	return len(telling)
}

// textOf returns the body of what is nothing but text.
func textOf(item pipeline.Tapped) string {
	if text, ok := item.Text(); ok && string(item.Value) == "{}" {
		return terminal.Line(text)
	}
	return ""
}

// fieldsOf reads the fields of an object whose beginning has been read.
func fieldsOf(decoder *json.Decoder) (fields []Field) {
	for decoder.More() {
		name, err := decoder.Token()
		var value json.RawMessage
		if err != nil || decoder.Decode(&value) != nil {
			return fields
		}
		key := terminal.Line(fmt.Sprint(name))
		text, inner := short(value, rank(key) < len(telling))
		fields = append(fields, Field{key, text, inner})
	}
	return fields
}

// short writes a value: a text without quotes, cut unless it is to be whole, and of lists and objects how
// many things they hold.
func short(value json.RawMessage, whole bool) (text string, inner int) {
	if json.Unmarshal(value, &text) == nil {
		if text = terminal.Line(text); len(text) > longField && !whole {
			return cutTo(text, longField) + "…", 0
		}
		return text, 0
	}
	var list []json.RawMessage
	if json.Unmarshal(value, &list) == nil {
		return "[" + strconv.Itoa(len(list)) + "]", 1
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(value, &object) == nil {
		return "{" + strconv.Itoa(len(object)) + "}", 1
	}
	return string(value), 0
}

// cutTo returns the beginning of a text in so many bytes at most, of whole characters.
func cutTo(text string, most int) string {
	end := 0
	for i := range text {
		if i > most {
			break
		}
		end = i
	}
	return text[:end]
}
