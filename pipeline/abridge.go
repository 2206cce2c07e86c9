package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// A value larger than this is shown with its long texts and lists cut.
const (
	longValue = 16 << 10
	longText  = 500 // bytes
	longList  = 20
)

// abridged returns JSON that is as it came, or, where that is long, has less of its longest parts and says
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
