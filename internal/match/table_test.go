package match

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
)

// tableOf returns a table as it is read, with some columns of its rows.
func tableOf(columns []string, rows []map[string]string) *webrace.Text {
	lines := []string{strings.Join(columns, "; ")}
	for _, row := range rows {
		var cells []string
		for _, c := range columns {
			if row[c] != "" {
				cells = append(cells, c+": "+row[c])
			}
		}
		lines = append(lines, strings.Join(cells, "; "))
	}
	t := textOf(lines...)
	t.Columns = columns
	return t
}

// TestOracleTables changes tables at random: rows come, go, move and change, columns move, are added and removed. New
// are the rows that the version before had not, looked at in the columns that both have.
func TestOracleTables(t *testing.T) {
	t.Parallel()
	all := []string{"id", "name", "pier", "price"}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 28))
		any := func() map[string]string {
			row := make(map[string]string)
			for _, c := range all {
				row[c] = []string{"", "1", "2; 3", "a: b"}[r.IntN(4)]
			}
			row["id"] = fmt.Sprint(r.IntN(5))
			return row
		}
		columns, rows := []string{"name", "id"}, []map[string]string{any()}
		var baseline Baseline
		var last *webrace.Text
		for round := range 12 {
			before, had := rows, columns
			rows, columns = slices.Clone(rows), slices.Clone(columns)
			switch r.IntN(4) {
			case 0:
				rows = slices.Insert(rows, r.IntN(len(rows)+1), any())
			case 1:
				rows[r.IntN(len(rows))] = any()
			case 2:
				r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
			}
			r.Shuffle(len(columns), func(i, j int) { columns[i], columns[j] = columns[j], columns[i] })
			if r.IntN(4) == 0 && len(columns) < len(all) {
				columns = append(columns, all[slices.IndexFunc(all, func(c string) bool { return !slices.Contains(columns, c) })])
			}
			if r.IntN(4) == 0 && len(columns) > 1 {
				columns = columns[1:]
			}
			text := tableOf(columns, rows)
			found := baseline.Compare(text)
			if found.Recast {
				found.KnowRows(text, last)
			}
			last = text
			added := found.Added(1)
			isNew := func(c string) bool { return !slices.Contains(had, c) }
			if round > 0 && added[0] != slices.ContainsFunc(columns, isNew) {
				t.Fatalf("seed %d, round %d: of %q and %q the names are new: %v", seed, round, had, columns, added[0])
			}
			for i, row := range rows {
				says := func(c string) bool { return slices.Contains(had, c) && row[c] != "" }
				known := slices.ContainsFunc(columns, says) && slices.ContainsFunc(before, func(b map[string]string) bool {
					return !slices.ContainsFunc(had, func(c string) bool { return b[c] != row[c] && slices.Contains(columns, c) })
				})
				if round > 0 && text.Blocks[i+1].End > text.Blocks[i+1].Start && added[i+1] == known {
					t.Fatalf("seed %d, round %d: columns %q, %v: row %v is new: %v", seed, round, had, before, row, added[i+1])
				}
			}
			baseline = found.Next
		}
	}
}
