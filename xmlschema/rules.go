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
	RuleCSS    = string(selection.CSS)    // a list of selectors (Selectors Level 4)
	RuleXPath  = string(selection.XPath)  // an expression that names nodes (XPath 1.0)
	RuleJQ     = string(selection.JQ)     // a program that chooses values of JSON, or computes texts of it
	RuleSPARQL = string(selection.SPARQL) // a query, or a pattern alone, of what a document states as RDF (SPARQL 1.1); it only selects
	RuleRegex  = string(selection.Regex)  // a regular expression (RE2)
	RulePart   = string(selection.Named)  // main: what a reader of the page came for; it only selects
)

var ruleLanguages = []string{RuleCSS, RuleXPath, RuleJQ, RuleSPARQL, RuleRegex, RulePart}

// Rule names part of a page.
type Rule struct {
	Language string // one of the Rule constants; written as the attribute of this name
	Text     string // at most 1024 characters
	// When is a condition on the number in what a select rule selects, such as "number < 100"; empty for none. At most one
	// rule of a request has one. What it may hold is checked where expressions are known.
	When string
}

// When returns the rule that selects the number on which the request has a condition; nil for none.
func (u *URD) When() *Rule {
	for i := range u.Select {
		if u.Select[i].When != "" {
			return &u.Select[i]
		}
	}
	return nil
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
		before := u.When()
		u.Select = append(u.Select, bindRule(kid))
		if before != nil && u.Select[len(u.Select)-1].When != "" {
			kid.at(kid.attr("when"), "a request has one condition on a number: the other is one of a <urd> of its own", "")
		}
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
		r.Language, r.Text = a.name, a.value
		switch {
		case trim(a.value) == "":
			b.at(a, a.name+" is empty", "")
		case utf8.RuneCountInString(a.value) > selection.LongestRule:
			b.at(a, fmt.Sprintf("%s is longer than %d characters", a.name, selection.LongestRule), "")
		default:
			rule := selection.Rule{Ignore: b.n.name == "ignore", Language: selection.Language(a.name), Text: a.value}
			if err := rule.Check(); err != nil {
				b.at(a, fmt.Sprintf("%s \"%s\" cannot be looked for: %v", a.name, a.value, err), "")
			}
		}
	}
	if b.n.name == "select" {
		r.When = bindWhen(b)
	}
	languages := strings.Join(ruleLanguages, ", ")
	if b.n.name == "ignore" {
		languages = strings.NewReplacer(RuleSPARQL+", ", "", ", "+RulePart, "").Replace(languages) // which only select
	}
	switch {
	case len(given) > 1:
		b.at(given[1], fmt.Sprintf("<%s> has more than one of %s: each is a rule of its own", b.n.name, languages), "")
	case len(given) == 0:
		b.problem(fmt.Sprintf("<%s> has none of the attributes %s", b.n.name, languages))
	}
	b.empty()
	return r
}

// bindWhen reads the condition of a rule on the number in what it selects.
func bindWhen(b *binding) string {
	a := b.attr("when")
	switch {
	case a == nil:
		return ""
	case trim(a.value) == "":
		b.at(a, "when is empty", "")
	case utf8.RuneCountInString(a.value) > selection.LongestRule:
		b.at(a, fmt.Sprintf("when is longer than %d characters", selection.LongestRule), "")
	}
	return a.value
}

func addRules(parent *etree.Element, u *URD) {
	if !u.selects() {
		return
	}
	e := parent.CreateElement("selection")
	for _, r := range u.Select {
		rule := e.CreateElement("select")
		rule.CreateAttr(orElse(r.Language, RuleCSS), r.Text)
		if r.When != "" {
			rule.CreateAttr("when", r.When)
		}
	}
	for _, r := range u.Ignore {
		e.CreateElement("ignore").CreateAttr(orElse(r.Language, RuleCSS), r.Text)
	}
}

func (r *tableReader) rules(node int, u *URD) {
	for kid := r.next(node, cellFirst); kid != 0; kid = r.next(kid, cellNext) {
		rule := Rule{}
		r.attributes(kid, func(name string, value []byte) {
			if name == "when" {
				rule.When = string(value)
				return
			}
			rule.Language, rule.Text = name, string(value)
		})
		if r.name(kid) == "ignore" {
			u.Ignore = append(u.Ignore, rule)
		} else {
			u.Select = append(u.Select, rule)
		}
	}
}
