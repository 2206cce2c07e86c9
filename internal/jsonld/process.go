package jsonld

import (
	"slices"

	"github.com/webrace/webrace/internal/rdf"
)

// processor makes the expanded form of one document.
type processor struct {
	*watch
	limits   Limits
	contexts *Contexts
	origin   string // the URL of the document, or of what its base is

	definitions int  // how many definitions of terms were applied
	nodes       int  // how many nodes and values there are
	joined      int  // how many bytes IRIs have that were made of parts
	usedBase    bool // something depends on the base of the document
	compiling   bool // a context is being compiled, which depends on no other that is

	applied   map[application]*active
	forgotten int // how many definitions there were when the contexts that were kept were forgotten
}

// application is a context that was applied to another: below many values of a property, or to many nodes of a type, it
// is always the same.
type application struct {
	to        *active
	context   *value
	url       string
	override  bool
	propagate bool
}

// maxApplied is how many contexts are kept to be used again, and maxKept about how many definitions they have.
const (
	maxApplied = 1024
	maxKept    = 1 << 16
)

// usage is how a context is applied.
type usage struct {
	base      string // what URLs of contexts are resolved against
	override  bool   // protected terms may change
	rollback  bool   // the context before holds again in the next node (propagate is false)
	lenient   bool   // a context that is being processed is not processed once more (validate scoped context is false)
	including *inclusion
}

// inclusion lists the contexts that are being processed, each because the next in the list names it.
type inclusion struct {
	url   string
	by    *inclusion
	depth int
}

// maxInclusions is how deeply contexts can name one another.
const maxInclusions = 32

func (i *inclusion) has(url string) bool {
	for ; i != nil; i = i.by {
		if i.url == url {
			return true
		}
	}
	return false
}

// scoped applies the context of a term, once for all places where it holds.
func (p *processor) scoped(a *active, d *definition, override, propagate bool) *active {
	key := application{to: a, context: d.context, override: override, propagate: propagate}
	return p.once(key, func() *active {
		defer p.in(d.from)()
		return p.process(a, d.context, usage{base: d.base, override: override, rollback: !propagate})
	})
}

// written applies the context that a node has.
func (p *processor) written(a *active, v *value) *active {
	u := usage{base: p.origin}
	if !v.isString() {
		return p.process(a, v, u)
	}
	return p.once(application{to: a, url: v.text, propagate: true}, func() *active { return p.process(a, v, u) })
}

func (p *processor) once(key application, work func() *active) *active {
	if result, ok := p.applied[key]; ok {
		return result
	}
	if len(p.applied) >= maxApplied || p.definitions-p.forgotten >= maxKept {
		clear(p.applied)
		p.forgotten = p.definitions
	}
	result := work()
	p.applied[key] = result
	return result
}

// in makes errors be about another text, until what it returns is called.
func (p *processor) in(s *source) (back func()) {
	about, at := p.about, p.at
	p.about, p.at = s, 0
	return func() { p.about, p.at = about, at }
}

// process applies a local context to an active one, which stays as it is (JSON-LD 1.1 API, section 4.1).
func (p *processor) process(a *active, v *value, u usage) *active {
	p.step(v.at)
	if propagate := v.get("@propagate"); propagate != nil && propagate.isBoolean() {
		u.rollback = propagate.kind == falseKind
	}
	clone := *a
	clone.terms = a.terms.Editable()
	result := &clone
	if u.rollback && result.previous == nil {
		result.previous = a
	}
	changed := result.previous != a.previous
	items := v.all()
	for i := range items {
		p.apply(1)
		switch item := &items[i]; item.kind {
		case null:
			if !u.override && result.protected > 0 {
				p.fail(item, "invalid context nullification",
					"null would undo terms that are protected; leave it out, or use it below a term with a context")
			}
			before := result
			p.usedBase = true
			result = &active{base: p.origin}
			result.terms = result.terms.Editable()
			if u.rollback {
				result.previous = before
			}
			changed = true
		case text:
			next := p.include(result, item, u)
			changed = changed || next != result
			result = next
		case object:
			changed = p.define(result, item, u) || changed
		default:
			p.fail(item, "invalid local context", "a context is an object, the URL of one, or null, not %s", item.kind)
		}
	}
	if !changed {
		return a
	}
	return result
}

// include applies the context that a URL names.
func (p *processor) include(a *active, name *value, u usage) *active {
	url := p.contextURL(name, u.base)
	if u.lenient && u.including.has(url) {
		return a
	}
	including := &inclusion{url: url, by: u.including, depth: 1}
	if u.including != nil {
		including.depth = u.including.depth + 1
	}
	if including.depth > maxInclusions || u.including.has(url) {
		p.fail(name, "context overflow", "the context %s is named by contexts that it names, or too deeply", url)
	}
	if !p.compiling && a.pristine() {
		if c := p.contexts.compiled(url); c != nil {
			return c.after(a)
		}
	}
	loaded := p.load(name, url)
	u.base, u.including = url, including
	defer p.in(loaded.source)()
	return p.process(a, loaded.context, u)
}

// contextURL returns the URL of a context by its name.
func (p *processor) contextURL(name *value, base string) string {
	if base != "" {
		if url, err := rdf.Resolve(base, name.text); err == nil {
			return url
		}
	}
	if !rdf.IsAbsolute(name.text) {
		p.fail(name, "loading document failed", "the URL of the context %q is relative, and there is no base", name.text)
	}
	return name.text
}

