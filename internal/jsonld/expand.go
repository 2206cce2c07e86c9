package jsonld

import (
	"slices"
	"strings"
)

func newProcessor(w *watch, c *Contexts, base string, limits Limits) *processor {
	return &processor{watch: w, contexts: c, origin: base, limits: limits, applied: map[application]*active{}}
}

// entries is a set of the keywords that a node of an expanded document can have.
type entries uint16

const (
	hasID entries = 1 << iota
	hasType
	hasValue
	hasLanguage
	hasDirection
	hasIndex
	hasList
	hasSet
	hasReverse
	hasGraph
	hasIncluded
)

// node is an object of an expanded document: a node object, a value object or a list object. A document can have
// hundreds of thousands, so what few of them have lies apart.
type node struct {
	has      entries
	typeList bool  // @type is an array, which that of a value must not be
	at       int32 // where it is in the document
	value    *value
	id       string // empty also if it stands for nothing
	language string
	types    []string
	items    []*node // of a list or a graph: no object has both
	props    []property
	*rare    // nil if has is without what it is for
}

// rare is what few nodes have.
type rare struct {
	index     string
	direction string
	included  []*node
	reverse   []property
}

// mark adds to what a node has, and returns where that is kept.
func (n *node) mark(what entries) *rare {
	if n.has |= what; n.rare == nil {
		n.rare = &rare{}
	}
	return n.rare
}

// property is a property of a node and values of it; a node can have the same more than once.
type property struct {
	iri    string
	values []*node
}

// expanded is what expansion makes of a value: an array, one node, or null, which has neither.
type expanded struct {
	nodes []*node
	array bool
}

func one(n *node) expanded { return expanded{nodes: []*node{n}} }

func (e expanded) isNull() bool { return !e.array && len(e.nodes) == 0 }

func (n *node) isNode() bool { return n.has&(hasValue|hasList) == 0 }

func (n *node) isEmpty() bool { return n.has == 0 && len(n.props) == 0 }

// isGraph reports whether it is a graph object: one that has no more than a graph, an id and an index.
func (n *node) isGraph() bool {
	return n.has&hasGraph != 0 && n.has&^(hasGraph|hasID|hasIndex) == 0 && len(n.props) == 0
}

func (n *node) isGraphAlone() bool { return n.has == hasGraph && len(n.props) == 0 }

// expand is expansion (JSON-LD 1.1 API, section 5.1). The property is empty for none. In a map, what a context of a
// type defines of the terms holds for its values (fromMap).
func (p *processor) expand(a *active, property string, v *value, fromMap bool) expanded {
	p.step(v.at)
	switch v.kind {
	case null:
		return expanded{}
	case array:
		return p.expandArray(a, property, v, fromMap)
	case object:
		p.countNode()
		return p.expandObject(a, property, v, fromMap)
	}
	if property == "" || property == "@graph" {
		p.note(v.at, leftOut, unowned, "")
		return expanded{}
	}
	if d := a.term(property); d != nil && d.context != nil {
		a = p.scoped(a, d, true, true)
	}
	p.countNode()
	return one(p.expandValue(a, property, v))
}

// nodesPerTriple is how many nodes and values a document can have for each triple that it may state: one that states a
// triple has a subject and an object of its own at most. Those that state none are no reason to keep any number in
// memory.
const nodesPerTriple = 2

func (p *processor) countNode() {
	if p.nodes++; p.nodes/nodesPerTriple > p.limits.Triples {
		p.exceed("triples", p.limits.Triples)
	}
}

func (p *processor) expandArray(a *active, property string, v *value, fromMap bool) expanded {
	result := expanded{array: true}
	d := a.term(property)
	lists := d != nil && d.container&inList != 0
	items := v.all()
	if len(items) > 0 {
		result.nodes = make([]*node, 0, len(items))
	}
	for i := range items {
		item := p.expand(a, property, &items[i], fromMap)
		if lists && item.array {
			item = one(p.wrap(hasList, item.nodes, items[i].at))
		}
		result.nodes = append(result.nodes, item.nodes...)
	}
	return result
}

