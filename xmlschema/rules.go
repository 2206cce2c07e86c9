package xmlschema

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/beevik/etree"

	"github.com/webrace/webrace/internal/selection"
)

// The languages of a [Rule].
const (
	RuleCSS   = string(selection.CSS)   // a list of selectors (Selectors Level 4)
	RuleXPath = string(selection.XPath) // an expression that names nodes (XPath 1.0)
	RuleRegex = string(selection.Regex) // a regular expression (RE2)
)

var ruleLanguages = []string{RuleCSS, RuleXPath, RuleRegex}

// Rule names part of a page.
type Rule struct {
	Language string // one of the Rule constants; written as the attribute of this name
	Text     string // at most 1024 characters
}

// maxRules is the most rules of a request.
const maxRules = selection.MostRules

func (u *URD) selects() bool { return len(u.Select)+len(u.Ignore) > 0 }

// Rules returns what the request looks at and leaves out, as rules to be compiled.
func (u *URD) Rules() []selection.Rule {
	var all []selection.Rule
	for _, r := range u.Select {
		all = append(all, selection.Rule{Language: selection.Language(r.Language), Text: r.Text})
	}
	for _, r := range u.Ignore {
		all = append(all, selection.Rule{Ignore: true, Language: selection.Language(r.Language), Text: r.Text})
	}
	return all
}

func bindSelection(b *binding, u *URD) {
	for _, kid := range b.children("select") {
		u.Select = append(u.Select, bindRule(kid))
	}
	for _, kid := range b.children("ignore") {
		u.Ignore = append(u.Ignore, bindRule(kid))
	}
	switch n := len(u.Select) + len(u.Ignore); {
	case n == 0:
		b.problem(fmt.Sprintf("<%s> has no <select> and no <ignore>", b.n.name))
	case n > maxRules:
		b.problem(fmt.Sprintf("<%s> has more than %d rules", b.n.name, maxRules))
	}
	b.done()
}

func bindRule(b *binding) Rule {
	var r Rule
	var given []*attribute
	for _, language := range ruleLanguages {
		if a := b.attr(language); a != nil {
			given = append(given, a)
		}
	}
	for _, a := range given {
		r = Rule{a.name, a.value}
		switch {
		case trim(a.value) == "":
			b.at(a, a.name+" is empty", "")
		case utf8.RuneCountInString(a.value) > selection.LongestRule:
			b.at(a, fmt.Sprintf("%s is longer than %d characters", a.name, selection.LongestRule), "")
		default:
			rule := selection.Rule{Language: selection.Language(a.name), Text: a.value}
			if err := rule.Check(); err != nil {
				b.at(a, fmt.Sprintf("%s \"%s\" cannot be looked for: %v", a.name, a.value, err), "")
			}
		}
	}
	languages := strings.Join(ruleLanguages, ", ")
	switch {
	case len(given) > 1:
		b.at(given[1], fmt.Sprintf("<%s> has more than one of %s: each is a rule of its own", b.n.name, languages), "")
	case len(given) == 0:
		b.problem(fmt.Sprintf("<%s> has none of the attributes %s", b.n.name, languages))
	}
	b.empty()
	return r
}

func addRules(parent *etree.Element, u *URD) {
	if !u.selects() {
		return
	}
	e := parent.CreateElement("selection")
	for _, r := range u.Select {
		e.CreateElement("select").CreateAttr(orElse(r.Language, RuleCSS), r.Text)
	}
	for _, r := range u.Ignore {
		e.CreateElement("ignore").CreateAttr(orElse(r.Language, RuleCSS), r.Text)
	}
}

func (r *tableReader) rules(node int, u *URD) {
	for kid := r.next(node, cellFirst); kid != 0; kid = r.next(kid, cellNext) {
		rule := Rule{}
		r.attributes(kid, func(name string, value []byte) {
			rule = Rule{name, string(value)}
		})
		if r.name(kid) == "ignore" {
			u.Ignore = append(u.Ignore, rule)
		} else {
			u.Select = append(u.Select, rule)
		}
	}
}
