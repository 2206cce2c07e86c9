package xmltoken

import "fmt"

// Bounds are the most that a document may have of what costs parsers more than its size lets expect.
type Bounds struct {
	Depth      int // elements within each other: parsers recurse
	Attributes int // of an element: they also declare namespaces, among which parsers search for each element
	Elements   int
}

// Check returns an error that tells which of the bounds a document exceeds, if it does.
func (b Bounds) Check(text []byte) error {
	depth, elements := 0, 0
	for r := NewReader(text); ; {
		switch r.Next() {
		case None:
			return nil
		case Start:
			if elements++; elements > b.Elements {
				return fmt.Errorf("it has more than %d elements", b.Elements)
			}
			n := 0
			for range r.Attributes() {
				n++
			}
			if n > b.Attributes {
				return fmt.Errorf("an element has %d attributes, more than %d", n, b.Attributes)
			}
			if !r.Empty {
				depth++
			}
			if depth > b.Depth {
				return fmt.Errorf("its elements are nested more than %d deep", b.Depth)
			}
		case End:
			depth = max(0, depth-1)
		}
	}
}
