// Package selection takes out of a document the part that its watcher wants to look at: what rules select,
// in CSS, XPath, jq, SPARQL or regular expressions, or by the name of the main part, without what others ignore.
//
// Selectors of CSS and XPath choose elements: several of them all that one chooses, each once, in the order of the
// document. Those of jq choose values of JSON, with their paths, or compute texts of it; documents of other types have
// nothing for them, as those of JSON have nothing for CSS and XPath. Those of SPARQL ask what a document of any type
// states as RDF: each solution is a block of text, behind what the others choose. The main part of a page is what
// [article.Find] finds; of a page without one, and of what is no page, all of it. Regular expressions (RE2) then look
// at the text of these, or of the whole document, block by block, with white space collapsed: of what they select,
// every stretch that matches is a block, and what they ignore is cut out. Whatever the order of the rules, ignoring
// goes before selecting.
//
// The part is cut into blocks and fields by the same code as the whole, and a heading is one though it is
// selected alone. What was apart in the document stays apart: no two words become one. A rule that matches
// nothing is no error. If none that selects matches, the part has no text.
//
// Rules and documents are both those of strangers. So neither makes anything panic, and the work on a
// document is bounded: by its size, and by a number of steps that all rules share.
package selection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/net/html"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/normalform"
	"github.com/webrace/webrace/internal/sparql"
	"github.com/webrace/webrace/internal/xpath"
)

// Language is what a rule is written in.
type Language string

const (
	CSS    Language = "css"
	XPath  Language = "xpath"
	JQ     Language = "jq"
	SPARQL Language = "sparql"
	Regex  Language = "regex"
	Named  Language = "part" // the name of a part: main
)

// Languages are all of them.
var Languages = []Language{CSS, XPath, JQ, SPARQL, Regex, Named}

// Rule chooses part of a document, to be looked at or ignored.
type Rule struct {
	Ignore   bool
	Language Language
	Text     string
}

// String returns the rule as a person reads it.
func (r Rule) String() string {
	verb := "select"
	if r.Ignore {
		verb = "ignore"
	}
	return verb + " " + string(r.Language) + ` "` + r.Text + `"`
}

const (
	// MostRules is how many rules a selection may have, and LongestRule how many characters a rule.
	MostRules   = 64
	LongestRule = 1024
)

// ErrBudget is the error of rules that need more steps on a document than they may take.
var ErrBudget = errors.New("the rules of the owner, those of all URDs together, need more steps on this document than an owner may take")

// ErrUnread is the error of a rule in SPARQL on a document that cannot be read as RDF: what is missing in it is not
// taken for what is not said.
var ErrUnread = errors.New("what the document says as RDF cannot be read")

// maxSteps is what all rules of an owner together may spend on a document: about half a second of work. What is kept
// meanwhile takes steps as well, so it bounds the memory too.
const maxSteps = 1 << 24

// Budget is the steps that an owner may have taken on a document, by all of their rules together. They are counted,
// and not timed: the same rules come as far on the same document each time.
type Budget struct{ left int }

// NewBudget returns what an owner has for a document.
func NewBudget() *Budget { return &Budget{maxSteps} }

// Left returns the steps that are left; less than 0 if more were wanted.
func (b *Budget) Left() int { return b.left }

// Spend takes steps for what else is done for the owner, and reports whether there were as many. If not, nothing is
// done for them any more.
func (b *Budget) Spend(steps int) bool {
	b.left -= steps
	return b.left >= 0
}

// Selection is a compiled set of rules. It may be used by many goroutines at once.
type Selection struct {
	rules  []compiled
	kept   []*pattern
	cut    []*pattern
	nodes  bool // some rule chooses elements or values
	chosen bool // some rule selects elements or values
	asks   bool // some rule asks for solutions
	main   bool // some rule selects the main part
	key    string
}

// compiled is a rule in the form of its language.
type compiled struct {
	Rule
	css    []*complex
	scoped bool // css has :scope
	xpath  *xpath.Expression
	jq     *jqProgram
	sparql *sparql.Query
	topic  *sparql.Query // of sparql
	regex  *pattern
}

// Check returns what keeps a rule from being one.
func (r Rule) Check() error {
	_, err := r.compile()
	return err
}

