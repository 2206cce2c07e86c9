package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/xmlschema"
)

// ParseRules reads what a flag names of a page: a rule with its language before it, css:, xpath:, jq:, sparql: or
// regex:, or without, if it is a selector of CSS.
func ParseRules(flag string, args []string) (rules []xmlschema.Rule, err error) {
	for _, arg := range args {
		r := selection.Rule{Ignore: flag == "--ignore", Language: selection.CSS, Text: arg}
		for _, language := range selection.Languages {
			if text, ok := strings.CutPrefix(arg, string(language)+":"); ok {
				r.Language, r.Text = language, text
			}
		}
		if err := r.Check(); err != nil {
			return nil, fmt.Errorf("%s: %s \"%s\" cannot be looked for: %w%s", flag, r.Language, r.Text, err, languageMeant(r))
		}
		rules = append(rules, xmlschema.Rule{Language: string(r.Language), Text: r.Text})
	}
	return rules, nil
}

// languageMeant returns a hint at the language that a rule probably names which was taken for a selector of CSS.
func languageMeant(r selection.Rule) string {
	name, _, named := strings.Cut(r.Text, ":")
	if !named || r.Language != selection.CSS {
		return ""
	}
	var languages []string
	for _, language := range selection.Languages {
		languages = append(languages, string(language))
	}
	if near := suggest.Nearest(name, languages); near != "" {
		return fmt.Sprintf(" (did you mean %s:%s?)", near, strings.TrimPrefix(r.Text, name+":"))
	}
	return ""
}

// SetWhen gives the first rule that selects a condition on its number; an empty one is none.
func SetWhen(u *xmlschema.URD, when string) error {
	if when == "" {
		return nil
	}
	if len(u.Select) == 0 {
		return errors.New("--when is on the number in a --select: say which")
	}
	if err := annotate.CheckWhen(when); err != nil {
		return fmt.Errorf("--when: %w", err)
	}
	u.Select[0].When = when
	return nil
}
