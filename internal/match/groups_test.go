package match

import (
	"fmt"
	"slices"
	"testing"
)

// A page of a hundred thousand rows of which a few change tells of these: none is missed, and hardly any other is told
// of with them.
func TestALongPageTellsOfWhatChanged(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("nothing but a computation: not in short mode")
	}
	const rows = 100_000
	table := make([]string, rows)
	for i := range table {
		table[i] = fmt.Sprint("row ", i%(rows-10)) // the last ten are there before
	}
	base, _ := Baseline(nil).Update(textOf(table...))
	if len(base) > mostRemembered {
		t.Fatalf("%d numbers, at most %d allowed", len(base), mostRemembered)
	}
	with := func(at int, more ...string) []string { return slices.Insert(slices.Clone(table), at, more...) }
	for name, c := range map[string]struct {
		rows []string
		want int // new rows
		most int // others that are told of
	}{
		"the same":                       {table, 0, 0},
		"a row at the end":               {with(rows, "new"), 1, 0},
		"a row before all others":        {with(0, "new"), 1, 0},
		"a row in the middle":            {with(rows/2, "new"), 1, 0},
		"a row that was there":           {with(rows, "row 50000"), 0, 0},
		"a row of which another is left": {table[:rows-1], 0, 0},
		"rows less":                      {slices.Delete(slices.Clone(table), 50_000, 50_020), 0, 0},
		"rows less at the beginning":     {table[20:], 0, 0},
		"rows that moved to the end":     {append(slices.Clone(table[500:]), many(500, "row ")...), 0, 0},
		"rows at the end for others":     {append(slices.Clone(table[20:]), many(20, "new ")...), 20, 5},
		"a hundred rows":                 {with(70_000, many(100, "new ")...), 100, 50},
	} {
		_, added := base.Update(textOf(c.rows...))
		found, others := 0, 0
		for i, is := range added {
			switch isNew := c.rows[i][0] == 'n'; {
			case is && isNew:
				found++
			case is:
				others++
			}
		}
		if found != c.want || others > c.most {
			t.Errorf("%s: %d of %d rows, and %d others", name, found, c.want, others)
		}
	}
}

// many returns so many texts, with their numbers.
func many(n int, text string) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint(text, i))
	}
	return all
}
