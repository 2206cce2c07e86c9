package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/xmlschema"
)

// ParseKeywords reads WORD:WEIGHT, or WORD=WEIGHT; a weight that is left out is the default one. It refuses keywords
// that no document can be matched with.
func ParseKeywords(args []string) ([]xmlschema.Keyword, error) {
	var keywords []xmlschema.Keyword
	for _, arg := range args {
		k := xmlschema.Keyword{Key: arg, Weight: xmlschema.DefaultWeight, Match: xmlschema.MatchWord}
		if i := strings.LastIndexAny(arg, ":="); i >= 0 {
			if weight, err := strconv.Atoi(arg[i+1:]); err == nil {
				k.Key, k.Weight = arg[:i], weight
			}
		}
		if k.Key == "" || strings.HasSuffix(arg, ":") || strings.HasSuffix(arg, "=") || k.Weight < 1 || k.Weight > 5 {
			return nil, fmt.Errorf("keyword %q: write WORD or WORD:WEIGHT with a weight of 1 (not important) to 5", arg)
		}
		keywords = append(keywords, k)
	}
	only := xmlschema.NewKeywords(keywords...)
	only.Threshold = 0 // what they have to pass is not known here
	_, err := CheckInterest(&xmlschema.URD{Keywords: only})
	return keywords, err
}

// CheckInterest refuses an interest that no document can meet, and returns what is probably not meant of one that it
// does not refuse, beside what the URD's Advice returns.
func CheckInterest(u *xmlschema.URD) (warnings []string, err error) {
	found, err := interestWarnings(u)
	if err != nil {
		return nil, err
	}
	for _, w := range found {
		if w.Useless {
			return nil, errors.New(w.String())
		}
		warnings = append(warnings, w.String())
	}
	return warnings, nil
}

// interestWarnings returns what is wrong with an interest beside what the URD's Advice returns. The error is of one
// that cannot be looked for at all.
func interestWarnings(u *xmlschema.URD) ([]match.Warning, error) {
	_, found, err := match.Compile(annotate.Profile(u))
	if err != nil {
		return nil, cmp.Or(errors.Unwrap(err), err) // without the name of the profile, if it can be told apart
	}
	advised := len(u.Advice()) > 0
	return slices.DeleteFunc(found, func(w match.Warning) bool { return advised && w.Keyword == "" && !w.Useless }), nil
}

// Interest describes in a few words what a URD is about.
func Interest(u *xmlschema.URD) string {
	about := keywordsOf(u)
	for _, r := range u.Rules() {
		about += "; " + r.String()
	}
	if r := u.When(); r != nil {
		about += "; when " + r.When
	}
	if u.Ask != "" {
		about += "; ask " + strconv.Quote(u.Ask)
	}
	return about
}

// InterestInFull adds whether all of the keywords are wanted, and what is told when a page changes.
func InterestInFull(u *xmlschema.URD) string {
	about := Interest(u)
	if u.Keywords.Match == xmlschema.MatchAll && strings.Contains(keywordsOf(u), ", ") {
		about = "all of " + about
	}
	if u.Change != "" && u.Change != xmlschema.ChangeAdded {
		about += "; change " + u.Change
	}
	if u.Remember > 0 {
		about += fmt.Sprintf("; remember %d", u.Remember)
	}
	return about
}

func keywordsOf(u *xmlschema.URD) string {
	if u.AnyChange() {
		return "any change"
	}
	var keys []string
	for k := range u.Keywords.Positive() {
		keys = append(keys, fmt.Sprintf("%s:%d", k.Key, k.Weight))
	}
	return strings.Join(keys, ", ")
}
