package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/webrace/webrace/internal/annotate"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/xmlschema"
)

// ParseKeywords reads WORD:WEIGHT, or WORD=WEIGHT; a weight that is left out is the default one. It refuses keywords that
// no document can be matched with.
func ParseKeywords(args []string) ([]xmlschema.Keyword, error) {
	var keywords []xmlschema.Keyword
	for _, arg := range args {
		k := xmlschema.Keyword{Key: arg, Weight: xmlschema.DefaultWeight, Match: xmlschema.MatchWord}
		if i := strings.LastIndexAny(arg, ":="); i >= 0 {
			if weight, err := strconv.Atoi(arg[i+1:]); err == nil {
				k.Key, k.Weight = arg[:i], weight
			}
		}
		if k.Key == "" || k.Weight < 1 || k.Weight > 5 {
			return nil, fmt.Errorf("keyword %q: write WORD or WORD:WEIGHT with a weight of 1 (not important) to 5", arg)
		}
		keywords = append(keywords, k)
	}
	return keywords, checkInterest(&xmlschema.URD{Keywords: xmlschema.NewKeywords(keywords...)})
}

// checkInterest refuses keywords that no document can be matched with.
func checkInterest(u *xmlschema.URD) error {
	_, _, err := match.Compile(annotate.Profile(u))
	return errors.Unwrap(err) // without the name of the profile
}

// Interest says in a few words what a URD is about.
func Interest(u *xmlschema.URD) string {
	about := keywordsOf(u)
	for _, r := range u.Rules() {
		about += "; " + r.String()
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
