package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/storage"
)

// oxigraphRatio is what a ring may cost, beside Oxigraph.
const oxigraphRatio = 2

const (
	ringQuads = 157_000
	ringQuery = `PREFIX : <http://rings.example/> SELECT ?a ?b ?c ?d { ?a :p ?b . ?b :q ?c . ?c :r ?d . ?d :s ?a }`
)

//go:embed semantic/rings.js
var ringsJS string

// rings asks for rings of four properties, of which each has a quarter of the quads: where few meet, and many.
func (s *semanticBench) rings() error {
	for _, nodes := range []int{40_000, 10_000} {
		if err := s.ring(nodes); err != nil {
			return fmt.Errorf("rings: %w", err)
		}
	}
	return nil
}

func (s *semanticBench) ring(nodes int) error {
	file := filepath.Join(s.dir, "rings.nq")
	if err := os.WriteFile(file, ringText(nodes), 0o666); err != nil {
		return err
	}
	defer os.Remove(file)
	return s.inStore(func(dir *storage.Dir) error {
		store, err := dir.Quads()
		if err != nil {
			return err
		}
		in, err := os.Open(file)
		if err != nil {
			return err
		}
		defer in.Close()
		if _, err := store.Import(context.Background(), rdf.Parse(context.Background(), in, rdf.NQuads, rdf.Options{Limits: rdf.Limits{Triples: -1}})); err != nil {
			return err
		}
		now, err := store.Snapshot()
		if err != nil {
			return err
		}
		defer now.Close()
		found := 0
		var failed error
		ours, err := clock(s.rounds, calls(time.Second, func() {
			rows, err := solutions(now, ringQuery)
			found, failed = len(rows), errors.Join(failed, err)
		}))
		if err = errors.Join(err, failed); err != nil {
			return err
		}
		return s.besideOxigraph(fmt.Sprintf("ring of four patterns, %s quads, %s nodes, %d solutions, CPU", grouped(ringQuads), grouped(nodes), found),
			micros(ours[0].CPU), found, file)
	})
}

// besideOxigraph adds the row of a ring.
func (s *semanticBench) besideOxigraph(row string, ours float64, found int, file string) error {
	out, err := exec.Command("node", "-e", ringsJS, file, ringQuery).Output()
	if err != nil {
		s.leftOut(row+" beside Oxigraph (node; npm install oxigraph, and NODE_PATH)", err)
		s.table.value(row, ours, "µs", nil)
		return nil
	}
	var theirs struct {
		Rows         int
		Microseconds float64
	}
	if err := json.Unmarshal(out, &theirs); err != nil {
		return err
	}
	if theirs.Rows != found {
		return fmt.Errorf("%d solutions, of Oxigraph %d", found, theirs.Rows)
	}
	s.against(row, ours, "µs", "Oxigraph", theirs.Microseconds, atMost(oxigraphRatio))
	return nil
}

// ringText returns quads of four properties between nodes, in fifty graphs, each triple once.
func ringText(nodes int) []byte {
	r := rand.New(rand.NewPCG(27, uint64(nodes)))
	type edge struct{ from, property, to int }
	seen := make(map[edge]bool, ringQuads)
	var text bytes.Buffer
	for len(seen) < ringQuads {
		e := edge{r.IntN(nodes), r.IntN(4), r.IntN(nodes)}
		if seen[e] {
			continue
		}
		seen[e] = true
		fmt.Fprintf(&text, "<http://rings.example/n%d> <http://rings.example/%c> <http://rings.example/n%d> <http://rings.example/g%d> .\n",
			e.from, "pqrs"[e.property], e.to, r.IntN(50))
	}
	return text.Bytes()
}
