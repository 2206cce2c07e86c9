package jsonld

import (
	"errors"
	"strings"

	"github.com/webrace/webrace/internal/rdf"
)

// maxDependencies is how many terms can depend on one another in a chain.
const maxDependencies = 256

// definitionBytes is how many bytes of IRIs count as one definition more.
const definitionBytes = 256

// defineTerm makes the definition of a term (JSON-LD 1.1 API, section 4.2).
func (p *processor) defineTerm(a *active, l *local, term string) {
	done, begun := l.defined[term]
	if done || isSetting(term) {
		return
	}
	v, from := l.entry(p, term)
	defer p.in(from)()
	if begun {
		p.fail(v, "cyclic IRI mapping", "the term %q depends on itself", term)
	}
	if term == "" {
		p.fail(v, "invalid term definition", "a term is empty")
	}
	if l.depth++; l.depth > maxDependencies {
		p.exceed("terms of a context that depend on one another", maxDependencies)
	}
	defer func() { l.depth-- }()
	l.defined[term] = false
	p.step(v.at)
	p.apply(1)
	p.checkTermName(term, v)
	if looksLikeKeyword(term) && term != "@type" {
		p.note(v.at, leftOut, "a term looks like a keyword, and is none", term)
		return
	}
	before := a.term(term)
	a.remove(term, before)
	d := p.definitionOf(a, l, term, v)
	l.defined[term] = true
	if d == nil {
		l.changed = l.changed || before != nil
		return
	}
	p.apply(len(d.iri) / definitionBytes)
	if before != nil {
		same := d.sameButProtected(before)
		if before.protected && !l.override {
			if !same {
				p.fail(v, "protected term redefinition",
					"the term %q is protected by a context before, and this defines it otherwise", term)
			}
			d = before
		} else if same && d.protected == before.protected && d.from == before.from && d.base == before.base {
			d = before
		}
	}
	a.set(term, d, nil)
	l.changed = l.changed || d != before
}

func (p *processor) checkTermName(term string, v *value) {
	if !isKeyword(term) {
		return
	}
	if term == "@type" && v.isObject() && v.container != nil {
		for i, key := range v.keys {
			if key != "@protected" && (key != "@container" || v.items[i].text != "@set") {
				p.fail(v, "keyword redefinition", `of @type a context can say "@container": "@set" and "@protected" alone`)
			}
		}
		return
	}
	p.fail(v, "keyword redefinition", "%s is a keyword, and no term that a context defines", term)
}

// definitionOf returns what a context defines a term to be; nil if that is to be ignored.
func (p *processor) definitionOf(a *active, l *local, term string, v *value) *definition {
	d := &definition{protected: l.protected}
	switch v.kind {
	case null, object:
	case text:
	default:
		p.fail(v, "invalid term definition",
			"the definition of the term %q is an object, an IRI or null, not %s", term, v.kind)
	}
	if protected := v.get("@protected"); protected != nil {
		if !protected.isBoolean() {
			p.fail(protected, "invalid @protected value", "@protected is true or false, not %s", protected.kind)
		}
		d.protected = protected.kind == trueKind
	}
	p.defineType(a, l, d, v)
	if reverse := v.get("@reverse"); reverse != nil {
		return p.defineReverse(a, l, d, v, reverse)
	}
	if !p.defineIRI(a, l, d, term, v) {
		return nil
	}
	p.defineContainer(d, v)
	p.defineIndex(a, l, d, v)
	p.defineContext(a, l, d, v)
	p.defineLanguage(d, v)
	p.defineNest(d, v)
	p.definePrefix(d, term, v)
	p.checkEntries(term, v)
	return d
}

func (p *processor) defineType(a *active, l *local, d *definition, v *value) {
	name := v.get("@type")
	if name == nil {
		return
	}
	if !name.isString() {
		p.fail(name, "invalid type mapping", "@type is a string, not %s", name.kind)
	}
	typ, ok := p.expandIRIWith(a, name.text, false, true, l)
	if !ok || typ != "@id" && typ != "@json" && typ != "@none" && typ != "@vocab" && !rdf.IsAbsolute(typ) {
		p.fail(name, "invalid type mapping",
			"the type %q is neither an IRI nor one of @id, @json, @none and @vocab", name.text)
	}
	d.typ = typ
}

