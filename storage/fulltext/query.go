package fulltext

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/search/query"

	"github.com/webrace/webrace/internal/analyze"
)

const (
	maxQuery     = 4 << 10 // bytes
	minBeginning = 2       // letters before a wildcard: fewer would be found in most of the dictionary
	maxFuzziness = 2       // edits; the library has no more
)

// parse reads a query and fits it to our fields: words without a field are looked for in all texts, and
// what the library takes literally is folded as the indexed words are.
func parse(text string) (*query.BooleanQuery, error) {
	if len(text) > maxQuery {
		return nil, fmt.Errorf("%w: it is longer than %d bytes", ErrQuery, maxQuery)
	}
	if strings.TrimSpace(text) == "" {
		return nil, fmt.Errorf("%w: it is empty", ErrQuery)
	}
	parsed, err := query.NewQueryStringQuery(text).Parse()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrQuery, err)
	}
	q, ok := parsed.(*query.BooleanQuery)
	if !ok {
		return nil, fmt.Errorf("%w: it is empty", ErrQuery)
	}
	if err := eachClause(q, fit); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrQuery, err)
	}
	return q, nil
}

// eachClause replaces each clause of a parsed query with what change makes of it.
func eachClause(q *query.BooleanQuery, change func(query.Query) (query.Query, error)) error {
	for _, group := range []query.Query{q.Must, q.Should, q.MustNot} {
		for i, clause := range clauses(group) {
			changed, err := change(clause)
			if err != nil {
				return err
			}
			clauses(group)[i] = changed
		}
	}
	return nil
}

func clauses(group query.Query) []query.Query {
	switch g := group.(type) {
	case *query.ConjunctionQuery:
		return g.Conjuncts
	case *query.DisjunctionQuery:
		return g.Disjuncts
	}
	return nil
}

func fit(clause query.Query) (query.Query, error) {
	switch q := clause.(type) {
	case *query.DisjunctionQuery: // a number: looked for as a word, and as a value
		for i, d := range q.Disjuncts {
			fitted, err := fit(d)
			if err != nil {
				return nil, err
			}
			q.Disjuncts[i] = fitted
		}
		return q, nil
	case *query.MatchQuery:
		return fitMatch(q)
	case *query.MatchPhraseQuery:
		if isTerm(q.FieldVal) {
			term := query.NewTermQuery(fitTerm(q.FieldVal, q.MatchPhrase))
			term.SetField(q.FieldVal)
			term.SetBoost(q.Boost())
			return term, nil
		}
		return inTexts(q.FieldVal, q.Boost(), func(field string) fieldQuery {
			c := query.NewMatchPhraseQuery(q.MatchPhrase)
			c.SetField(field)
			return c
		})
	case *query.WildcardQuery:
		return fitWildcard(q)
	case *query.RegexpQuery:
		if err := checkField(q.FieldVal); err != nil {
			return nil, err
		}
		return nil, errors.New("regular expressions are not offered; to look for slashes, put quotes around them")
	case query.FieldableQuery: // ranges
		return q, checkField(q.Field())
	}
	return clause, nil
}

func fitMatch(q *query.MatchQuery) (query.Query, error) {
	if q.Fuzziness > maxFuzziness || q.Fuzziness < 0 {
		return nil, fmt.Errorf("%s~%d: at most %d letters may differ", q.Match, q.Fuzziness, maxFuzziness)
	}
	if isTerm(q.FieldVal) {
		q.Match = fitTerm(q.FieldVal, q.Match)
	}
	return inTexts(q.FieldVal, q.Boost(), func(field string) fieldQuery {
		c := query.NewMatchQuery(q.Match)
		c.SetFuzziness(q.Fuzziness)
		c.SetField(field)
		return c
	})
}

func fitWildcard(q *query.WildcardQuery) (query.Query, error) {
	if q.Wildcard == "*" && q.FieldVal == "" {
		return query.NewMatchAllQuery(), nil
	}
	if isTerm(q.FieldVal) {
		q.Wildcard = fitTerm(q.FieldVal, q.Wildcard)
	} else {
		q.Wildcard = analyze.Fold(q.Wildcard)
	}
	if beginningOf(q.Wildcard) == "" {
		return nil, fmt.Errorf("%s: at least %d letters must come before * or ?", q.Wildcard, minBeginning)
	}
	return inTexts(q.FieldVal, q.Boost(), func(field string) fieldQuery {
		c := query.NewWildcardQuery(q.Wildcard)
		c.SetField(field)
		return c
	})
}

// beginningOf returns what stands before the first wildcard, or "" if that is too short.
func beginningOf(wildcard string) string {
	beginning := wildcard
	if n := strings.IndexAny(wildcard, "*?"); n >= 0 {
		beginning = wildcard[:n]
	}
	if utf8.RuneCountInString(beginning) < minBeginning {
		return ""
	}
	return beginning
}

// fieldQuery is what a clause is made of.
type fieldQuery interface {
	query.FieldableQuery
	query.BoostableQuery
}

// inTexts returns the clause that asks in a field, or when it is empty in any of the texts.
func inTexts(field string, boost float64, in func(field string) fieldQuery) (query.Query, error) {
	if field != "" {
		if err := checkField(field); err != nil {
			return nil, err
		}
		q := in(field)
		q.SetBoost(boost)
		return q, nil
	}
	var any []query.Query
	for _, f := range textFields {
		q := in(f.name)
		q.SetBoost(boost * f.boost)
		any = append(any, q)
	}
	return query.NewDisjunctionQuery(any), nil
}

// checkField refuses fields that are not indexed, which would find nothing and not say why.
func checkField(field string) error {
	switch field {
	case "", "title", "headings", "body", "url", "host", "language", "type", "date", "version":
		return nil
	}
	return fmt.Errorf("there is no field %s; put quotes around text that has a colon", field)
}

// isTerm tells the fields whose value is one term.
func isTerm(field string) bool {
	return field == "url" || field == "host" || field == "language" || field == "type"
}

// fitTerm makes a value what it is in the index; URLs tell case.
func fitTerm(field, value string) string {
	if field == "url" {
		return value
	}
	return strings.ToLower(value)
}
