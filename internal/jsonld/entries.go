package jsonld

// entry expands the values of a property (section 5.1.2, steps 13.5 to 13.14).
func (x *expansion) entry(a *active, key, iri string, v *value) {
	d := a.term(key)
	if d == nil {
		d = &definition{}
	}
	var result expanded
	switch {
	case d.typ == "@json":
		result = one(&node{has: hasValue | hasType, value: v, at: v.at, types: []string{"@json"}})
	case d.container&inLanguage != 0 && v.isObject():
		result = x.languageMap(a, d, v)
	case d.container&(inIndex|inType|inID) != 0 && v.isObject():
		result = x.indexMap(a, d, key, v)
	default:
		result = x.expand(a, key, v, false)
	}
	if result.isNull() {
		return
	}
	if d.container&inList != 0 && (result.array || result.nodes[0].has&hasList == 0) {
		result = one(x.wrap(hasList, result.nodes, v.at))
	}
	if d.container&inGraph != 0 && d.container&(inID|inIndex) == 0 {
		for i, n := range result.nodes {
			result.nodes[i] = x.wrap(hasGraph, []*node{n}, n.at)
		}
	}
	if d.reverse {
		x.addReverse(v, iri, result.nodes)
		return
	}
	x.result.props = append(x.result.props, property{iri, result.nodes})
}

// languageMap expands an object whose keys are languages.
func (x *expansion) languageMap(a *active, d *definition, v *value) expanded {
	result := expanded{array: true}
	keys, items := v.members()
	for i, language := range keys {
		iri, _ := x.expandIRI(a, language, false, true)
		values := items[i].all()
		for k := range values {
			item := &values[k]
			if item.kind == null {
				continue
			}
			x.step(item.at)
			x.countNode()
			x.wantString(item, "invalid language map value", "a value of a language map")
			n := &node{has: hasValue, value: item, at: item.at}
			if iri != "@none" {
				n.has |= hasLanguage
				n.language = language
			}
			n.setDirection(a, d)
			result.nodes = append(result.nodes, n)
		}
	}
	return result
}

// indexMap expands an object whose keys are indexes, ids or types of its values.
func (x *expansion) indexMap(a *active, d *definition, key string, v *value) expanded {
	result := expanded{array: true}
	keys, items := v.members()
	for i, index := range keys {
		inside := a
		if d.container&(inID|inType) != 0 && a.previous != nil {
			inside = a.previous
		}
		if d.container&inType != 0 {
			if t := inside.term(index); t != nil && t.context != nil {
				inside = x.scoped(inside, t, false, false)
			}
		}
		m := &mapped{expansion: x, a: a, d: d, index: index, at: &items[i]}
		m.iri, _ = x.expandIRI(a, index, false, true)
		values := &items[i]
		if values.kind != array {
			values = &value{kind: array, at: values.at, container: &container{items: []value{*values}}}
		}
		for _, n := range x.expand(inside, key, values, true).nodes {
			result.nodes = append(result.nodes, m.apply(n))
		}
	}
	return result
}

// mapped is a key of a map, which tells something of the values there.
type mapped struct {
	*expansion
	a     *active
	d     *definition
	index string
	iri   string // what the key stands for
	at    *value
}

func (m *mapped) apply(n *node) *node {
	if m.d.container&inGraph != 0 && !n.isGraph() {
		n = m.wrap(hasGraph, []*node{n}, n.at)
	}
	switch {
	case m.iri == "@none":
	case m.d.container&inIndex != 0 && m.d.index != "" && m.d.index != "@index":
		m.indexProperty(n)
	case m.d.container&inIndex != 0:
		if n.has&hasIndex == 0 {
			n.mark(hasIndex).index = m.index
		}
	case m.d.container&inID != 0:
		id, _ := m.expandIRI(m.a, m.index, true, false)
		if n.has&hasID == 0 && n.isNode() {
			n.has |= hasID
			n.id = id
		} else if id != n.id {
			m.note(n.at, leftOut, "the key is not the id of what it has, which has another or can have none", m.index)
		}
	case m.d.container&inType != 0 && !n.isNode():
		m.note(n.at, leftOut, "the key is no type of what it has, which can have none", m.index)
	case m.d.container&inType != 0:
		n.has |= hasType
		n.typeList = true
		n.types = append([]string{m.iri}, n.types...)
	}
	return n
}

// indexProperty makes the key the value of a property of the node.
func (m *mapped) indexProperty(n *node) {
	if n.has&hasValue != 0 {
		m.fail(m.at, "invalid value object", "a value cannot have the property %s, which its index is to be", m.d.index)
	}
	iri, ok := m.expandIRI(m.a, m.d.index, false, true)
	if !ok {
		m.note(m.at.at, leftOut, "the property of an index stands for nothing", m.d.index)
		return
	}
	m.countNode()
	index := m.expandValue(m.a, m.d.index, &value{kind: text, at: m.at.at, text: m.index})
	n.props = append([]property{{iri, []*node{index}}}, n.props...)
}
