package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestGoalIsHeldAgainstTheRatioOrTheValue(t *testing.T) {
	all := table{bench: "b"}
	all.against("under", 15, "ns", "rival", 10, atMost(1.6))
	all.against("over", 17, "ns", "rival", 10, atMost(1.6))
	all.against("no goal", 17, "ns", "rival", 10, nil)
	all.value("none missed", 0, "", atMost(0))
	all.value("one missed", 1, "", atMost(0))
	want := []string{"yes", "no", "", "yes", "no"}
	for i, r := range all.rows {
		got := ""
		if r.Met != nil {
			got = map[bool]string{true: "yes", false: "no"}[*r.Met]
		}
		if got != want[i] {
			t.Errorf("row %q: met is %q, want %q", r.Name, got, want[i])
		}
	}
}

func TestRowsAreTheSameInTableAndJSON(t *testing.T) {
	all := table{bench: "b"}
	all.against("first", 15, "ns", "rival", 10, atMost(1.6))
	all.value("second", 3, "s", nil)

	var text bytes.Buffer
	if err := all.print(&text); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	if len(lines) != 3 || strings.Join(strings.Fields(lines[1]), " ") != "b first 15 ns rival 1.5 ≤ 1.6 yes" {
		t.Errorf("printed\n%s", text.String())
	}

	path := filepath.Join(t.TempDir(), "rows.json")
	if err := all.writeJSON(path); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]any
	if err := json.Unmarshal(written, &rows); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"bench", "row", "value", "unit", "rival", "ratio", "goal", "met"} {
		for _, r := range rows {
			if _, ok := r[key]; !ok {
				t.Errorf("row %v has no %q", r["row"], key)
			}
		}
	}
	if rows[0]["ratio"] != 1.5 || rows[0]["goal"] != "≤ 1.6" || rows[0]["met"] != true || rows[1]["met"] != nil {
		t.Errorf("wrote %s", written)
	}
}
