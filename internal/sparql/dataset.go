// Package sparql answers queries in SPARQL 1.1 over a [Dataset].
package sparql

import (
	"context"
	"iter"

	"github.com/webrace/webrace"
)

// ID stands for a term in a dataset. Zero stands for none.
type ID uint64

// Union is the graph of a [Pattern] that asks for the default graph of a dataset: what any of its graphs states, each
// triple once, but for what the dataset states about itself.
const Union ID = 1<<64 - 1

// Pattern is a quad, or, with places that are zero, all quads that have what its other places name.
type Pattern struct{ Subject, Predicate, Object, Graph ID }

// Dataset is what a query is asked of: one state, which does not change while it is read.
type Dataset interface {
	Find(webrace.Term) (ID, error) // zero: nothing has it
	Term(ID) (webrace.Term, error)

	// Cursor looks for quads, in the order that the bound places of a pattern choose: always the same for the same
	// pattern and state.
	Cursor(bound Pattern) (Cursor, error)

	// Estimate returns about how many quads fit a pattern: exactly, up to 256.
	Estimate(Pattern) (int64, error)

	// Words yields the literals that have all words of a query, each once.
	Words(ctx context.Context, query string) iter.Seq2[ID, error]
}

// Cursor goes through quads. It is for one goroutine.
type Cursor interface {
	// Seek begins anew at the first quad of a pattern, and reports whether there is one. The pattern has the same bound
	// places as the one that the cursor was made for; where subject and predicate are, the object may be or not.
	Seek(Pattern) bool
	Next() bool    // goes to the next quad, and reports whether there is one
	Quad() Pattern // where the cursor is: all places are bound, but for the graph of the union, which is [Union]
	Err() error    // why Seek or Next reported false, if not because there is no quad
	Close() error
}
