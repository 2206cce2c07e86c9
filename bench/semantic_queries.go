package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql"
	"github.com/webrace/webrace/storage"
)

// rdflibRatio is what a query may cost, beside rdflib.
const rdflibRatio = 0.1

// question is a query, and the same for rdflib where that has other means.
type question struct{ name, ours, rdflib string }

const prefixes = "PREFIX schema: <http://schema.org/> PREFIX text: <http://jena.apache.org/text#>\n"

// questions are asked of the catalogue.
func questions() []question {
	word := catalogueWords[40]
	return []question{
		{name: "star", ours: `SELECT ?thing ?name ?price { ?thing schema:brand <https://brands.example/7> ; a schema:Product ; schema:name ?name ;
			schema:price ?price ; schema:category ?category }`},
		{name: "path", ours: `SELECT ?brand { <` + catalogueURL(1) + `#thing1> schema:isRelatedTo+/schema:brand ?brand }`},
		{name: "keyword", ours: `SELECT ?thing ?name { ?thing text:query (schema:name "` + word + `") ; schema:name ?name }`,
			rdflib: `SELECT ?thing ?name { ?thing schema:name ?name FILTER(CONTAINS(CONCAT(" ", LCASE(STR(?name)), " "), " ` + word + ` ")) }`},
		{name: "top-k", ours: `SELECT ?thing ?price { ?thing schema:price ?price } ORDER BY DESC(?price) ?thing LIMIT 10`},
	}
}

// queries asks the store, and rdflib, which has the same triples in memory.
func (s *semanticBench) queries(dir *storage.Dir, documents []*webrace.Document) error {
	store, err := dir.Quads()
	if err != nil {
		return err
	}
	now, err := store.Snapshot()
	if err != nil {
		return err
	}
	defer now.Close()
	row := fmt.Sprintf("query at %s quads, CPU", grouped(len(documents)*catalogueQuads))
	var rival *rdflib
	if err := needs("python3-rdflib"); err != nil {
		s.leftOut(row+" beside rdflib", err)
	} else if rival, err = s.startRDFLib(documents); err != nil {
		return fmt.Errorf("rdflib: %w", err)
	} else {
		defer rival.close()
		s.note("semantic: rdflib %s reads %d triples in %.1f s", rival.Version, rival.Triples, rival.Seconds)
	}
	for _, q := range questions() {
		if err := s.query(now, rival, q, row); err != nil {
			return fmt.Errorf("query %s: %w", q.name, err)
		}
	}
	return nil
}

// query adds the row of one query.
func (s *semanticBench) query(now sparql.Dataset, rival *rdflib, q question, row string) error {
	answer, err := solutions(now, prefixes+q.ours)
	if err != nil {
		return err
	}
	if len(answer) == 0 {
		return errors.New("it has no answer")
	}
	var failed error
	quickly, err := clock(s.rounds, calls(time.Second/5, func() {
		_, err := solutions(now, prefixes+q.ours)
		failed = errors.Join(failed, err)
	}))
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	name, value := fmt.Sprintf("%s %s, %d solutions", q.name, row, len(answer)), micros(quickly[0].CPU)
	if rival == nil {
		s.table.value(name, value, "µs", nil)
		return nil
	}
	if q.rdflib == "" {
		q.rdflib = q.ours
	}
	theirs, err := rival.ask(prefixes + q.rdflib)
	if err != nil {
		return err
	}
	if !slices.Equal(answer, theirs.Rows) {
		return fmt.Errorf("%d solutions, of rdflib %d, and they differ: %.300q and %.300q", len(answer), len(theirs.Rows), answer, theirs.Rows)
	}
	s.against(name, value, "µs", "rdflib", theirs.Microseconds, atMost(rdflibRatio))
	return nil
}

// solutions returns those of a query, each as the terms it has, sorted.
func solutions(d sparql.Dataset, text string) (all []string, err error) {
	q, err := sparql.Parse(text, "")
	if err != nil {
		return nil, err
	}
	answers, err := q.Run(context.Background(), d, sparql.Limits{})
	if err != nil {
		return nil, err
	}
	for row, err := range answers.Solutions() {
		if err != nil {
			return nil, err
		}
		terms := make([]string, len(row))
		for i, t := range row {
			terms[i] = string(t)
		}
		all = append(all, strings.Join(terms, " "))
	}
	slices.Sort(all)
	return all, nil
}

//go:embed semantic/ask.py
var askPy string

// rdflib is a process in Python that has read the catalogue, and answers queries.
type rdflib struct {
	process *exec.Cmd
	orders  io.WriteCloser
	answers *json.Decoder

	Version string
	Triples int
	Seconds float64
}

// rdflibAnswer is what it answers to a query, and the CPU time that this took.
type rdflibAnswer struct {
	Rows         []string
	Microseconds float64
}

func (s *semanticBench) startRDFLib(documents []*webrace.Document) (*rdflib, error) {
	triples := triplesOf(documents)
	text, err := written(triples, rdf.NTriples)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(s.dir, "rdflib.nt")
	if err := os.WriteFile(file, text, 0o666); err != nil {
		return nil, err
	}
	defer os.Remove(file)
	r := &rdflib{process: exec.Command(debianPython, "-c", askPy, file)}
	r.process.Stderr = os.Stderr
	answers, err := r.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if r.orders, err = r.process.StdinPipe(); err != nil {
		return nil, err
	}
	if err := r.process.Start(); err != nil {
		return nil, err
	}
	r.answers = json.NewDecoder(bufio.NewReader(answers))
	if err := r.answers.Decode(r); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, countIs(r.Triples, len(triples), nil)
}

// ask asks a query.
func (r *rdflib) ask(query string) (a rdflibAnswer, err error) {
	line, err := json.Marshal(query)
	if err == nil {
		_, err = r.orders.Write(append(line, '\n'))
	}
	if err == nil {
		err = r.answers.Decode(&a)
	}
	slices.Sort(a.Rows)
	return a, err
}

func (r *rdflib) close() error { return errors.Join(r.orders.Close(), r.process.Wait()) }
