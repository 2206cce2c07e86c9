package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	"github.com/webrace/webrace/xmlschema"
)

// InterestFlags determine what matters to a URD: it is tried by the same flags as it is stored.
type InterestFlags struct {
	keywords  []string
	match     string
	threshold int
	selects   []string
	ignores   []string
	when      string
	nonfilter bool
	change    string
	remember  int
	ask       string
}

// Add adds the flags.
func (i *InterestFlags) Add(f *pflag.FlagSet) {
	f.StringArrayVarP(&i.keywords, "keyword", "k", nil, "tell of pages with this `WORD[:WEIGHT]`, 1 to 5, as often as needed")
	f.StringVar(&i.match, "match", xmlschema.MatchAny, "how many of the keywords a page must have: any or all")
	f.IntVar(&i.threshold, "threshold", xmlschema.DefaultThreshold, "how relevant a page must be to be told of, 0 to 100")
	f.StringArrayVar(&i.selects, "select", nil, "look at this part of a page alone, by `[css:|xpath:|jq:|sparql:|regex:]RULE`, as often as needed")
	f.StringArrayVar(&i.ignores, "ignore", nil, "leave this part of a page out, by `[css:|xpath:|jq:|regex:]RULE`, as often as needed")
	f.StringVar(&i.when, "when", "", "tell only if the number in the first --select meets this condition, as 'number < 100 or change < -0.05'")
	f.BoolVar(&i.nonfilter, "nonfilter", false, "tell of any change, whatever the words")
	f.StringVar(&i.change, "change", xmlschema.ChangeAdded, "what is matched when a page changes: what was added, the whole page, or pages when first seen (added, page, first)")
	f.IntVar(&i.remember, "remember", 0, "of how many versions of a page the text counts as known, 1 to 8 (default: 1 without keywords, with --select, or with --change page; otherwise 5)")
	f.StringVar(&i.ask, "ask", "", "tell only unless a model answers this `QUESTION` of what is new with no, where the pipeline has the stage ask")
}

// Asks reports whether the flags set when the owner is to be told, beside what is looked at.
func (i *InterestFlags) Asks() bool {
	return i.nonfilter || len(i.keywords) > 0 || i.when != "" || i.ask != "" || i.change != xmlschema.ChangeAdded || i.remember != 0
}

// Looks reports whether the flags set what of a page is looked at.
func (i *InterestFlags) Looks() bool { return len(i.selects)+len(i.ignores) > 0 }

// Fill gives a URD the interest that the flags set. Whether a page can meet it is not looked at: CheckInterest does.
func (i *InterestFlags) Fill(urd *xmlschema.URD) (err error) {
	if i.match != xmlschema.MatchAny && i.match != xmlschema.MatchAll {
		return fmt.Errorf("--match %s: it is any or all", i.match)
	}
	if i.remember < 0 || i.remember > xmlschema.MostRemembered {
		return fmt.Errorf("--remember %d: it is a whole number from 1 to %d", i.remember, xmlschema.MostRemembered)
	}
	keywords, err := ParseKeywords(i.keywords)
	if err != nil {
		return err
	}
	if len(keywords) == 0 && i.match != xmlschema.MatchAny {
		return fmt.Errorf("--match %s is about keywords: --keyword WORD says which", i.match)
	}
	if len(keywords) > 0 {
		urd.Keywords = xmlschema.NewKeywords(keywords...)
		urd.Keywords.Match, urd.Keywords.Threshold = i.match, i.threshold
	}
	if i.nonfilter {
		urd.ProcessType = xmlschema.ProcessNonFilter
	}
	if urd.Select, err = ParseRules("--select", i.selects); err != nil {
		return err
	}
	if urd.Ignore, err = ParseRules("--ignore", i.ignores); err != nil {
		return err
	}
	urd.Change, urd.Remember = i.change, i.remember
	if urd.Ask = xmlschema.NormalQuestion(i.ask); urd.Ask == "" && i.ask != "" {
		return errors.New("--ask is empty")
	}
	return SetWhen(urd, i.when)
}
