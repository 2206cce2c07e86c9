package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"text/tabwriter"
)

// table gathers the rows of all benchmarks that run.
type table struct {
	bench string // that the rows to come belong to
	rows  []row
}

// row is one number. Beside a rival, Ratio is Value over the rival's value, and the goal is held against
// it; without one, the goal is held against Value.
type row struct {
	Bench string  `json:"bench"`
	Name  string  `json:"row"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	Rival string  `json:"rival"`
	Ratio float64 `json:"ratio"`
	Goal  *goal   `json:"goal"`
	Met   *bool   `json:"met"` // nil without a goal
	// Of a row whose value is CPU time: the wall time, in the same unit, and how many alerts a page gave rise to.
	Wall   *float64 `json:"wall,omitempty"`
	Alerts *float64 `json:"alerts,omitempty"`
}

// goal is the most that a row may be.
type goal float64

func atMost(limit float64) *goal { return (*goal)(&limit) }

func (g goal) String() string { return "≤ " + number(float64(g)) }

// MarshalText makes a goal read the same in JSON as in the table.
func (g goal) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// value adds a row that stands alone.
func (t *table) value(name string, value float64, unit string, g *goal) {
	t.add(row{Name: name, Value: value, Unit: unit, Goal: g}, value)
}

// against adds a row beside a rival's value in the same unit.
func (t *table) against(name string, value float64, unit, rival string, rivals float64, g *goal) {
	ratio := value / rivals
	t.add(row{Name: name, Value: value, Unit: unit, Rival: rival, Ratio: ratio, Goal: g}, ratio)
}

func (t *table) add(r row, judged float64) {
	r.Bench = t.bench
	if r.Goal != nil {
		met := judged <= float64(*r.Goal)
		r.Met = &met
	}
	t.rows = append(t.rows, r)
}

// print writes the rows as an aligned table.
func (t *table) print(w io.Writer) error {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "BENCH\tROW\tVALUE\tUNIT\tRIVAL\tRATIO\tGOAL\tMET\tWALL\tALERTS")
	for _, r := range t.rows {
		ratio, goal, met := "", "", ""
		if r.Rival != "" {
			ratio = number(r.Ratio)
		}
		if r.Goal != nil {
			goal, met = r.Goal.String(), map[bool]string{true: "yes", false: "NO"}[*r.Met]
		}
		fmt.Fprintf(columns, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Bench, r.Name, number(r.Value), r.Unit, r.Rival, ratio, goal, met, optional(r.Wall), optional(r.Alerts))
	}
	return columns.Flush()
}

func optional(v *float64) string {
	if v == nil {
		return ""
	}
	return number(*v)
}

// number prints three significant digits, and all of those before the point.
func number(v float64) string {
	switch {
	case v >= 100 || v == float64(int64(v)):
		return strconv.FormatFloat(v, 'f', 0, 64)
	default:
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
}

// writeJSON writes the rows to a file, one a line, as the elements of an array.
func (t *table) writeJSON(path string) error {
	text := []byte("[\n")
	for i, r := range t.rows {
		line, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("write row %s: %w", r.Name, err)
		}
		if i > 0 {
			text = append(text, ",\n"...)
		}
		text = append(text, line...)
	}
	return os.WriteFile(path, append(text, "\n]\n"...), 0o666)
}
