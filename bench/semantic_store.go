package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/quads"
)

func revision(dir *storage.Dir) (quads.Stats, error) {
	store, err := dir.Quads()
	if err != nil {
		return quads.Stats{}, err
	}
	return store.Stats()
}

// size measures what a quad takes on disk, in a copy of the store, which has no log, and when that has merged what it
// merges by itself.
func (s *semanticBench) size(dir *storage.Dir) error {
	of, err := dir.Quads()
	if err != nil {
		return err
	}
	parent, err := s.empty("size")
	if err != nil {
		return err
	}
	defer os.RemoveAll(parent)
	path := filepath.Join(parent, "quads")
	if err := of.Backup(context.Background(), path); err != nil {
		return err
	}
	store, err := quads.Open(path, quads.Options{})
	if err != nil {
		return err
	}
	st, err := settled(store)
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	s.table.value(fmt.Sprintf("index, bytes a quad of %s, with words and provenance", grouped(int(st.Quads))), float64(st.Bytes)/float64(st.Quads), "B", atMost(quadBytes))
	return nil
}

// settled waits until a store takes as much as it did a second ago.
func settled(store *quads.Store) (st quads.Stats, err error) {
	for before := int64(-1); ; before = st.Bytes {
		if st, err = store.Stats(); err != nil || st.Bytes == before {
			return st, err
		}
		time.Sleep(time.Second)
	}
}

// redland indexes pages beside Redland, which keeps triples without contexts and words, and does not wait for the disk.
// Its SQLite has a transaction for each triple, and is given a few.
func (s *semanticBench) redland(documents []*webrace.Document) error {
	for _, store := range []struct {
		name, packaged, kind, options string
		pages                         int
	}{
		{"Redland, Berkeley DB", "redland-utils", "hashes", "hash-type='bdb',dir='.',new='yes'", 2000},
		{"Redland, SQLite", "librdf-storage-sqlite", "sqlite", "new='yes'", 200},
	} {
		some := documents[:min(len(documents), s.work(store.pages))]
		row := fmt.Sprintf("index, %s pages, with words, durable, a page, CPU", grouped(len(some)))
		if err := errors.Join(needs("redland-utils"), needs(store.packaged)); err != nil {
			s.leftOut(row+" beside "+store.name, err)
			continue
		}
		theirs, err := s.redlandStore(store.kind, store.options, some)
		if err != nil {
			return fmt.Errorf("%s: %w", store.name, err)
		}
		value, err := least(min(s.rounds, 3), len(some), func() (c cost, err error) {
			return c, s.inStore(func(dir *storage.Dir) error {
				c, err = indexed(dir, some)
				return err
			})
		})
		if err != nil {
			return err
		}
		s.against(row, value, "µs", store.name, micros(theirs.CPU)/float64(len(some)), nil)
	}
	return nil
}

// redlandStore has rdfproc read what some documents state into a new store, and counts what that has.
func (s *semanticBench) redlandStore(kind, options string, documents []*webrace.Document) (cost, error) {
	dir, err := s.empty("redland")
	if err != nil {
		return cost{}, err
	}
	defer os.RemoveAll(dir)
	triples := triplesOf(documents)
	text, err := written(triples, rdf.NTriples)
	if err != nil {
		return cost{}, err
	}
	file := filepath.Join(dir, "catalogue.nt")
	if err := os.WriteFile(file, text, 0o666); err != nil {
		return cost{}, err
	}
	parse := exec.Command("rdfproc", "-q", "-n", "-s", kind, "-t", options, "catalogue", "parse", file, "ntriples")
	parse.Dir = dir
	used, err := runProcess(parse)
	if err != nil {
		return cost{}, err
	}
	said := exec.Command("rdfproc", "-q", "-s", kind, "-t", strings.Replace(options, "new='yes'", "new='no'", 1), "catalogue", "serialize", "ntriples")
	said.Dir = dir
	if text, err = said.Output(); err != nil {
		return cost{}, err
	}
	return used.cost, countIs(bytes.Count(text, []byte("\n")), len(triples), nil)
}

// triplesOf is all that some documents state.
func triplesOf(documents []*webrace.Document) (triples []webrace.Triple) {
	for _, d := range documents {
		triples = append(triples, d.Graph.Triples...)
	}
	return triples
}