// wrap returns the list or the graph that a context makes of nodes.
func (p *processor) wrap(as entries, nodes []*node, at int32) *node {
	p.countNode()
	return &node{has: as, items: nodes, at: at}
}

// expandValue is value expansion (section 5.3).
func (p *processor) expandValue(a *active, property string, v *value) *node {
	d := a.term(property)
	if d == nil {
		d = &definition{}
	}
	if v.isString() && (d.typ == "@id" || d.typ == "@vocab") {
		n := &node{has: hasID, at: v.at}
		n.id, _ = p.expandIRI(a, v.text, true, d.typ == "@vocab")
		return n
	}
	n := &node{has: hasValue, value: v, at: v.at}
	if d.typ != "" && d.typ[0] != '@' || d.typ == "@json" {
		n.has |= hasType
		n.types = []string{d.typ}
	} else if v.isString() {
		n.setLanguage(a, d)
		n.setDirection(a, d)
	}
	return n
}

func (n *node) setLanguage(a *active, d *definition) {
	if n.language = a.language; d.hasLanguage {
		n.language = d.language
	}
	if n.language != "" {
		n.has |= hasLanguage
	}
}

func (n *node) setDirection(a *active, d *definition) {
	direction := a.direction
	if d.hasDirection {
		direction = d.direction
	}
	if direction != "" {
		n.mark(hasDirection).direction = direction
	}
}

func (p *processor) expandObject(a *active, property string, v *value, fromMap bool) expanded {
	x := &expansion{processor: p, property: property, result: &node{at: v.at}, of: v}
	d := a.term(property)
	if a.previous != nil && !fromMap && !p.keepsScope(a, v) {
		a = a.previous
	}
	if d != nil && d.context != nil {
		a = p.scoped(a, d, true, true)
	}
	if c := v.get("@context"); c != nil {
		a = p.written(a, c)
	}
	x.typeScope = a
	a = x.scopeByType(a)
	x.members(a, v)
	return x.finish()
}

// has reports whether an object has a keyword, or a term that stands for it.
func (p *processor) has(a *active, v *value, keyword string) bool {
	keys, _ := v.members()
	return slices.ContainsFunc(keys, func(key string) bool {
		iri, _ := p.expandIRI(a, key, false, true)
		return iri == keyword
	})
}

// keepsScope reports whether an object is no new node: a value, or a mere reference.
func (p *processor) keepsScope(a *active, v *value) bool {
	keys, _ := v.members()
	return p.has(a, v, "@value") || len(keys) == 1 && p.has(a, v, "@id")
}

// expansion is what an object is expanded with.
type expansion struct {
	*processor
	property   string // whose value the object is
	of         *value
	typeScope  *active  // what types are expanded with
	inputType  string   // the last of its types
	set        expanded // of @set
	hasReverse bool     // the entry @reverse is expanded
	result     *node
}

// scopeByType applies the contexts that hold for the types of the object.
func (x *expansion) scopeByType(a *active) *active {
	keys, items := x.of.members()
	var typeKeys []int
	for i, key := range keys {
		if iri, _ := x.expandIRI(a, key, false, true); iri == "@type" {
			typeKeys = append(typeKeys, i)
		}
	}
	slices.SortFunc(typeKeys, func(i, j int) int { return strings.Compare(keys[i], keys[j]) })
	last := ""
	for n, i := range typeKeys {
		var types []string
		for _, t := range items[i].all() {
			if t.isString() {
				types = append(types, t.text)
				if n == 0 {
					last = t.text
				}
			}
		}
		slices.Sort(types)
		for _, t := range types {
			if d := x.typeScope.term(t); d != nil && d.context != nil {
				a = x.scoped(a, d, false, false)
			}
		}
	}
	if last != "" {
		x.inputType, _ = x.expandIRI(a, last, false, true)
	}
	return a
}

