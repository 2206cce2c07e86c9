package terminal

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestATableFitsTheTerminal(t *testing.T) {
	t.Parallel()
	header := []string{"ID", "STAGE", "URL", "REASON"}
	rows := [][]string{
		{"1", "normalize", "http://a.example/a", "the page is too deep to be read at once"},
		{"22", "cache", "http://a.example/much/longer", ""},
	}
	for columns, want := range map[int]string{
		0: "ID  STAGE      URL                           REASON\n" +
			"1   normalize  http://a.example/a            the page is too deep to be read at once\n" +
			"22  cache      http://a.example/much/longer\n",
		72: "ID  STAGE      URL                           REASON\n" +
			"1   normalize  http://a.example/a            the page is too deep to be\n" +
			"                                             read at once\n" +
			"22  cache      http://a.example/much/longer\n",
		40: "ID  STAGE\n    URL\n    REASON\n" +
			"1   normalize\n    http://a.example/a\n    the page is too deep to be read at\n    once\n" +
			"22  cache\n    http://a.example/much/longer\n",
	} {
		if got := Table(header, rows, columns); got != want {
			t.Errorf("in %d columns:\n%s\nwant\n%s", columns, got, want)
		}
	}
	if got := Table(nil, [][]string{{"urls", "3"}, {"versions", "12"}}, 80); got != "urls      3\nversions  12\n" {
		t.Errorf("without a header:\n%s", got)
	}
}

// Whatever stands in a table, all of it is shown, and no line is too long but one of a single word.
func TestATableOfAnythingFits(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		columns := 40 + random.IntN(100)
		rows := make([][]string, 1+random.IntN(4))
		fields := 1 + random.IntN(5)
		var words []string
		for i := range rows {
			for range fields {
				var field []string
				for range random.IntN(6) {
					field = append(field, strings.Repeat("é", 1+random.IntN(1+random.IntN(60))))
				}
				words = append(words, field...)
				rows[i] = append(rows[i], strings.Join(field, " "))
			}
		}
		text := Table(nil, rows, columns)
		if got := strings.Join(strings.Fields(text), " "); fields == 1 && got != strings.Join(words, " ") || len(strings.Fields(text)) != len(words) {
			t.Fatalf("%q is shown as\n%s", rows, text)
		}
		for line := range strings.SplitSeq(text, "\n") {
			if Columns(line) > columns && len(strings.Fields(line)) > 1 {
				t.Fatalf("in %d columns: %q of\n%s", columns, line, text)
			}
		}
	}
}
