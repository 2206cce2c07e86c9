package rdf

import "bytes"

// finishTag finds the namespaces of a start tag: those that it declares, and those of its names.
func (x *xmlReader) finishTag(nameEnd, colon int) error {
	x.name = x.cut(0, colon+1, nameEnd)
	kept := x.attrs[:0]
	for _, a := range x.attrs {
		a.xmlName = x.cut(a.start[0], a.start[1], a.end[0])
		a.value = x.tag[a.start[2]:a.end[2]]
		if declares, err := x.declares(&a); err != nil {
			return err
		} else if !declares {
			kept = append(kept, a)
		}
	}
	x.attrs = kept
	if err := x.resolveName(&x.name, true, x.tagAt); err != nil {
		return err
	}
	for i := range x.attrs {
		if err := x.resolveName(&x.attrs[i].xmlName, false, x.attrs[i].at); err != nil {
			return err
		}
	}
	return x.unique()
}

// cut makes a name from tag; local is where its local part begins.
func (x *xmlReader) cut(start, local, end int) xmlName {
	n := xmlName{qualified: x.tag[start:end], local: x.tag[local:end]}
	if local > start {
		n.prefix = x.tag[start : local-1]
	}
	return n
}

// declares reports whether an attribute declares a namespace, and does so.
func (x *xmlReader) declares(a *attribute) (bool, error) {
	prefix := ""
	switch {
	case string(a.prefix) == "xmlns":
		prefix = string(a.local)
	case len(a.prefix) > 0 || string(a.local) != "xmlns":
		return false, nil
	}
	space := string(a.value)
	switch {
	case prefix == "xml" && space == xmlNS:
	case prefix == "xml" || prefix == "xmlns" || isXMLSpace(space):
		return false, x.errorAt(a.at, "the prefixes xml and xmlns, and their namespaces, are not declared")
	case prefix != "" && space == "":
		return false, x.errorAt(a.at, "the prefix %s is declared without a namespace", prefix)
	}
	for _, b := range x.undo[x.open[len(x.open)-1].undo:] {
		if b.prefix == prefix {
			return false, x.errorAt(a.at, "a tag has the attribute %s twice", a.qualified)
		}
	}
	if len(x.undo)-x.open[len(x.open)-1].undo > 1000 {
		return false, x.limitError(0, "namespaces of one tag", 1000)
	}
	old, bound := x.namespaces[prefix]
	x.undo = append(x.undo, binding{prefix, old, bound})
	x.namespaces[prefix] = space
	return true, nil
}

// isXMLSpace reports whether a namespace is one of XML itself, which no other prefix is declared for.
func isXMLSpace(space string) bool { return space == xmlNS || space == "http://www.w3.org/2000/xmlns/" }

// resolveName finds the namespace of a name. Attributes without a prefix have none.
func (x *xmlReader) resolveName(n *xmlName, element bool, at int) error {
	if len(n.prefix) == 0 && !element {
		return nil
	}
	space, ok := x.namespaces[string(n.prefix)]
	if !ok && len(n.prefix) > 0 {
		return x.errorAt(at, "the prefix %s is not declared", shortened(n.prefix))
	}
	n.space = space
	return nil
}

// unique sees that a tag has no attribute twice.
func (x *xmlReader) unique() error {
	if len(x.attrs) <= 8 {
		for i, a := range x.attrs {
			for _, b := range x.attrs[:i] {
				if a.space == b.space && bytes.Equal(a.local, b.local) {
					return x.errorAt(a.at, "a tag has the attribute %s twice", shortened(a.qualified))
				}
			}
		}
		return nil
	}
	type key struct{ space, local string }
	seen := make(map[key]bool, len(x.attrs))
	for _, a := range x.attrs {
		k := key{a.space, string(a.local)}
		if seen[k] {
			return x.errorAt(a.at, "a tag has the attribute %s twice", shortened(a.qualified))
		}
		seen[k] = true
	}
	return nil
}