func (p *processor) defineReverse(a *active, l *local, d *definition, v, reverse *value) *definition {
	if v.get("@id") != nil || v.get("@nest") != nil {
		p.fail(reverse, "invalid reverse property", "beside @reverse there cannot be @id or @nest")
	}
	if !reverse.isString() {
		p.fail(reverse, "invalid IRI mapping", "@reverse is an IRI, not %s", reverse.kind)
	}
	if looksLikeKeyword(reverse.text) {
		p.note(reverse.at, leftOut, "a term stands for what looks like a keyword, and is none", reverse.text)
		return nil
	}
	iri, ok := p.expandIRIWith(a, reverse.text, false, true, l)
	if !ok || !rdf.IsAbsolute(iri) && !strings.HasPrefix(iri, "_:") {
		p.fail(reverse, "invalid IRI mapping", "%q is no IRI", reverse.text)
	}
	d.iri, d.reverse = iri, true
	if c := v.get("@container"); c != nil && c.kind != null {
		if c.text != "@set" && c.text != "@index" {
			p.fail(c, "invalid reverse property", "the container of a reverse property is @set or @index")
		}
		d.container = containerOf[c.text]
	}
	// The algorithm ends here; by the syntax (JSON-LD 1.1, section 9.15.1) such a term can have a context, too.
	p.defineContext(a, l, d, v)
	p.checkEntries("", v)
	return d
}

// defineIRI finds what the term stands for. It returns false if the definition is to be ignored.
func (p *processor) defineIRI(a *active, l *local, d *definition, term string, v *value) bool {
	id := v.get("@id")
	simple := v.isString()
	if v.kind == null || simple {
		id = v
	}
	if id != nil && id.kind == null {
		return true
	}
	if id != nil && !id.isString() {
		p.fail(id, "invalid IRI mapping", "@id of the term %q is an IRI or null, not %s", term, id.kind)
	}
	if id != nil && id.text != term {
		return p.defineByID(a, l, d, term, id, simple)
	}
	if colon := strings.IndexByte(term[1:], ':') + 1; colon > 0 {
		prefix, suffix := term[:colon], term[colon+1:]
		l.need(p, a, prefix)
		d.iri = term
		if by := a.term(prefix); by != nil && by.iri != "" {
			d.iri = p.join(by.iri, suffix)
		}
		return true
	}
	switch {
	case strings.Contains(term, "/"):
		iri, ok := p.expandIRI(a, term, false, true)
		if !ok || !rdf.IsAbsolute(iri) {
			p.fail(v, "invalid IRI mapping", "the term %q is a relative IRI, and there is no vocabulary", term)
		}
		d.iri = iri
	case term == "@type":
		d.iri = "@type"
	case a.hasVocab:
		d.iri = p.join(a.vocab, term)
	default:
		p.fail(v, "invalid IRI mapping", "the term %q has no @id, and there is no vocabulary", term)
	}
	return true
}

func (p *processor) defineByID(a *active, l *local, d *definition, term string, id *value, simple bool) bool {
	if !isKeyword(id.text) && looksLikeKeyword(id.text) {
		p.note(id.at, leftOut, "a term stands for what looks like a keyword, and is none", id.text)
		return false
	}
	iri, ok := p.expandIRIWith(a, id.text, false, true, l)
	if !ok || !isKeyword(iri) && !rdf.IsAbsolute(iri) && !strings.HasPrefix(iri, "_:") {
		p.fail(id, "invalid IRI mapping",
			"the term %q stands for %q, which is no IRI, no blank node and no keyword", term, id.text)
	}
	if iri == "@context" {
		p.fail(id, "invalid keyword alias", "no term can stand for @context")
	}
	d.iri = iri
	colon := strings.IndexByte(term[1:], ':') + 1
	if colon > 0 && colon < len(term)-1 || strings.Contains(term, "/") {
		l.defined[term] = true
		if expanded, ok := p.expandIRIWith(a, term, false, true, l); !ok || expanded != iri {
			p.fail(id, "invalid IRI mapping", "the term %q is an IRI itself, and stands for another, %s", term, iri)
		}
		return true
	}
	if simple && !strings.Contains(term, ":") {
		d.prefix = strings.HasPrefix(iri, "_:") || strings.IndexByte(":/?#[]@", iri[len(iri)-1]) >= 0
	}
	return true
}

