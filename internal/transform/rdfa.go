package transform

import (
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// rdfa is the reading of a page's RDFa, by RDFa Core 1.1 (section 7.5) with the rules of HTML+RDFa 1.1 (section 3.1).
type rdfa struct {
	*page
	root   *html.Node
	said   []webrace.Triple
	blanks map[string]webrace.Term // by label
	used   []string                // vocabularies that are known
	says   []bool                  // by number of the element: it may say something, or has some within that may
	listed int                     // items of lists
	warn   func(class string)      // if set, is told of what the specification has a processor warn of
}

// evaluation is the evaluation context of an element.
type evaluation struct {
	subject, object webrace.Term // of the element around it; empty for none
	incomplete      []incomplete
	lists           *lists
	language        string
	prefixes        *scope
	vocabulary      string
}

// scope is the prefixes that an element declares, and those around it.
type scope struct {
	own    map[string]string
	around *scope
}

// incomplete is a triple that waits for a resource within the element: of its predicate, in this direction, or an item
// of a list.
type incomplete struct {
	predicate webrace.Term
	reverse   bool
	list      *list
}

// lists are the lists that are being collected for a subject, in the order of their predicates.
type lists struct {
	order []webrace.Term
	by    map[webrace.Term]*list
}

type list struct{ items []webrace.Term }

func (l *lists) of(predicate webrace.Term) *list {
	if l.by[predicate] == nil {
		if l.by == nil {
			l.by = make(map[webrace.Term]*list)
		}
		l.by[predicate] = &list{}
		l.order = append(l.order, predicate)
	}
	return l.by[predicate]
}

func (p *page) rdfa() error { return p.rdfaWarning(nil) }

func (p *page) rdfaWarning(warn func(class string)) error {
	if len(p.elements) == 0 {
		return nil
	}
	r := &rdfa{page: p, root: p.elements[0], blanks: make(map[string]webrace.Term), warn: warn}
	r.mark()
	if err := r.element(r.root, &evaluation{lists: &lists{}}); err != nil {
		return err
	}
	return r.finish()
}

// mark notes the elements that may state something, and those around them: most parts of a page have none.
func (r *rdfa) mark() {
	r.says = make([]bool, len(r.elements))
	for _, n := range r.elements {
		for i := range n.Attr {
			switch n.Attr[i].Key {
			case "property", "typeof", "vocab", "rel", "rev", "role":
				for at := n; at.Type == html.ElementNode && !r.says[at.DataAtom]; at = at.Parent {
					r.says[at.DataAtom] = true
				}
			}
		}
	}
}

func (r *rdfa) say(subject, predicate, object webrace.Term) error {
	if len(r.said) >= r.limits.Triples {
		return r.tooMany()
	}
	r.said = append(r.said, webrace.Triple{Subject: subject, Predicate: predicate, Object: object})
	return nil
}

// tag is what RDFa asks of a start tag; nil for attributes that it does not have.
type tag struct {
	n                                          *html.Node
	about, resource, href, src                 *string
	typeof, property, rel, rev                 *string
	content, datatype, datetime, vocab, prefix *string
	id, role                                   *string
	inlist                                     bool
}

func tagOf(n *html.Node) (t tag, any bool) {
	t.n = n
	for i := range n.Attr {
		a := &n.Attr[i]
		if a.Namespace != "" {
			continue
		}
		to := t.field(a.Key)
		switch {
		case to != nil && *to == nil:
			*to = &a.Val
			any = true
		case a.Key == "inlist":
			t.inlist = true
		case strings.HasPrefix(a.Key, "xmlns:"):
			any = true
		}
	}
	return t, any
}

func (t *tag) field(key string) **string {
	switch key {
	case "about":
		return &t.about
	case "resource":
		return &t.resource
	case "href":
		return &t.href
	case "src":
		return &t.src
	case "typeof":
		return &t.typeof
	case "property":
		return &t.property
	case "rel":
		return &t.rel
	case "rev":
		return &t.rev
	case "content":
		return &t.content
	case "datatype":
		return &t.datatype
	case "datetime":
		return &t.datetime
	case "vocab":
		return &t.vocab
	case "prefix":
		return &t.prefix
	case "id":
		return &t.id
	case "role":
		return &t.role
	}
	return nil
}

// element reads an element and what is in it.
func (r *rdfa) element(n *html.Node, c *evaluation) error {
	if err := r.step(); err != nil {
		return err
	}
	if len(n.Attr) == 0 && n != r.root { // as most
		return r.children(n, c)
	}
	t, any := tagOf(n)
	local := *c
	if declared, ok := says(n); ok {
		local.language = declared
	}
	if !any && n != r.root {
		return r.children(n, &local)
	}
	if err := r.declare(&t, &local); err != nil {
		return err
	}
	if r.options.Roles && t.role != nil {
		if err := r.roles(&t, &local); err != nil {
			return err
		}
	}
	return r.state(&t, c, &local)
}

func (r *rdfa) children(n *html.Node, c *evaluation) error {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if child.Type == html.ElementNode && (r.says[child.DataAtom] || len(c.incomplete) > 0) {
			if err := r.element(child, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// declare reads what an element declares of vocabularies and prefixes.
func (r *rdfa) declare(t *tag, local *evaluation) error {
	if t.vocab != nil {
		local.vocabulary = ""
		if iri, ok := r.absolute(*t.vocab); ok && strings.Trim(*t.vocab, white) != "" {
			local.vocabulary = iri
			if _, ok := r.options.Vocabularies[iri]; ok && !slices.Contains(r.used, iri) {
				r.used = append(r.used, iri)
			}
			if err := r.say(rdf.NewIRI(r.baseIRI), usesVocabulary, rdf.NewIRI(iri)); err != nil {
				return err
			}
		}
	}
	var own map[string]string
	declare := func(prefix, iri string) {
		if own == nil { // most declare none
			own = make(map[string]string)
		}
		own[strings.ToLower(prefix)] = iri
	}
	for i := range t.n.Attr {
		if prefix, ok := strings.CutPrefix(t.n.Attr[i].Key, "xmlns:"); ok && prefix != "" {
			declare(prefix, strings.Trim(t.n.Attr[i].Val, white))
		}
	}
	if t.prefix != nil {
		words := strings.Fields(*t.prefix)
		for i := 0; i+1 < len(words); i++ {
			prefix, ok := strings.CutSuffix(words[i], ":")
			if !ok {
				continue
			}
			if i++; prefix != "_" && prefix != "" {
				declare(prefix, words[i])
			}
		}
	}
	if len(own) == 0 {
		return nil
	}
	for prefix, iri := range own {
		if known, ok := rdf.KnownPrefixes[prefix]; ok && known != iri {
			r.warned("PrefixRedefinition")
		}
	}
	local.prefixes = &scope{own, local.prefixes}
	return nil
}

func (r *rdfa) warned(class string) {
	if r.warn != nil {
		r.warn(class)
	}
}

// roles states the roles of an element.
func (r *rdfa) roles(t *tag, local *evaluation) error {
	subject := webrace.Term("")
	for word := range strings.FieldsSeq(*t.role) {
		object, ok := r.termIn(word, local, xhv, false)
		if !ok {
			continue
		}
		if subject == "" {
			subject = r.newBlank()
			if t.id != nil {
				if iri, ok := r.resolve("#" + *t.id); ok {
					subject = iri
				}
			}
		}
		if err := r.say(subject, rdf.NewIRI(xhv+"role"), object); err != nil {
			return err
		}
	}
	return nil
}

// resources is what an element is about.
type resources struct {
	subject, object, typed webrace.Term
	skip                   bool // it is about nothing new
	rel, rev               []webrace.Term
}

// state adds what an element states, and reads what is in it.
func (r *rdfa) state(t *tag, c, local *evaluation) error {
	s := resources{}
	if t.rel != nil || t.rev != nil {
		hasRel := r.predicates(t.rel, local, t.property != nil, &s.rel)
		hasRev := r.predicates(t.rev, local, t.property != nil, &s.rev)
		if !hasRel {
			t.rel = nil
		}
		if !hasRev {
			t.rev = nil
		}
	}
	switch {
	case t.rel != nil || t.rev != nil:
		r.related(t, c, local, &s)
	case t.property != nil && t.content == nil && t.datatype == nil:
		r.chained(t, c, local, &s)
	default:
		r.plain(t, c, local, &s)
	}
	if s.typed != "" {
		var types []webrace.Term
		r.predicates(t.typeof, local, false, &types)
		for _, typ := range types {
			if err := r.say(s.typed, typeTerm, typ); err != nil {
				return err
			}
		}
	}
	if s.subject != "" && s.subject != c.object {
		local.lists = &lists{}
	}
	local.incomplete = nil
	if err := r.relations(t, local, &s); err != nil {
		return err
	}
	if t.property != nil {
		if err := r.property(t, local, &s); err != nil {
			return err
		}
	}
	return r.descend(t, c, local, &s)
}

// predicates appends the terms that an attribute lists, and reports whether it counts as present: beside a property,
// words of rel and rev that are neither CURIEs nor IRIs are meant for others.
func (r *rdfa) predicates(list *string, local *evaluation, noTerms bool, to *[]webrace.Term) (present bool) {
	if list == nil {
		return false
	}
	present = !noTerms
	for word := range strings.FieldsSeq(*list) {
		if noTerms && !strings.Contains(word, ":") {
			continue
		}
		present = true
		if term, ok := r.term(word, local); ok {
			*to = append(*to, term)
		}
	}
	return present
}

// descend completes what waits for this element's resource, and reads what is in it.
func (r *rdfa) descend(t *tag, c, local *evaluation, s *resources) error {
	if s.skip {
		same := *c
		same.language, same.prefixes, same.vocabulary = local.language, local.prefixes, local.vocabulary
		return r.children(t.n, &same)
	}
	if s.subject != "" {
		for _, i := range c.incomplete {
			var err error
			switch {
			case i.list != nil:
				err = r.listItem(i.list, s.subject)
			case i.reverse:
				err = r.say(s.subject, i.predicate, c.subject)
			default:
				err = r.say(c.subject, i.predicate, s.subject)
			}
			if err != nil {
				return err
			}
		}
	}
	inner := *local
	inner.subject = firstTerm(s.subject, c.subject)
	inner.object = firstTerm(s.object, s.subject, c.subject)
	if err := r.children(t.n, &inner); err != nil {
		return err
	}
	if local.lists == c.lists {
		return nil
	}
	for _, predicate := range local.lists.order {
		if err := r.list(s.subject, predicate, local.lists.by[predicate].items); err != nil {
			return err
		}
	}
	return nil
}

func firstTerm(terms ...webrace.Term) webrace.Term {
	for _, t := range terms {
		if t != "" {
			return t
		}
	}
	return ""
}

// listItem appends to a list.
func (r *rdfa) listItem(l *list, item webrace.Term) error {
	if r.listed++; r.listed > r.limits.Triples {
		return r.tooMany()
	}
	l.items = append(l.items, item)
	return nil
}

// list states a list.
func (r *rdfa) list(subject, predicate webrace.Term, items []webrace.Term) error {
	nodes := make([]webrace.Term, len(items)+1)
	for i := range items {
		nodes[i] = r.newBlank()
	}
	nodes[len(items)] = rdf.NewIRI(rdf.Nil)
	if err := r.say(subject, predicate, nodes[0]); err != nil {
		return err
	}
	for i, item := range items {
		if err := r.say(nodes[i], rdf.NewIRI(rdf.First), item); err != nil {
			return err
		}
		if err := r.say(nodes[i], rdf.NewIRI(rdf.Rest), nodes[i+1]); err != nil {
			return err
		}
	}
	return nil
}
