package simulate

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// Table writes the results of several policies for a person.
func Table(w io.Writer, names []string, results []Result) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "policy\tvisits\twasted\turgency\tURDs\tserved\tfresh\tage\tlatest, in timings\t")
	for i, r := range results {
		for u := len(r.ByUrgency) - 1; u >= 0; u-- {
			g := r.ByUrgency[u]
			fmt.Fprintf(out, "%s\t%d\t%.1f %%\t%d\t%d\t%d\t%.1f %%\t%v\t%.2f\t\n", names[i], r.Visits,
				100*float64(r.Wasted)/float64(max(r.Visits, 1)), u+1, g.Requests, g.Served, 100*g.Freshness, g.Age.Round(time.Minute), g.Late)
		}
	}
	return out.Flush()
}
