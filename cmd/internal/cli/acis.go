package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// PrintACIs shows what the owner of a URD was told, for a person, the most relevant first.
func PrintACIs(ctx context.Context, w io.Writer, store *control.Store, urd string) error {
	var told []control.ACI
	for aci, err := range store.ACIs(ctx, control.Filter{URD: urd}) {
		if err != nil {
			return err
		}
		told = append(told, aci)
	}
	if len(told) == 0 {
		fmt.Fprintf(w, "nothing to tell about URD %s\n", urd)
	}
	SortByRelevance(told)
	for _, aci := range told {
		PrintACI(w, aci.ACI)
	}
	return nil
}

// SortByRelevance puts the most relevant first, and leaves equal ones in the order of their arrival.
func SortByRelevance(acis []control.ACI) {
	slices.SortStableFunc(acis, func(a, b control.ACI) int { return cmp.Compare(b.Relevance, a.Relevance) })
}

// PrintACI shows one annotation: how relevant what is, and why.
func PrintACI(w io.Writer, a *xmlschema.ACI) {
	title := a.Title
	if title == "" {
		title = "(no title)"
	}
	fmt.Fprintf(w, "%3d  %s\n     %s\n", a.Relevance, title, a.URI)
	if a.Summary != "" {
		fmt.Fprintf(w, "     %s\n", a.Summary)
	}
	if why := Why(a.Explain); why != "" {
		fmt.Fprintf(w, "     why: %s\n", why)
	}
	printAlso(w, a.Also)
}

// mostAlso is how many mirrors are shown of an annotation.
const mostAlso = 3

func printAlso(w io.Writer, also xmlschema.Also) {
	shown := also.Documents[:min(len(also.Documents), mostAlso)]
	for _, m := range shown {
		fmt.Fprintf(w, "     also: %s\n", m.URI)
	}
	if more := also.Count - len(shown); more > 0 {
		fmt.Fprintf(w, "     also: %d more\n", more)
	}
}

// Why says in a line how a relevance came about.
func Why(x *xmlschema.Explain) string {
	if x == nil {
		return ""
	}
	var parts []string
	for _, k := range x.Keywords {
		hits := k.Title + k.Heading + k.Body + k.Navigation
		if hits == 0 {
			continue
		}
		part := fmt.Sprintf("%s ×%d (weight %d", k.Key, hits, k.Weight)
		if k.Title > 0 {
			part += ", in the title"
		} else if k.Heading > 0 {
			part += ", in a heading"
		}
		parts = append(parts, part+")")
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("%s; threshold %d", strings.Join(parts, ", "), x.Threshold)
}

// WriteACIs writes annotations as one XML document, and reports the first error of the sequence.
func WriteACIs(w io.Writer, acis iter.Seq2[control.ACI, error]) error {
	var failed error
	_, err := xmlschema.WriteACIs(w, func(yield func(*xmlschema.ACI) bool) {
		for aci, err := range acis {
			if err != nil {
				failed = err
				return
			}
			if !yield(aci.ACI) {
				return
			}
		}
	})
	if failed != nil {
		return failed
	}
	return err
}
