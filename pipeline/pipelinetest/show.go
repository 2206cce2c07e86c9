package pipelinetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"
)

// longest is how much of a value is shown.
const longest = 300

// show writes a value as JSON, shortened.
func show(v any) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return shorten(strings.TrimSuffix(b.String(), "\n"))
}

func shorten(text string) string {
	if len(text) <= longest {
		return text
	}
	cut := longest
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + fmt.Sprintf("… (%d bytes)", len(text))
}

// difference shows what was wanted and what came. Long texts are shown around the place where they part.
func difference(want, got any) string {
	a, aText := want.(string)
	b, bText := got.(string)
	if aText && bText && max(len(a), len(b)) > longest {
		at := 0
		for at < len(a) && at < len(b) && a[at] == b[at] {
			at++
		}
		from := max(0, at-40)
		for from > 0 && !utf8.RuneStart(a[from]) {
			from--
		}
		return fmt.Sprintf("  they differ from byte %d on\n  - …%s\n  + …%s\n", at, show(a[from:]), show(b[from:]))
	}
	return fmt.Sprintf("  - %s\n  + %s\n", show(want), show(got))
}

// brief leaves out what tells nothing, and what tells too much.
func brief(fields map[string]any) map[string]any {
	few := maps.Clone(fields)
	maps.DeleteFunc(few, func(name string, v any) bool {
		switch v := v.(type) {
		case nil:
			return true
		case string:
			return v == "" || len(v) > longest/2 || name == "body" && len(fields) > 1
		case bool:
			return !v
		case float64:
			return v == 0
		case []any:
			return len(v) == 0 || len(v) > 5
		case map[string]any:
			return true
		}
		return false
	})
	return few
}