func (r Rule) compile() (c compiled, err error) {
	c.Rule = r
	switch {
	case strings.TrimSpace(r.Text) == "":
		return c, errors.New("it is empty")
	case utf8.RuneCountInString(r.Text) > LongestRule:
		return c, fmt.Errorf("it is longer than %d characters", LongestRule)
	}
	form := normalform.String(r.Text) // as the texts that are compared with it
	switch r.Language {
	case CSS:
		c.css, c.scoped, err = parseCSS(r.Text)
	case XPath:
		c.xpath, err = parseXPath(form)
	case JQ:
		c.jq, err = parseJQ(form)
	case SPARQL:
		if r.Ignore {
			return c, errors.New("solutions are no part of a page that could be left out: the rule that selects them says which it wants, by FILTER or MINUS")
		}
		if c.sparql, err = parseSPARQL(r.Text); err == nil {
			c.topic = c.sparql.Topic()
		}
	case Regex:
		if c.regex, err = parseRegex(form); err != nil && form != r.Text { // it may be about nothing but what the form leaves out
			c.regex, err = parseRegex(r.Text)
		}
	case Named:
		err = parseNamed(r)
	default:
		err = fmt.Errorf("%q is not css, xpath, jq, sparql, regex or part", r.Language)
	}
	return c, err
}

// Compile makes rules ready. Without any it returns nil, which selects everything.
func Compile(rules []Rule) (*Selection, error) {
	if len(rules) == 0 {
		return nil, nil
	}
	if len(rules) > MostRules {
		return nil, fmt.Errorf("compile selection: %d rules are more than %d", len(rules), MostRules)
	}
	all := make([]compiled, len(rules))
	for i, r := range rules {
		var err error
		if all[i], err = r.compile(); err != nil {
			return nil, fmt.Errorf("compile %s: %w", r, err)
		}
	}
	return assemble(all), nil
}

// assemble makes a selection of rules that are compiled.
func assemble(rules []compiled) *Selection {
	s := &Selection{rules: rules}
	var written []Rule
	for _, r := range rules {
		switch {
		case r.Language == SPARQL:
			s.asks = true
		case r.Language != Regex:
			s.nodes = true
			s.chosen = s.chosen || !r.Ignore
			s.main = s.main || r.Language == Named
		case r.Ignore:
			s.cut = append(s.cut, r.regex)
		default:
			s.kept = append(s.kept, r.regex)
		}
		written = append(written, r.Rule)
	}
	s.key = Key(written)
	return s
}

// Key identifies a set of rules: it is the same for the same rules in another order.
func Key(rules []Rule) string {
	var all []string
	for _, r := range rules {
		all = append(all, fmt.Sprintf("%t %s %q", r.Ignore, r.Language, r.Text))
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "\n")
}

// Key identifies the rules, as the function does; it is empty for those that select everything.
func (s *Selection) Key() string {
	if s == nil {
		return ""
	}
	return s.key
}

// ID identifies rules, or all of the text (""), by their key, in what visits remember of parts that were absent.
func ID(key string) uint64 { return xxhash.Sum64String(key) }

// Rules returns the rules.
func (s *Selection) Rules() (all []Rule) {
	for _, r := range s.rules {
		all = append(all, r.Rule)
	}
	return all
}

// AsksForData reports whether some rule asks what a document states as RDF, which also one without text may do.
func (s *Selection) AsksForData() bool { return s != nil && s.asks }

// Part is what was selected of a document.
type Part struct {
	Text      *webrace.Text // never nil
	Unmatched []Rule        // those that matched nothing
	Pieces    []Piece       // what each of several rules that select finds, of [Selection.Look]
	Unmet     []Rule        // those in SPARQL of which the document states what they are about, and nothing that meets them
	Problems  []string      // where rules in SPARQL ask: which parts of a page could not be read as RDF, with line and column
	NoMain    bool          // a rule selects the main part of a page that has none: it is all of it
}

// Remarks returns what who wrote the rules may not expect of how they fare, one sentence each.
func (p *Part) Remarks() (remarks []string) {
	for _, r := range p.Unmatched {
		remarks = append(remarks, fmt.Sprintf("%s matches nothing", r))
	}
	for _, r := range p.Unmet {
		remarks = append(remarks, fmt.Sprintf("%s finds what it is about, and nothing that meets it", r))
	}
	for _, problem := range p.Problems {
		remarks = append(remarks, "what the page says as RDF cannot all be read: "+problem)
	}
	if p.NoMain && len(p.Text.Blocks) > 0 {
		remarks = append(remarks, fmt.Sprintf("%s takes all of the page, which has no main part", Rule{Language: Named, Text: mainPart}))
	}
	return remarks
}

