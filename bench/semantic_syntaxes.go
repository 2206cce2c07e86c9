package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/internal/transform"
)

// lv2 is where Debian's audio plugins state in Turtle what they are.
const lv2 = "/usr/lib/lv2"

// comparedTriples is how many statements are compared one by one, blank nodes among them, with those that rapper reads;
// of all of them the number is compared.
const comparedTriples = 2000

// rapperNames are what rapper calls the syntaxes.
var rapperNames = []struct {
	syntax rdf.Syntax
	rapper string
	name   string
}{{rdf.NTriples, "ntriples", "N-Triples"}, {rdf.Turtle, "turtle", "Turtle"}, {rdf.RDFXML, "rdfxml", "RDF/XML"}}

// syntaxes reads what Debian's LV2 plugins state, as one large file, beside rapper.
func (s *semanticBench) syntaxes() error {
	for _, packaged := range []string{"raptor2-utils", "lv2-dev"} {
		if err := needs(packaged); err != nil {
			s.leftOut("N-Triples, Turtle, RDF/XML", err)
			return nil
		}
	}
	most := 600_000
	if s.quick {
		most = 60_000
	}
	triples, err := s.plugins(most)
	if err != nil {
		return err
	}
	s.note("semantic: %d triples of Debian's LV2 plugins", len(triples))
	for _, in := range rapperNames {
		if err := s.beside(in.syntax, in.rapper, in.name, triples); err != nil {
			return fmt.Errorf("%s: %w", in.name, err)
		}
	}
	return nil
}

// plugins returns what Debian's LV2 plugins state, as far as all syntaxes can.
func (s *semanticBench) plugins(most int) (triples []webrace.Triple, err error) {
	for _, path := range someFiles(lv2, ".ttl", 1<<20) {
		body, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		g, err := transform.Document(context.Background(), body, string(rdf.Turtle), "http://lv2.example/"+strings.TrimPrefix(path, lv2+"/"), transform.Options{})
		if err != nil {
			return nil, err
		}
		if _, err := written(g.Triples, rdf.RDFXML); err != nil {
			continue
		}
		if triples = append(triples, g.Triples...); len(triples) >= most {
			break
		}
	}
	if len(triples) < comparedTriples {
		return nil, fmt.Errorf("the LV2 plugins say %d triples only", len(triples))
	}
	return triples, nil
}

// written is what some triples are in a syntax.
func written(triples []webrace.Triple, syntax rdf.Syntax) ([]byte, error) {
	var b bytes.Buffer
	w := rdf.NewWriter(&b, syntax, map[string]string{
		"lv2": "http://lv2plug.in/ns/lv2core#", "rdfs": "http://www.w3.org/2000/01/rdf-schema#", "doap": "http://usefulinc.com/ns/doap#",
		"units": "http://lv2plug.in/ns/extensions/units#", "pg": "http://lv2plug.in/ns/ext/port-groups#",
	})
	for _, t := range triples {
		w.Write(rdf.Quad{Triple: t})
	}
	err := w.Close()
	return b.Bytes(), err
}

// beside reads one large file in a syntax, as rapper does.
func (s *semanticBench) beside(syntax rdf.Syntax, name, row string, triples []webrace.Triple) error {
	if err := s.sameAsRapper(syntax, name, triples[:comparedTriples]); err != nil {
		return err
	}
	text, err := written(triples, syntax)
	if err != nil {
		return err
	}
	file := filepath.Join(s.dir, "corpus")
	if err := os.WriteFile(file, text, 0o666); err != nil {
		return err
	}
	defer os.Remove(file)
	costs, err := race(min(s.rounds, 3), []contestant{
		{ours, func() error {
			read, err := readAll(bytes.NewReader(text), syntax, nil)
			return countIs(read, len(triples), err)
		}},
		{"rapper", func() error {
			var said bytes.Buffer
			c := exec.Command("rapper", "-c", "-i", name, file)
			c.Stderr = &said
			if _, err := runProcess(c); err != nil {
				return fmt.Errorf("%w: %s", err, lastLine(said.Bytes()))
			}
			_, counted, _ := strings.Cut(lastLine(said.Bytes()), "returned ")
			read := 0
			_, err := fmt.Sscan(counted, &read)
			return countIs(read, len(triples), err)
		}},
	})
	if err != nil {
		return err
	}
	n := float64(len(triples))
	s.against(row+", a triple, CPU", micros(best(costs[ours], cpuOf))/n, "µs", "rapper", micros(best(costs["rapper"], cpuOf))/n, atMost(1))
	return nil
}

func countIs(got, want int, err error) error {
	if err == nil && got != want {
		err = fmt.Errorf("%d triples are read of %d", got, want)
	}
	return err
}

// readAll reads quads to the end, and counts them.
func readAll(text io.Reader, syntax rdf.Syntax, each func(rdf.Quad)) (n int, err error) {
	for q, err := range rdf.Parse(context.Background(), text, syntax, rdf.Options{Base: "http://lv2.example/", Limits: rdf.Limits{Triples: -1}}) {
		if err != nil {
			return n, err
		}
		if n++; each != nil {
			each(q)
		}
	}
	return n, nil
}

// sameAsRapper compares what both read.
func (s *semanticBench) sameAsRapper(syntax rdf.Syntax, name string, triples []webrace.Triple) error {
	text, err := written(triples, syntax)
	if err != nil {
		return err
	}
	c := exec.Command("rapper", "-q", "-i", name, "-o", "ntriples", "-", "http://lv2.example/")
	c.Stdin = bytes.NewReader(text)
	said, err := c.Output()
	if err != nil {
		return fmt.Errorf("rapper: %w", err)
	}
	var ours, rapper []rdf.Quad
	_, err = readAll(bytes.NewReader(text), syntax, func(q rdf.Quad) { ours = append(ours, q) })
	_, rapperErr := readAll(bytes.NewReader(said), rdf.NTriples, func(q rdf.Quad) { rapper = append(rapper, q) })
	if err := errors.Join(err, rapperErr); err != nil {
		return err
	}
	if difference := testutil.Isomorphic(rapper, ours); difference != "" {
		return fmt.Errorf("rapper reads something else: %s", difference)
	}
	return nil
}
