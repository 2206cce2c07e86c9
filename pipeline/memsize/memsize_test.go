package memsize

import (
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
)

func TestWhatAValueKeepsIsCounted(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	many := make([]any, 5000)
	for i := range many {
		many[i] = long[:100]
	}
	for name, c := range map[string]struct {
		value       any
		least, most int
	}{
		"nothing":   {nil, 0, 16},
		"number":    {1, 8, 8},
		"text":      {long, 10_000, 10_100},
		"bytes":     {[]byte(long), 10_000, 10_100},
		"document":  {&webrace.Document{Body: []byte(long), Text: &webrace.Text{Bytes: []byte(long)}, At: time.Now()}, 20_000, 22_000},
		"record":    {map[string]any{"a": long, "b": []any{long, 1.5}}, 20_000, 20_300},
		"long list": {many, 5000 * 116, 5000 * 140},
		"list":      {[]string{long, long}, 20_000, 20_100},
		"map":       {map[string]string{"k": long}, 10_000, 10_100},
	} {
		if got := Of(c.value); got < c.least || got > c.most {
			t.Errorf("%s keeps %d bytes, want %d to %d", name, got, c.least, c.most)
		}
	}
}

func TestAValueThatContainsItselfEnds(t *testing.T) {
	m := map[string]any{"x": "y"}
	m["self"] = m
	if got := Of(m); got <= 0 {
		t.Errorf("%d", got)
	}
}
