package transform

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// related finds the resources of an element that has rel or rev: step 6.
func (r *rdfa) related(t *tag, c, local *evaluation, s *resources) {
	about, ok := r.resource(t.about, local)
	switch {
	case ok:
		s.subject = about
	case t.n == r.root:
		s.subject = rdf.NewIRI(r.baseIRI)
	default:
		s.subject = c.object
	}
	if object, ok := r.pointed(t, local); ok {
		s.object = object
	} else if t.typeof != nil && t.about == nil {
		s.object = r.newBlank()
	}
	if t.typeof != nil {
		if s.typed = s.object; t.about != nil {
			s.typed = s.subject
		}
	}
}

// chained finds the resources of an element whose property may have a resource for its value: step 5.1.
func (r *rdfa) chained(t *tag, c, local *evaluation, s *resources) {
	about, ok := r.resource(t.about, local)
	switch {
	case ok:
		s.subject = about
	case t.n == r.root:
		s.subject = rdf.NewIRI(r.baseIRI)
	default:
		s.subject = c.object
	}
	if t.typeof == nil {
		return
	}
	if s.typed = s.subject; !ok && t.n != r.root {
		if s.typed, ok = r.pointed(t, local); !ok {
			s.typed = r.newBlank()
		}
	}
	s.object = s.typed
}

// plain finds the resources of other elements: step 5.2.
func (r *rdfa) plain(t *tag, c, local *evaluation, s *resources) {
	subject, ok := r.resource(t.about, local)
	if !ok {
		subject, ok = r.pointed(t, local)
	}
	switch {
	case ok:
		s.subject = subject
	case t.n == r.root:
		s.subject = rdf.NewIRI(r.baseIRI)
	case t.n.Data == "head" || t.n.Data == "body":
		s.subject = c.object
	case t.typeof != nil:
		s.subject = r.newBlank()
	default:
		s.subject = c.object
		s.skip = t.property == nil
	}
	if t.typeof != nil {
		s.typed = s.subject
	}
}

// pointed returns the resource that an element points to.
func (r *rdfa) pointed(t *tag, local *evaluation) (webrace.Term, bool) {
	if resource, ok := r.resource(t.resource, local); ok {
		return resource, true
	}
	for _, reference := range []*string{t.href, t.src} {
		if reference != nil {
			if iri, ok := r.resolve(*reference); ok {
				return iri, true
			}
		}
	}
	return "", false
}

// relations states what rel and rev give, or notes it for the elements within: steps 9 and 10.
func (r *rdfa) relations(t *tag, local *evaluation, s *resources) error {
	if s.object == "" && (len(s.rel) > 0 || len(s.rev) > 0) {
		s.object = r.newBlank()
		for _, p := range s.rel {
			i := incomplete{predicate: p}
			if t.inlist {
				i.list = local.lists.of(p)
			}
			local.incomplete = append(local.incomplete, i)
		}
		for _, p := range s.rev {
			local.incomplete = append(local.incomplete, incomplete{predicate: p, reverse: true})
		}
		return nil
	}
	for _, p := range s.rel {
		err := error(nil)
		if t.inlist {
			err = r.listItem(local.lists.of(p), s.object)
		} else {
			err = r.say(s.subject, p, s.object)
		}
		if err != nil {
			return err
		}
	}
	for _, p := range s.rev {
		if err := r.say(s.object, p, s.subject); err != nil {
			return err
		}
	}
	return nil
}

// property states the properties of an element: step 11.
func (r *rdfa) property(t *tag, local *evaluation, s *resources) error {
	var properties []webrace.Term
	r.predicates(t.property, local, false, &properties)
	if len(properties) == 0 || s.subject == "" {
		return nil
	}
	value, ok, err := r.value(t, local, s)
	if err != nil || !ok {
		return err
	}
	for _, p := range properties {
		err := error(nil)
		if t.inlist {
			err = r.listItem(local.lists.of(p), value)
		} else {
			err = r.say(s.subject, p, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// value returns the value of an element's properties; false if it is left out.
func (r *rdfa) value(t *tag, local *evaluation, s *resources) (value webrace.Term, ok bool, err error) {
	if t.datatype != nil {
		if datatype, ok := r.term(strings.Trim(*t.datatype, white), local); ok {
			return r.typed(t, rdf.Value(datatype))
		}
	}
	switch {
	case t.content != nil:
		value, ok = r.literal(*t.content, local.language)
		return value, ok, nil
	case t.datatype != nil:
	case t.datetime != nil:
		if value, ok = timeTerm(*t.datetime); !ok {
			value, ok = r.literal(*t.datetime, local.language)
		}
		return value, ok, nil
	case t.rel == nil && t.rev == nil && (t.resource != nil || t.href != nil || t.src != nil):
		if value, ok = r.pointed(t, local); ok {
			return value, true, nil
		}
	}
	if t.datatype == nil && t.typeof != nil && t.about == nil {
		return s.typed, s.typed != "", nil
	}
	text, err := r.content(t.n)
	if err != nil {
		return "", false, err
	}
	if t.n.Data == "time" && t.datatype == nil {
		if value, ok = timeTerm(text); ok {
			return value, true, nil
		}
	}
	value, ok = r.literal(text, local.language)
	return value, ok, nil
}

const htmlLiteral = rdf.NS + "HTML"

// typed returns the literal of an element's content by its datatype.
func (r *rdfa) typed(t *tag, datatype string) (value webrace.Term, ok bool, err error) {
	text := ""
	switch {
	case datatype == rdf.XMLLiteral || datatype == htmlLiteral:
		text, err = r.markup(t.n)
	case t.content != nil:
		text = *t.content
	case t.datetime != nil:
		text = *t.datetime
	default:
		text, err = r.content(t.n)
	}
	if err != nil {
		return "", false, err
	}
	if len(text) > r.limits.Literal {
		r.leaveOut("literal", "a literal", r.limits.Literal)
		return "", false, nil
	}
	return rdf.NewTyped(text, datatype), true, nil
}

// markup returns what is in an element as it is written.
func (r *rdfa) markup(n *html.Node) (string, error) {
	var b strings.Builder
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if err := html.Render(&b, child); err != nil {
			return "", err
		}
	}
	return b.String(), r.spend(b.Len())
}
