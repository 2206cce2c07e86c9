package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// mostACIs is how many annotations a command shows that was not asked for them.
const mostACIs = 10

// PrintNews shows what owners were told since the annotation of a number, for a person: the most relevant, and where
// the others are. That there is nothing new is not known, and not said, of a URD whose start gave no answer.
func PrintNews(ctx context.Context, w io.Writer, store *control.Store, urds []*xmlschema.URD, after int64, unanswered func(*xmlschema.URD) bool) error {
	for _, urd := range urds {
		var news []control.ACI
		before := 0
		for aci, err := range store.ACIs(ctx, control.Filter{URD: urd.ID}) {
			switch {
			case err != nil:
				return err
			case aci.Seq > after:
				news = append(news, aci)
			default:
				before++
			}
		}
		if len(news) > 0 || !unanswered(urd) {
			printNews(Prose(w), urd, news, before)
		}
	}
	return nil
}

func printNews(w io.Writer, urd *xmlschema.URD, news []control.ACI, before int) {
	list := "webrace-store aci list --owner " + urd.Owner
	if len(news) == 0 {
		told := ""
		if before > 0 {
			told = fmt.Sprintf("; of %s they were told before: %s", wording.Count(before, "page"), list)
		}
		fmt.Fprintf(w, "nothing new for %s at %s%s\n", urd.Owner, urd.URI, told)
		return
	}
	SortByRelevance(news)
	for _, aci := range news[:min(len(news), mostACIs)] {
		PrintACI(w, aci.ACI)
	}
	if more := len(news) - mostACIs; more > 0 {
		fmt.Fprintf(w, "     … and %d more: %s\n", more, list)
	}
}

// SortByRelevance puts the most relevant first, and leaves equal ones in the order of their arrival.
func SortByRelevance(acis []control.ACI) {
	slices.SortStableFunc(acis, func(a, b control.ACI) int { return cmp.Compare(b.Relevance, a.Relevance) })
}

// PrintACI shows one annotation: how relevant what is, and why.
func PrintACI(w io.Writer, a *xmlschema.ACI) {
	w = Prose(w)
	title := cmp.Or(a.Title, "(no title)")
	fmt.Fprintf(w, "%3d  %s\n     %s\n", a.Relevance, title, a.URI)
	if a.Summary != "" {
		fmt.Fprintf(w, "     %s\n", a.Summary)
	}
	if a.Judgement != nil {
		fmt.Fprintf(w, "     %s\n", a.Judgement)
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

// Why describes in a line how a relevance came about.
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
