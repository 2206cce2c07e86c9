package finding

import (
	"regexp"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/terminal"
)

var colours = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// On a terminal every finding begins as all errors do, fits, and points at its place, also in a line that does not fit.
func TestFindingsFitTheTerminal(t *testing.T) {
	t.Parallel()
	line := `flow = ["` + strings.Repeat("é > ", 60) + `fecth > ` + strings.Repeat("x > ", 60) + `drop"]`
	at := strings.Index(line, "fecth") - 60 + 1 // é takes two bytes
	all := List{
		{Pos: Position{"pipelines.toml", 12, at}, Message: "there is no stage type \"fecth\", " + strings.Repeat("and more of it ", 12), Hint: "fetch", SourceLine: line, Width: 5},
		{Message: "there is no pipeline \"x\""},
		{Pos: Position{"pipelines.toml", 3, 1}, Message: "short", SourceLine: "shrt = 1", Width: 400},
	}
	for _, columns := range []int{40, 80, 100, 160} {
		var b strings.Builder
		if err := all.FormatOn(&b, columns); err != nil {
			t.Fatal(err)
		}
		text := colours.ReplaceAllString(b.String(), "")
		if strings.Count(text, "error: ") != len(all) {
			t.Errorf("not all begin alike:\n%s", text)
		}
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			if terminal.Columns(line) > columns {
				t.Errorf("%d columns: %q is longer", columns, line)
			}
			if before, _, ok := strings.Cut(line, "^^^^^"); ok && strings.Contains(lines[i-1], "fecth") {
				if above := []rune(lines[i-1]); string(above[len(before):len(before)+5]) != "fecth" {
					t.Errorf("%d columns: the place is not under the word:\n%s\n%s", columns, lines[i-1], line)
				}
			}
		}
		if !strings.Contains(text, "fecth > ") {
			t.Errorf("%d columns: the place is not shown:\n%s", columns, text)
		}
	}
}
