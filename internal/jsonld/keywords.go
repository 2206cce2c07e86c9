package jsonld

// keyword expands an entry whose key stands for a keyword (section 5.1.2, step 13.4).
func (x *expansion) keyword(a *active, keyword string, v *value) {
	if x.property == "@reverse" {
		x.fail(v, "invalid reverse property map", "%s cannot be in @reverse", keyword)
	}
	bit := entryOf[keyword]
	n := x.result
	// A term for a reverse property makes an entry @reverse, too; that is no second one, whichever comes first.
	if (bit == hasReverse && x.hasReverse || bit != hasReverse && n.has&bit != 0) && bit != hasIncluded && bit != hasType {
		x.fail(v, "colliding keywords", "the object has %s twice, or a term that stands for it", keyword)
	}
	x.at = v.at
	switch bit {
	case hasID:
		x.wantString(v, "invalid @id value", keyword)
		n.id, _ = x.expandIRI(a, v.text, true, false)
	case hasType:
		x.types(v)
	case hasGraph:
		n.items = x.expand(a, "@graph", v, false).nodes
	case hasIncluded:
		x.included(a, v)
	case hasValue:
		if !v.isScalar() && v.kind != null && x.inputType != "@json" {
			x.fail(v, "invalid value object value", "@value is a string, a number, true, false or null, not %s", v.kind)
		}
		n.value = v
	case hasLanguage:
		x.wantString(v, "invalid language-tagged string", keyword)
		n.language = v.text
	case hasDirection:
		if !isDirection(v) {
			x.fail(v, "invalid base direction", `@direction is "ltr" or "rtl"`)
		}
		n.mark(hasDirection).direction = v.text
	case hasIndex:
		x.wantString(v, "invalid @index value", keyword)
		n.mark(hasIndex).index = v.text
	case hasList:
		if x.property == "" || x.property == "@graph" {
			x.note(v.at, leftOut, unowned, "")
			return
		}
		n.items = x.expand(a, x.property, v, false).nodes
	case hasSet:
		x.set = x.expand(a, x.property, v, false)
	case hasReverse:
		x.hasReverse = true
		x.reversed(a, v)
		return
	default:
		x.note(v.at, leftOut, "a keyword means nothing here", keyword)
		return
	}
	n.has |= bit
}

var entryOf = map[string]entries{
	"@id": hasID, "@type": hasType, "@value": hasValue, "@language": hasLanguage, "@direction": hasDirection,
	"@index": hasIndex, "@list": hasList, "@set": hasSet, "@reverse": hasReverse, "@graph": hasGraph,
	"@included": hasIncluded,
}

func (x *expansion) wantString(v *value, code, keyword string) {
	if !v.isString() {
		x.fail(v, code, "%s is a string, not %s", keyword, v.kind)
	}
}

func (x *expansion) types(v *value) {
	n := x.result
	if v.kind == array || n.has&hasType != 0 {
		n.typeList = true
	}
	values := v.all()
	for i := range values {
		x.wantString(&values[i], "invalid type value", "@type")
		if iri, ok := x.expandIRI(x.typeScope, values[i].text, true, true); ok {
			n.types = append(n.types, iri)
		} else {
			x.note(values[i].at, leftOut, "a type stands for nothing", values[i].text)
		}
	}
}

func (x *expansion) included(a *active, v *value) {
	nodes := x.expand(a, "", v, false)
	if nodes.isNull() && (!v.isObject() || x.has(a, v, "@value") || x.has(a, v, "@list")) {
		x.fail(v, "invalid @included value", "what is included is a node")
	}
	for _, n := range nodes.nodes {
		if !n.isNode() {
			x.fail(v, "invalid @included value", "what is included is a node, not a value or a list")
		}
	}
	r := x.result.mark(hasIncluded)
	r.included = append(r.included, nodes.nodes...)
}

// reversed expands @reverse: of its properties the object is the value.
func (x *expansion) reversed(a *active, v *value) {
	if !v.isObject() {
		x.fail(v, "invalid @reverse value", "@reverse is an object, not %s", v.kind)
	}
	for _, inner := range x.expand(a, "@reverse", v, false).nodes {
		if inner.has&hasReverse != 0 {
			x.result.props = append(x.result.props, inner.reverse...)
		}
		for _, prop := range inner.props {
			x.addReverse(v, prop.iri, prop.values)
		}
	}
}

func (x *expansion) addReverse(v *value, iri string, values []*node) {
	for _, n := range values {
		if !n.isNode() {
			x.fail(v, "invalid reverse property value", "the value of a reverse property is a node, not a value or a list")
		}
	}
	r := x.result.mark(hasReverse)
	r.reverse = append(r.reverse, property{iri, values})
}
