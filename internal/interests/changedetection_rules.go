package interests

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/xmlschema"
)

// parts are what a watch looks at of a page, and what it leaves out.
type parts struct {
	Include  []string `json:"include_filters"`
	Subtract []string `json:"subtractive_selectors"`
	Extract  []string `json:"extract_text"`
	Ignore   []string `json:"ignore_text"`
}

// rules makes rules of them. What cannot be one is lost, and named.
func (p parts) rules(u *xmlschema.URD) (lost []string) {
	take := func(field string, values []string, into *[]xmlschema.Rule, rule func(string) (xmlschema.Rule, bool)) {
		for _, value := range values {
			value = strings.TrimSpace(value)
			if value == "" {
				continue
			}
			r, ok := rule(value)
			if check := (selection.Rule{Language: selection.Language(r.Language), Text: r.Text}); !ok || check.Check() != nil {
				lost = append(lost, fmt.Sprintf("%s %.80q", field, value))
				continue
			}
			*into = append(*into, r)
		}
	}
	take("include_filters", p.Include, &u.Select, elementRule)
	take("extract_text", p.Extract, &u.Select, lineRule)
	take("subtractive_selectors", p.Subtract, &u.Ignore, elementRule)
	take("ignore_text", p.Ignore, &u.Ignore, lineRule)
	return lost
}

// elementRule reads a selector of CSS, or an expression of XPath: one with a prefix, or that begins with a
// slash. Those of other languages are for documents that are no pages.
func elementRule(value string) (xmlschema.Rule, bool) {
	for _, prefix := range []string{"xpath:", "xpath1:"} {
		if expression, ok := strings.CutPrefix(value, prefix); ok {
			return xmlschema.Rule{Language: xmlschema.RuleXPath, Text: strings.TrimSpace(expression)}, true
		}
	}
	if value[0] == '/' {
		return xmlschema.Rule{Language: xmlschema.RuleXPath, Text: value}, true
	}
	for _, prefix := range []string{"json:", "jq:", "jqraw:"} {
		if strings.HasPrefix(value, prefix) {
			return xmlschema.Rule{}, false
		}
	}
	return xmlschema.Rule{Language: xmlschema.RuleCSS, Text: value}, true
}

// flagged is a regular expression between slashes, with flags.
var flagged = regexp.MustCompile(`^/(.+)/([a-z]*)$`)

// lineRule reads a regular expression between slashes, or text that a line has somewhere. What stands for a
// line is a block.
func lineRule(value string) (xmlschema.Rule, bool) {
	r := xmlschema.Rule{Language: xmlschema.RuleRegex}
	m := flagged.FindStringSubmatch(value)
	switch {
	case m == nil:
		r.Text = "(?i).*" + regexp.QuoteMeta(strings.Join(strings.Fields(value), " ")) + ".*"
	case strings.Trim(m[2], "imsu") != "":
		return r, false
	default:
		flags := strings.ReplaceAll(m[2], "u", "")
		if flags != "" {
			flags = "(?" + flags + ")"
		}
		r.Text = flags + m[1]
	}
	return r, true
}
