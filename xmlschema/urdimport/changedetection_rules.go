package urdimport

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
	take("ignore_text", p.Ignore, &u.Ignore, wholeLineRule)
	return lost
}

// elementRule reads a selector of CSS, or an expression of XPath: one with a prefix, or that begins with a
// slash; or for JSON, with a prefix, a program of jq or a path of JSONPath.
func elementRule(value string) (xmlschema.Rule, bool) {
	for _, prefix := range []string{"xpath:", "xpath1:"} {
		if expression, ok := strings.CutPrefix(value, prefix); ok {
			return xmlschema.Rule{Language: xmlschema.RuleXPath, Text: strings.TrimSpace(expression)}, true
		}
	}
	if value[0] == '/' {
		return xmlschema.Rule{Language: xmlschema.RuleXPath, Text: value}, true
	}
	for _, prefix := range []string{"jq:", "jqraw:"} {
		if program, ok := strings.CutPrefix(value, prefix); ok {
			return xmlschema.Rule{Language: xmlschema.RuleJQ, Text: strings.TrimSpace(program)}, true
		}
	}
	if path, ok := strings.CutPrefix(value, "json:"); ok {
		program, ok := jqOfJSONPath(strings.TrimSpace(path))
		return xmlschema.Rule{Language: xmlschema.RuleJQ, Text: program}, ok
	}
	return xmlschema.Rule{Language: xmlschema.RuleCSS, Text: value}, true
}

// jsonPathStep is a step of JSONPath (RFC 9535) that jq has as well: a name or number, or all there are, and of the
// first also at any depth.
var jsonPathStep = regexp.MustCompile(`^(?:(\.\.?)(?:([\p{L}_][\p{L}\p{N}_-]*)|(\*))|\[(?:(-?\d+)|(\*)|'([^'\\]*)'|"([^"\\]*)")\])`)

// jqOfJSONPath returns the program of jq that means what a path does: one that finds nothing is no error.
func jqOfJSONPath(path string) (string, bool) {
	rest := strings.TrimPrefix(path, "$")
	if rest != "" && rest[0] != '.' && rest[0] != '[' {
		rest = "." + rest
	}
	program := "."
	for rest != "" {
		m := jsonPathStep.FindStringSubmatch(rest)
		if m == nil {
			return "", false
		}
		rest = rest[len(m[0]):]
		name := m[2] + m[6] + m[7]
		deep := m[1] == ".."
		switch {
		case deep:
			program += " | .."
		}
		switch {
		case m[3] != "" || m[5] != "":
			program += " | .[]?"
		case m[4] != "":
			program += " | .[" + m[4] + "]?"
		case deep: // where there is none, there is nothing
			program += fmt.Sprintf(" | select(type == \"object\" and has(%q)) | .[%[1]q]", name)
		default:
			program += fmt.Sprintf(" | .[%q]?", name)
		}
	}
	return strings.TrimPrefix(program, ". | "), true
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

// wholeLineRule reads the same for lines that are left out whole, whatever the case.
func wholeLineRule(value string) (xmlschema.Rule, bool) {
	text, flags := regexp.QuoteMeta(strings.Join(strings.Fields(value), " ")), "i"
	if m := flagged.FindStringSubmatch(value); m != nil {
		if text, flags = m[1], strings.ReplaceAll(m[2], "u", ""); flags == "" {
			flags = "i" // as there
		}
	}
	if strings.Trim(flags, "ims") != "" {
		return xmlschema.Rule{Language: xmlschema.RuleRegex}, false
	}
	return xmlschema.Rule{Language: xmlschema.RuleRegex, Text: fmt.Sprintf("(?m)^.*(?%s:%s).*$", flags, text)}, true
}
