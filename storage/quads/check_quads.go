package quads

import (
	"fmt"

	"github.com/webrace/webrace/internal/rdf"
)

// quads holds the other orders against CSPO, of which those quads count whose terms are known.
func (c *check) quads() error {
	unknown, damaged := &damage{kind: unknownTerm}, &damage{kind: damagedValue, where: cspo.name}
	var want digest
	err := c.each(cspo.key, "quads", func(key, _ []byte) error {
		if len(key) != quadSize {
			damaged.add("the key of no quad: %x", key)
			return c.Remove(key)
		}
		q := cspo.quad(key)
		if why := c.unsound(q); why != "" {
			unknown.add("%s", why)
			for _, o := range orders {
				if err := c.Remove(o.append(nil, q)); err != nil {
					return err
				}
			}
			return nil
		}
		want.quad(q)
		return nil
	})
	c.tell(unknown, damaged)
	if err != nil {
		return err
	}
	for _, o := range orders {
		if o == cspo {
			continue
		}
		if err := c.order(o, want); err != nil {
			return err
		}
	}
	return nil
}

func (d *digest) quad(q quad) {
	d.add(uint64(q[subject]), uint64(q[predicate]), uint64(q[object]), uint64(q[graph]))
}

// unsound returns why there can be no such quad.
func (c *check) unsound(q quad) string {
	for place, n := range q {
		if !c.known.has(n) {
			return fmt.Sprintf("quad %012x has the id %012x, which no term has: the quad is lost", q, uint64(n))
		}
		kind := kindOf(n)
		if place == subject && kind == rdf.Literal || (place == predicate || place == graph) && kind != rdf.IRI {
			return fmt.Sprintf("quad %012x has a term where it cannot be: the quad is lost", q)
		}
	}
	return ""
}

// order checks one order.
func (c *check) order(o *order, want digest) error {
	damaged := &damage{kind: damagedValue, where: o.name}
	var have digest
	err := c.each(o.key, "quads by "+o.name, func(key, _ []byte) error {
		if len(key) != quadSize {
			damaged.add("the key of no quad: %x", key)
			return c.Remove(key)
		}
		if q := o.quad(key); c.unsound(q) == "" {
			have.quad(q)
		} else {
			have.n = -1 << 62 // the two differ then
		}
		return nil
	})
	c.tell(damaged)
	if err != nil || have == want {
		return err
	}
	missing, stray := &damage{kind: missingQuads, where: o.name}, &damage{kind: strayQuads, where: o.name}
	defer func() { c.tell(missing, stray) }()
	err = c.each(o.key, "quads by "+o.name, func(key, _ []byte) error {
		if len(key) != quadSize {
			return nil // told of already
		}
		q := o.quad(key)
		has, err := c.Has(cspo.append(nil, q))
		if err != nil || has {
			return err
		}
		stray.add("quad %012x", q)
		return c.Remove(key)
	})
	if err != nil {
		return err
	}
	return c.each(cspo.key, "quads", func(key, _ []byte) error {
		if len(key) != quadSize {
			return nil
		}
		other := o.append(nil, cspo.quad(key))
		has, err := c.Has(other)
		if err != nil || has {
			return err
		}
		missing.add("quad %012x", cspo.quad(key))
		return c.Set(other, nil)
	})
}
