package sparql_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql"
)

// TestDates asks what happened when, as people do.
func TestDates(t *testing.T) {
	t.Parallel()
	const xsd, prefixes = rdf.XSD, "PREFIX xsd: <" + rdf.XSD + "> PREFIX : <http://example.org/> "
	now := time.Now()
	data := sparql.NewMemory(nil)
	for hours, name := range map[int]string{1: "now", 6 * 24: "days", 8 * 24: "week", 400 * 24: "year"} {
		at := now.Add(-time.Duration(hours) * time.Hour).UTC()
		subject := rdf.NewIRI("http://example.org/" + name)
		for predicate, object := range map[webrace.Term]webrace.Term{
			"<http://example.org/at>":  rdf.NewTyped(at.Format("2006-01-02T15:04:05Z"), xsd+"dateTime"),
			"<http://example.org/on>":  rdf.NewTyped(at.Format("2006-01-02"), xsd+"date"),
			"<http://example.org/say>": rdf.NewTyped(at.Format("2006-01-02"), "http://schema.org/Date"),
		} {
			data.Add(rdf.Quad{Triple: webrace.Triple{Subject: subject, Predicate: predicate, Object: object}})
		}
	}
	lines := func(names ...string) string {
		text := "?x\n"
		for _, name := range names {
			text += fmt.Sprintf("<http://example.org/%s>\n", name)
		}
		return text
	}
	for where, want := range map[string]string{
		`?x :at ?at FILTER(?at > NOW() - "P7D"^^xsd:dayTimeDuration)`:                                 lines("days", "now"),
		`?x :at ?at FILTER(NOW() - ?at < "PT2H"^^xsd:dayTimeDuration)`:                                lines("now"),
		`?x :at ?at FILTER(?at + "P1Y"^^xsd:yearMonthDuration < NOW())`:                               lines("year"),
		`?x :on ?on FILTER(xsd:date(NOW()) - ?on >= "P7D"^^xsd:dayTimeDuration)`:                      lines("week", "year"),
		`?x :say ?on FILTER(xsd:date(STR(?on)) > xsd:date(NOW()) - "P7D"^^xsd:dayTimeDuration)`:       lines("days", "now"),
		`?x :at ?at FILTER((NOW() - ?at) / "P1D"^^xsd:dayTimeDuration > 7.9)`:                         lines("week", "year"),
		`?x :at ?at ; :on ?on FILTER(xsd:date(?at) = xsd:date(xsd:dateTime(?on)) && ?at < NOW()) `:    lines("days", "now", "week", "year"),
		`VALUES (?x ?t) { (:a "x"^^:t) (:b "x"@en) } FILTER(?t != "x"@el)`:                            lines("a", "b"),
		`VALUES (?x ?t) { (:a "x"^^:t) (:b 1) (:c "x"@el) (:d "x") } FILTER(?t IN (1, "x"@el, "x"))`:  lines("b", "c", "d"),
		`VALUES (?x ?t) { (:a "x"^^:t) (:b "y"^^xsd:integer) } FILTER(?t NOT IN ("x"@el, "y"@en))`:    lines("a", "b"),
		`VALUES (?x ?t) { (:a "2026-02-30"^^xsd:date) } FILTER(?t + "P1D"^^xsd:dayTimeDuration < 3) `: lines(),
	} {
		if got := answer(t, prefixes+"SELECT ?x { "+where+" } ORDER BY ?x", data); got != want {
			t.Errorf("%s:\n%swant\n%s", where, got, want)
		}
	}
}
