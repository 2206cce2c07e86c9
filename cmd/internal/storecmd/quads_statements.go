package storecmd

import (
	"context"
	"errors"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql"
	"github.com/webrace/webrace/storage/quads"
)

// statement is a triple, and all documents that state it.
type statement struct {
	webrace.Triple
	saidBy []string // URLs
}

// eachStatement calls f for what is said of a subject, or with an object, until it returns false: each triple once.
// What the store itself states of contexts is left out.
func eachStatement(ctx context.Context, s *quads.Snapshot, subject, object sparql.ID, f func(statement) (more bool, err error)) error {
	own, err := s.Find(rdf.NewIRI(quads.ProvenanceGraph))
	if err != nil {
		return err
	}
	cursor, err := s.Cursor(sparql.Pattern{Subject: subject, Object: object})
	if err != nil {
		return err
	}
	err = eachJoined(ctx, s, cursor, own, f)
	return errors.Join(err, cursor.Err(), cursor.Close())
}

// eachJoined puts together the quads of one triple, which follow each other in the order of the cursor.
func eachJoined(ctx context.Context, s *quads.Snapshot, cursor sparql.Cursor, own sparql.ID, f func(statement) (more bool, err error)) error {
	var last sparql.Pattern
	var now statement
	read := 0
	for cursor.Next() {
		if read++; read%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		q := cursor.Quad()
		if q.Graph == own {
			continue
		}
		graph, err := s.Term(q.Graph)
		if err != nil {
			return err
		}
		if q.Graph = 0; q != last {
			if more, err := emit(now, f); !more || err != nil {
				return err
			}
			last, now = q, statement{}
			if now.Triple, err = triple(s, q); err != nil {
				return err
			}
		}
		now.saidBy = append(now.saidBy, rdf.Value(graph))
	}
	_, err := emit(now, f)
	return err
}

func emit(now statement, f func(statement) (more bool, err error)) (more bool, err error) {
	if now.saidBy == nil {
		return true, nil
	}
	return f(now)
}

func triple(s *quads.Snapshot, q sparql.Pattern) (t webrace.Triple, err error) {
	for _, place := range []struct {
		to *webrace.Term
		id sparql.ID
	}{{&t.Subject, q.Subject}, {&t.Predicate, q.Predicate}, {&t.Object, q.Object}} {
		if *place.to, err = s.Term(place.id); err != nil {
			return t, err
		}
	}
	return t, nil
}