func (p *processor) defineContainer(d *definition, v *value) {
	c := v.get("@container")
	if c == nil {
		return
	}
	fail := func() {
		p.fail(c, "invalid container mapping", "@container is one of @graph, @id, @index, @language, @list, @set and @type, "+
			"an array with one of them, or one with @set beside another, or with @graph beside @id or @index")
	}
	names := c.all()
	for i := range names {
		bit := containerOf[names[i].text]
		if bit == 0 || !names[i].isString() || d.container&bit != 0 {
			fail()
		}
		d.container |= bit
	}
	switch rest := d.container &^ inSet; {
	case d.container == 0, rest == inList && d.container != inList:
		fail()
	case rest&(rest-1) != 0 && rest != inGraph|inID && rest != inGraph|inIndex:
		fail()
	}
	if d.container&inType != 0 {
		if d.typ == "" {
			d.typ = "@id"
		}
		if d.typ != "@id" && d.typ != "@vocab" {
			p.fail(c, "invalid type mapping", "what is in a container @type has the type @id or @vocab, not %s", d.typ)
		}
	}
}

func (p *processor) defineIndex(a *active, l *local, d *definition, v *value) {
	index := v.get("@index")
	if index == nil {
		return
	}
	if d.container&inIndex == 0 {
		p.fail(index, "invalid term definition", "there is @index, and the container is not @index")
	}
	// What it stands for may be defined further on, and may have this term for its index in turn.
	prefix, _, _ := strings.Cut(index.text, ":")
	byTerm, _ := l.entry(p, index.text)
	byPrefix, _ := l.entry(p, prefix)
	iri, ok := p.expandIRI(a, index.text, false, true)
	if !index.isString() || isKeyword(index.text) || byTerm == nil && byPrefix == nil && (!ok || !rdf.IsAbsolute(iri)) {
		p.fail(index, "invalid term definition", "@index is no IRI")
	}
	d.index = index.text
}

// defineContext keeps the context that holds below the term, and applies it once to find its errors.
func (p *processor) defineContext(a *active, l *local, d *definition, v *value) {
	c := v.get("@context")
	if c == nil {
		return
	}
	err := catch(func() {
		p.process(a, c, usage{base: l.base, override: true, lenient: true, including: l.including})
	})
	if wrong := (*Error)(nil); errors.As(err, &wrong) {
		scoped := *wrong
		scoped.Code, scoped.Says = "invalid scoped context", wrong.Code+": "+wrong.Says
		panic(failure{&scoped})
	} else if err != nil {
		panic(failure{err})
	}
	d.context, d.from, d.base = c, p.about, l.base
}

func (p *processor) defineLanguage(d *definition, v *value) {
	if v.get("@type") != nil {
		return
	}
	if language := v.get("@language"); language != nil {
		if language.kind != null && !language.isString() {
			p.fail(language, "invalid language mapping", "@language is a string or null, not %s", language.kind)
		}
		d.language, d.hasLanguage = language.text, true
	}
	if direction := v.get("@direction"); direction != nil {
		if direction.kind != null && !isDirection(direction) {
			p.fail(direction, "invalid base direction", `@direction is "ltr", "rtl" or null`)
		}
		d.direction, d.hasDirection = direction.text, true
	}
}

func (p *processor) defineNest(d *definition, v *value) {
	nest := v.get("@nest")
	if nest == nil {
		return
	}
	if !nest.isString() || isKeyword(nest.text) && nest.text != "@nest" {
		p.fail(nest, "invalid @nest value", "@nest is @nest or a term")
	}
	d.nest = nest.text
}

func (p *processor) definePrefix(d *definition, term string, v *value) {
	prefix := v.get("@prefix")
	if prefix == nil {
		return
	}
	if strings.ContainsAny(term, ":/") {
		p.fail(prefix, "invalid term definition", "the term %q cannot be a prefix: it has a colon or a slash", term)
	}
	if !prefix.isBoolean() {
		p.fail(prefix, "invalid @prefix value", "@prefix is true or false, not %s", prefix.kind)
	}
	d.prefix = prefix.kind == trueKind
	if d.prefix && isKeyword(d.iri) {
		p.fail(prefix, "invalid term definition", "the term %q stands for a keyword, and cannot be a prefix", term)
	}
}

func (p *processor) checkEntries(term string, v *value) {
	if v.container == nil || !v.isObject() {
		return
	}
	for i, key := range v.keys {
		switch key {
		case "@id", "@reverse", "@container", "@context", "@direction", "@index", "@language", "@nest", "@prefix",
			"@protected", "@type":
		default:
			p.fail(&v.items[i], "invalid term definition", "the definition of the term %q has an entry %q", term, key)
		}
	}
}
