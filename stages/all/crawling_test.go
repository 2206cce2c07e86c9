package all

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// crawling are the stages whose options docs/crawling.md gives reasons for.
var crawling = []string{"fetch", "frontier", "normalize", "sitemap-parse", "feed-parse", "render", "score"}

// TestEveryOptionOfACrawlHasAReason compares the tables of docs/crawling.md with the reference that is made
// from the code: the same options, and the same defaults.
func TestEveryOptionOfACrawlHasAReason(t *testing.T) {
	reasons, reference := read(t, "crawling.md"), read(t, "stages.md")
	for _, stage := range crawling {
		want := rows(section(t, reference, "\n## "+stage+"\n", "\n## "))
		got := rows(section(t, reasons, "\n### "+stage+"\n", "\n##"))
		if len(want) == 0 {
			t.Fatalf("docs/stages.md has no options of %s", stage)
		}
		for _, option := range want {
			name, rest := option[0], option[1:]
			i := slices.IndexFunc(got, func(row []string) bool { return row[0] == name })
			switch {
			case i < 0:
				t.Errorf("%s of %s has no reason in docs/crawling.md", name, stage)
			case got[i][1] != rest[1] && got[i][1] != "a list":
				t.Errorf("%s of %s is said to be %s by default, and is %s", name, stage, got[i][1], rest[1])
			case len(got[i]) != 3 || got[i][2] == "":
				t.Errorf("%s of %s has no reason: %q", name, stage, got[i])
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s has %d options, and docs/crawling.md has %d", stage, len(want), len(got))
		}
	}
}

func TestTheExampleOfScoresHasNoFaults(t *testing.T) {
	example := section(t, section(t, read(t, "crawling.md"), "\n## Which pages come first\n", "\n## "), "```toml\n", "```")
	if found := lint(t, "version = 1\n"+example); len(found) > 0 {
		t.Error(found)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// section returns what stands between a heading and the next.
func section(t *testing.T, text, heading, next string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, heading)
	if !found {
		t.Fatalf("no heading %q", heading)
	}
	within, _, _ := strings.Cut(rest, next)
	return within
}

var row = regexp.MustCompile("(?m)^\\| (`[a-z0-9_]+`) \\| (.*) \\|$")

// rows returns the cells of the rows that begin with the name of an option.
func rows(text string) (all [][]string) {
	for _, match := range row.FindAllStringSubmatch(text, -1) {
		all = append(all, append(match[1:2], strings.Split(match[2], " | ")...))
	}
	return all
}
