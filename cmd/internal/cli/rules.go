package cli

import (
	"fmt"
	"strings"

	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/xmlschema"
)

// ParseRules reads what a flag names of a page: a rule with its language before it, css:, xpath: or regex:,
// or without, if it is a selector of CSS.
func ParseRules(flag string, args []string) (rules []xmlschema.Rule, err error) {
	for _, arg := range args {
		r := selection.Rule{Language: selection.CSS, Text: arg}
		for _, language := range selection.Languages {
			if text, ok := strings.CutPrefix(arg, string(language)+":"); ok {
				r.Language, r.Text = language, text
			}
		}
		if err := r.Check(); err != nil {
			return nil, fmt.Errorf("%s: %s \"%s\" cannot be looked for: %w", flag, r.Language, r.Text, err)
		}
		rules = append(rules, xmlschema.Rule{Language: string(r.Language), Text: r.Text})
	}
	return rules, nil
}