// load returns the document of a context that has a @context.
func (p *processor) load(name *value, url string) *document {
	loaded := p.contexts.document(url)
	if loaded == nil {
		p.fail(name, "loading remote context failed",
			"the context %s is not known here, and none is fetched; make it known by the option contexts", url)
	}
	if loaded.err != nil {
		p.fail(name, "loading remote context failed", "%v", loaded.err)
	}
	if loaded.context == nil {
		p.fail(name, "invalid remote context", "the document %s is no object with a @context", url)
	}
	return loaded
}

// apply counts definitions of terms.
func (p *processor) apply(n int) {
	if p.definitions += n; p.definitions > p.limits.Definitions {
		p.exceed("definitions of terms, each counted wherever its context is applied", p.limits.Definitions)
	}
}

// local is a context definition that is being processed.
type local struct {
	*value
	imported *document // what its @import names; nil for nothing
	usage
	protected bool
	defined   map[string]bool // false while a term is being defined
	depth     int             // how many terms are being defined
	changed   bool
}

// entry returns what the context defines a term to be, and where that is written.
func (l *local) entry(p *processor, name string) (*value, *source) {
	if v := l.get(name); v != nil || l.imported == nil {
		return v, p.about
	}
	return l.imported.context.get(name), l.imported.source
}

// need defines a term that another depends on, if the context has it.
func (l *local) need(p *processor, a *active, name string) {
	if l == nil {
		return
	}
	if v, _ := l.entry(p, name); v != nil && !l.defined[name] {
		p.defineTerm(a, l, name)
	}
}

// define merges a context definition into an active context, and reports whether that changed anything.
func (p *processor) define(a *active, v *value, u usage) (changed bool) {
	l := &local{value: v, usage: u, defined: map[string]bool{}}
	if version := v.get("@version"); version != nil && (version.kind != number || !isVersion(version.text)) {
		p.fail(version, "invalid @version value", "the version of a context is 1.1")
	}
	p.importContext(l)
	before := *a
	p.defineSettings(a, l)
	l.changed = before.base != a.base || before.vocab != a.vocab || before.hasVocab != a.hasVocab ||
		before.language != a.language || before.direction != a.direction
	keys, _ := v.members()
	for _, key := range keys {
		p.defineTerm(a, l, key)
	}
	if l.imported != nil {
		keys, _ = l.imported.context.members()
		for _, key := range keys {
			p.defineTerm(a, l, key)
		}
	}
	return l.changed
}

func isVersion(s string) bool {
	form, integer := lexical(s, true)
	return form == "1.1E0" && !integer
}

func (p *processor) importContext(l *local) {
	name := l.get("@import")
	if name == nil {
		return
	}
	if !name.isString() {
		p.fail(name, "invalid @import value", "@import has the URL of a context, not %s", name.kind)
	}
	url := p.contextURL(name, l.base)
	l.imported = p.load(name, url)
	if !l.imported.context.isObject() {
		p.fail(name, "invalid remote context", "the context %s is to be imported, and is no single object", url)
	}
	if l.imported.context.get("@import") != nil {
		p.fail(name, "invalid context entry", "the context %s is to be imported, and imports one", url)
	}
}

// settings are the entries of a context that define no term.
var settings = []string{"@base", "@direction", "@import", "@language", "@propagate", "@protected", "@version", "@vocab"}

func isSetting(key string) bool { return key != "" && key[0] == '@' && slices.Contains(settings, key) }

// defineSettings does what those entries define.
func (p *processor) defineSettings(a *active, l *local) {
	setting := func(key string) *value {
		v, _ := l.entry(p, key)
		return v
	}
	if v := setting("@base"); v != nil && l.including == nil {
		a.base = p.baseOf(a, v)
	}
	if v := setting("@vocab"); v != nil {
		a.vocab, a.hasVocab = p.vocabOf(a, v)
	}
	if v := setting("@language"); v != nil {
		if v.kind != null && !v.isString() {
			p.fail(v, "invalid default language", "the language is a string or null, not %s", v.kind)
		}
		a.language = v.text
	}
	if v := setting("@direction"); v != nil {
		if v.kind != null && !isDirection(v) {
			p.fail(v, "invalid base direction", `the direction is "ltr", "rtl" or null`)
		}
		a.direction = v.text
	}
	if v := setting("@propagate"); v != nil && !v.isBoolean() {
		p.fail(v, "invalid @propagate value", "@propagate is true or false, not %s", v.kind)
	}
	if v := setting("@protected"); v != nil {
		if !v.isBoolean() {
			p.fail(v, "invalid @protected value", "@protected is true or false, not %s", v.kind)
		}
		l.protected = v.kind == trueKind
	}
}

func isDirection(v *value) bool { return v.isString() && (v.text == "ltr" || v.text == "rtl") }

func (p *processor) baseOf(a *active, v *value) string {
	switch {
	case v.kind == null:
		return ""
	case !v.isString():
		p.fail(v, "invalid base IRI", "the base is an IRI or null, not %s", v.kind)
	case rdf.IsAbsolute(v.text):
		return v.text
	case a.base == "":
		p.fail(v, "invalid base IRI", "the base %q is relative, and there is none that it is relative to", v.text)
	}
	return p.resolve(a.base, v.text)
}

func (p *processor) vocabOf(a *active, v *value) (vocab string, has bool) {
	if v.kind == null {
		return "", false
	}
	if !v.isString() {
		p.fail(v, "invalid vocab mapping", "the vocabulary is an IRI or null, not %s", v.kind)
	}
	vocab, ok := p.expandIRI(a, v.text, true, true)
	if !ok || looksLikeKeyword(vocab) {
		p.fail(v, "invalid vocab mapping", "the vocabulary %q is no IRI", v.text)
	}
	return vocab, true
}
