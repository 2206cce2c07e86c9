package xmlschema

import (
	"strconv"
	"strings"
)

// Fault is what a [Check] finds wrong with a request that the vocabulary allows.
type Fault struct {
	// About is the element or attribute at fault, as a path below the request: "type/@method", or "keywords/group[2]" for
	// the second of that name; empty for all of it.
	About   string
	Key     string // and of an element with keywords, the one with this key; empty for none
	Message string
	Hint    string // what may have been meant instead; empty for none
	Warning bool   // the request is read all the same
}

// Check has f look at each request that the vocabulary allows, for what only the reader of the document knows, as
// which protocols it can serve. A fault refuses the request at its place as any other problem does; a warning does not.
// f may fill in what the request leaves open.
func Check(f func(*URD) []Fault) Option { return func(d *Decoder) { d.check = f } }

// fault reports what a check found, at the part of the request that it is about: at the nearest element around it, if
// the document leaves that part to its default.
func (b *binding) fault(f Fault) {
	n, at, below := b.n.locate(f.About)
	if keyword := n.keyword(f.Key); keyword != nil {
		n, at = keyword, keyword.at
	}
	if f.Warning {
		b.d.warning(n, at, below, f.Message, f.Hint)
	} else {
		b.d.problem(n, at, below, f.Message, f.Hint)
	}
}

// locate follows a path of elements, the last step of which may be an attribute, as far as there is something.
func (n *node) locate(path string) (element *node, at position, below string) {
	for step := range strings.SplitSeq(path, "/") {
		if name, attribute := strings.CutPrefix(step, "@"); attribute {
			for _, a := range n.attrs {
				if a.name == name {
					return n, a.at, "/@" + name
				}
			}
			break
		}
		kid := n.kid(step)
		if kid == nil {
			break
		}
		n = kid
	}
	return n, n.at, ""
}

// kid returns the child that a step names: the first of that name, or the one with the number behind it; nil for none.
func (n *node) kid(step string) *node {
	name, number, _ := strings.Cut(strings.TrimSuffix(step, "]"), "[")
	nth, err := strconv.Atoi(number)
	if err != nil {
		nth = 1
	}
	for _, kid := range n.kids {
		if kid.name != name {
			continue
		}
		if nth--; nth == 0 {
			return kid
		}
	}
	return nil
}

// keyword returns the first keyword with that key in the element or below; nil for none, and for no key.
func (n *node) keyword(key string) *node {
	if key == "" {
		return nil
	}
	for _, kid := range n.kids {
		for _, a := range kid.attrs {
			if kid.name == "keyword" && a.name == "key" && a.value == key {
				return kid
			}
		}
		if found := kid.keyword(key); found != nil {
			return found
		}
	}
	return nil
}