// Apply returns the part of a document that the rules select, within a budget that their owner's other rules may
// share. An error is that of the context, [ErrBudget], [ErrUnread], or [htmltree.ErrTooLarge].
func (s *Selection) Apply(ctx context.Context, d *Document, budget *Budget) (*Part, error) {
	if s == nil {
		return &Part{Text: d.text}, nil
	}
	w := &work{Selection: s, budget: &xpath.Budget{Context: ctx, Left: budget.left}, matched: make([]bool, len(s.rules)), unmet: make([]bool, len(s.rules))}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer func() { budget.left = w.budget.Left }()
	text := d.text
	var unread error
	err := xpath.Evaluate(func() {
		if s.nodes {
			text, unread = w.elements(d)
		}
		if unread == nil && s.asks {
			if !s.chosen {
				text = &webrace.Text{}
			}
			text, unread = w.solutions(d, text)
		}
		if unread == nil && len(s.kept)+len(s.cut) > 0 {
			text = w.stretches(text)
		}
	})
	switch {
	case errors.Is(err, xpath.ErrBudget) && w.running != nil:
		err = fmt.Errorf("%s: %w", w.running, ErrBudget)
	case errors.Is(err, xpath.ErrBudget):
		err = ErrBudget
	case err == nil:
		err = unread
	}
	if err != nil {
		return nil, fmt.Errorf("select from document: %w", err)
	}
	if d.text.Cut && !text.Cut { // what it was made of was cut
		cut := *text
		cut.Cut, text = true, &cut
	}
	part := &Part{Text: text, NoMain: w.noMain}
	if s.asks {
		part.Problems = d.problems
	}
	for i, r := range s.rules {
		switch {
		case w.matched[i]:
		case w.unmet[i]:
			part.Unmet = append(part.Unmet, r.Rule)
		default:
			part.Unmatched = append(part.Unmatched, r.Rule)
		}
	}
	if len(text.Blocks) == 0 && len(part.Unmet) > 0 {
		part.Text = &webrace.Text{Unmet: true, Cut: text.Cut}
	}
	return part, nil
}

// stepsPerHit is what an element costs besides being found: what becomes of it is remembered.
const stepsPerHit = 8

// work is that on one document.
type work struct {
	*Selection
	budget  *xpath.Budget
	matched []bool // by number of the rule
	unmet   []bool // likewise
	running *Rule  // the program of jq or the query that runs
	noMain  bool   // a rule selects the main part, and there is none
}

// elements returns the text of the elements or values that the rules choose.
func (w *work) elements(d *Document) (*webrace.Text, error) {
	if w.main && d.isAllMain() {
		w.allMain()
	}
	if values, err := d.jsonValues(); err != nil || len(values) > 0 {
		return w.json(d, values), err
	}
	root, err := d.tree()
	if err != nil {
		return nil, err
	}
	if root == nil { // it has none
		if w.chosen {
			return &webrace.Text{}, nil
		}
		return d.text, nil
	}
	m := marks{all: make(map[*html.Node]*mark), chosen: w.chosen}
	selected, ignored := w.mark(m, d)
	switch {
	case w.chosen && !selected:
		return &webrace.Text{}, nil
	case !w.chosen && !ignored:
		return d.text, nil
	}
	return d.render(m, w.budget)
}

// mark applies the rules to the tree.
func (w *work) mark(m marks, d *Document) (selected, ignored bool) {
	var css *matcher // made when a rule asks for it
	for i, r := range w.rules {
		var found []hit
		switch {
		case r.Language == Named:
			w.markMain(m, d)
			selected, w.matched[i] = true, true
		case r.css != nil:
			if css == nil {
				css = d.matcher(w.budget)
			}
			matching := css.matching(r.css)
			found = make([]hit, 0, matching.size())
			matching.each(func(i int32) { found = append(found, hit{d.elements.nodes[i], -1}) })
		case r.xpath != nil:
			found = d.xpaths().evaluate(r.xpath, hit{d.root, -1}, w.budget)
		}
		w.budget.Spend(stepsPerHit * len(found))
		for _, h := range found {
			switch {
			case !r.Ignore:
				m.choose(h)
				selected = true
			case h.attr < 0:
				m.of(h.node).ignored = true
				ignored = true
			default:
				continue // an attribute is no text that could be ignored
			}
			w.matched[i] = true
		}
	}
	return selected, ignored
}

// stretches applies the regular expressions to a text.
func (w *work) stretches(text *webrace.Text) *webrace.Text {
	matched := make(map[*pattern]bool)
	text = cut(text, w.kept, w.cut, matched, w.budget)
	for i, r := range w.rules {
		if r.regex != nil {
			w.matched[i] = matched[r.regex]
		}
	}
	return text
}