// members expands the entries of the object, or of one that is nested in it.
func (x *expansion) members(a *active, v *value) {
	keys, items := v.members()
	var nests []int
	for i, key := range keys {
		if key == "@context" {
			continue
		}
		iri, ok := x.expandIRI(a, key, false, true)
		switch {
		case !ok:
			x.unknownKey(a, key, &items[i])
		case iri == "@nest":
			if x.property == "@reverse" {
				x.fail(&items[i], "invalid reverse property map", "@nest cannot be in @reverse")
			}
			nests = append(nests, i)
		case isKeyword(iri):
			x.keyword(a, iri, &items[i])
		case strings.Contains(iri, ":"):
			x.entry(a, key, iri, &items[i])
		default:
			x.unknownKey(a, key, &items[i])
		}
	}
	for _, i := range nests {
		x.nested(a, keys[i], &items[i])
	}
}

// unknownKey tells of a key that stands for nothing, unless a context defines it so.
func (x *expansion) unknownKey(a *active, key string, v *value) {
	switch {
	case a.term(key) != nil:
	case looksLikeKeyword(key):
		x.note(v.at, leftOut, "a key looks like a keyword, and is none", key)
	case a.pristine():
		x.note(v.at, leftOut, "there is no @context that says what keys stand for", "")
	default:
		x.note(v.at, leftOut, "no @context says what a key stands for", key)
	}
}

// nested expands the entries of objects that are there for the form of the document alone.
func (x *expansion) nested(a *active, key string, v *value) {
	if d := a.term(key); d != nil && d.context != nil {
		a = x.scoped(a, d, true, true)
	}
	values := v.all()
	for i := range values {
		inner := &values[i]
		if !inner.isObject() {
			x.fail(inner, "invalid @nest value", "what is nested is an object, not %s", inner.kind)
		}
		if x.has(a, inner, "@value") {
			x.fail(inner, "invalid @nest value", "what is nested has no @value")
		}
		x.members(a, inner)
	}
}

// finish returns what the object is, all of whose entries are known (steps 15 to 19).
func (x *expansion) finish() expanded {
	n := x.result
	free := x.property == "" || x.property == "@graph"
	switch {
	case n.has&hasValue != 0:
		if !x.finishValue() {
			return expanded{}
		}
	case n.has&(hasSet|hasList) != 0:
		if rest := n.has &^ hasIndex; rest != hasSet && rest != hasList || len(n.props) > 0 {
			x.fail(x.of, "invalid set or list object", "beside @set or @list there can be @index alone")
		}
		if n.has&hasSet != 0 {
			return x.set
		}
	case n.has == hasLanguage && len(n.props) == 0:
		x.note(n.at, leftOut, "a language without a value says nothing", "")
		return expanded{}
	case free && n.isEmpty(), free && n.has == hasID && len(n.props) == 0:
		return expanded{}
	}
	if free && !n.isNode() {
		x.note(n.at, leftOut, unowned, "")
		return expanded{}
	}
	return one(n)
}

// finishValue checks a value object, and reports whether it has a value.
func (x *expansion) finishValue() bool {
	n := x.result
	if n.has&^(hasValue|hasDirection|hasIndex|hasLanguage|hasType) != 0 || len(n.props) > 0 {
		x.fail(x.of, "invalid value object", "beside @value there can be @direction, @index, @language and @type alone")
	}
	if n.has&hasType != 0 && n.has&(hasLanguage|hasDirection) != 0 {
		x.fail(x.of, "invalid value object", "a value has a type, or a language or direction, not both")
	}
	json := !n.typeList && len(n.types) == 1 && n.types[0] == "@json"
	switch {
	case json:
	case n.value.kind == null:
		return false
	case !n.value.isScalar():
		x.fail(n.value, "invalid value object value",
			"@value is a string, a number, true, false or null, not %s", n.value.kind)
	case n.has&hasLanguage != 0 && !n.value.isString():
		x.fail(n.value, "invalid language-tagged value", "only a string has a language, not %s", n.value.kind)
	case n.has&hasType != 0:
		x.at = n.at
		single := !n.typeList && len(n.types) == 1
		if single {
			_, single = x.iri(n.types[0])
		}
		if !single {
			x.fail(x.of, "invalid typed value", "the type of a value is one IRI")
		}
	}
	return true
}
