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

// ParseKeywords reads WORD:WEIGHT; a weight that is left out is the default one. It refuses keywords that
// no document can be matched with.
func ParseKeywords(args []string) ([]xmlschema.Keyword, error) {
	var keywords []xmlschema.Keyword
	for _, arg := range args {
		k := xmlschema.Keyword{Key: arg, Weight: xmlschema.DefaultWeight, Match: xmlschema.MatchWord}
		if word, number, found := cutLast(arg, ":"); found {
			if weight, err := strconv.Atoi(number); err == nil {
				k.Key, k.Weight = word, weight
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

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
