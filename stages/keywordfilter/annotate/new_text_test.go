package annotate

import (
	"strings"
	"testing"

	"github.com/webrace/webrace"
)

func blocks(entries bool, texts ...string) *webrace.Text {
	t := new(webrace.Text)
	for i, text := range texts {
		start := int32(len(t.Bytes))
		t.Bytes = append(t.Bytes, text...)
		b := webrace.Block{Start: start, End: int32(len(t.Bytes))}
		if entries {
			t.Entries = append(t.Entries, webrace.Entry{Name: uint64(i + 1), Link: uint64(i + 1)})
			b.Entry = int32(i + 1)
		}
		t.Blocks = append(t.Blocks, b)
	}
	return t
}

// A model is asked of what came and went, of the entries that are told of alone, and of a bounded part of that.
func TestNewText(t *testing.T) {
	t.Parallel()
	old := blocks(false, "The deadline is May 3.", "Tea is served at four.")
	now := blocks(false, "The deadline is May 9.", "Tea is served at four.", "The boat has come to the harbour.")
	if got := NewText(old, now, []bool{true, false, true}, nil); got != "The deadline is May [−3] «9». · «The boat has come to the harbour.»" {
		t.Errorf("%q", got)
	}
	if got := NewText(old, now, []bool{true, false, false}, nil); strings.Contains(got, "boat") || strings.Contains(got, "Tea") {
		t.Errorf("of one block: %q", got)
	}
	if got := NewText(nil, now, nil, nil); !strings.Contains(got, "May 9") || !strings.Contains(got, "Tea") {
		t.Errorf("at first: %q", got)
	}
	feed := blocks(true, "First entry of the feed.", "Second entry of the feed.", "Third entry of the feed.")
	if got := NewText(nil, feed, nil, []int32{2}); !strings.Contains(got, "Second") || strings.Contains(got, "First") || strings.Contains(got, "Third") {
		t.Errorf("of an entry: %q", got)
	}
	if got := NewText(nil, blocks(false, strings.Repeat("é word ", 5000)), nil, nil); len(got) > NewsBytes || len(got) < NewsBytes/2 {
		t.Errorf("%d bytes", len(got))
	}
}
