package formats

import (
	"runtime"
	"strings"
	"testing"
)

// TestHostileMarkdownKeepsNobodyWaiting counts the values that are made for a page of Markdown, as the runtime does: no
// page takes more of them than a limit, however much it means, so the pages of others that wait for a worker wait for
// no more than that. That some are read whole shows that the limit is none of honest ones.
func TestHostileMarkdownKeepsNobodyWaiting(t *testing.T) {
	const mostValues, mostBytes = 1 << 20, 128 << 20
	table := func(columns, rows int) string {
		return "# Storm\n\n" + strings.Repeat("|a", columns) + "\n" + strings.Repeat("|-", columns) + "\n" + strings.Repeat("|a\n", rows)
	}
	for name, c := range map[string]struct {
		source string
		whole  bool
	}{
		"a table of 10,000 cells":         {table(100, 100), true},
		"a table of 250,000":              {table(500, 500), false},
		"a table of 16 million":           {table(4000, 4000), false},
		"a table of 400 million":          {table(20_000, 20_000), false},
		"many tables":                     {strings.Repeat(table(1000, 50)+"\n", 20), false},
		"definitions of links":            {strings.Repeat("[a]: b\n", 100_000), false},
		"emphasis that does not end":      {strings.Repeat("*a **b ", 100_000), false},
		"brackets":                        {strings.Repeat("[", 200_000), false},
		"entries of a list with a gap":    {strings.Repeat("- a\n\n", 100_000), false},
		"lists in lists":                  {strings.Repeat(strings.Repeat("- ", 50)+"a\n", 3000), false},
		"lines of a quote":                {strings.Repeat("> a\n", 100_000), true},
		"a paragraph of 50,000 lines":     {strings.Repeat("a *b* `c` [d](e)\n", 50_000), false},
		"50,000 paragraphs":               {strings.Repeat("a *b* `c` [d](e)\n\n", 50_000), false},
		"10,000 paragraphs, as in a book": {strings.Repeat("a *b* `c` [d](e)\n\n", 10_000), true},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, unread := HTML([]byte(c.source), nil)
			runtime.ReadMemStats(&after)
			values, bytes := after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc
			t.Logf("%d bytes: %d values, %d MiB; %s", len(c.source), values, bytes>>20, unread.Reason)
			if values > mostValues || bytes > mostBytes {
				t.Errorf("%d values of %d MiB are made, want at most %d of %d", values, bytes>>20, mostValues, mostBytes>>20)
			}
			if whole := unread.Cause == ""; whole != c.whole {
				t.Errorf("it is read to its end: %v; %+v", whole, unread)
			}
		})
	}
}
