package quads

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// Export writes what all graphs state as N-Quads, the provenance graph included, graph after graph. Sorted, the lines
// are the same for all stores that hold the same.
func (s *Snapshot) Export(ctx context.Context, to io.Writer) error {
	w := rdf.NewWriter(to, rdf.NQuads, nil)
	for q, err := range s.Quads(ctx, "") {
		if err == nil {
			err = w.Write(q)
		}
		if err != nil {
			return fmt.Errorf("export quads: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("export quads: %w", err)
	}
	return nil
}

// BlankPrefix is what the labels of the blank nodes of a context begin with, so that none is in two contexts.
func BlankPrefix(url string) string { return "x" + hexDigits(rdf.EscapeIRI(url)) + "n" }

// hexDigits returns 20 of the digest of a text.
func hexDigits(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:10])
}

// imported returns a term as it is kept of a file, or of a graph that another program made: a blank node becomes one of
// its context, and the same whenever the file is read, unless it is that already.
func imported(t webrace.Term, prefix string) webrace.Term {
	if rdf.KindOf(t) != rdf.Blank {
		return t
	}
	label := rdf.Value(t)
	if strings.HasPrefix(label, prefix) {
		return t
	}
	return rdf.NewBlank(prefix + "i" + hexDigits(label))
}

// WithOwnBlanks returns a graph as that of a context, in which another context has no blank node. The graph that is
// given stays as it is.
func WithOwnBlanks(g *webrace.Graph, url string) *webrace.Graph {
	prefix := BlankPrefix(url)
	own := *g
	copied := false
	for i, t := range g.Triples {
		subject, object := imported(t.Subject, prefix), imported(t.Object, prefix)
		if subject == t.Subject && object == t.Object {
			continue
		}
		if !copied {
			own.Triples, copied = slices.Clone(g.Triples), true
		}
		own.Triples[i].Subject, own.Triples[i].Object = subject, object
	}
	return &own
}
