package sparql

import "github.com/webrace/webrace/internal/rdf"

// mostSettled is how many terms of a query are looked for.
const mostSettled = 1000

// settled returns the query in which the terms of schema.org that it names at https: or www are those at http:, unless
// the dataset has them as they are written: pages name them in either way, and so do people who ask.
func (q *Query) settled(d Dataset) (*Query, error) {
	stands := map[string]string{}
	for _, iri := range q.elsewhere[:min(mostSettled, len(q.elsewhere))] {
		if _, known := stands[iri]; known {
			continue
		}
		said, err := isSaid(d, iri)
		if err != nil {
			return nil, err
		}
		if stands[iri] = iri; !said {
			stands[iri] = rdf.SchemaOrg(iri)
		}
	}
	for iri, term := range stands {
		if term != iri {
			return parse(q.text, q.given, func(iri string) string {
				if term := stands[iri]; term != "" {
					return term
				}
				return iri
			})
		}
	}
	return q, nil
}

// isSaid reports whether any quad has an IRI.
func isSaid(d Dataset, iri string) (bool, error) {
	id, err := d.Find(rdf.NewIRI(iri))
	if err != nil || id == 0 {
		return false, err
	}
	for _, p := range []Pattern{{Predicate: id}, {Object: id}, {Subject: id}} {
		if n, err := d.Estimate(p); n > 0 || err != nil {
			return n > 0, err
		}
	}
	return false, nil
}
