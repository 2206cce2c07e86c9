package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/storage"
)

// What a page of the catalogue may cost, in microseconds, and a quad of it in bytes.
const (
	indexQuadsLimit = 10_900.0 / 7
	quadBytes       = 150
	unchangedRatio  = 0.2
	linksLimit      = 3800.0 / 20
	catalogueQuads  = 25 // that a page states
)

// catalogue measures the store: pages that are indexed, come again, and are asked where they lead and what they state.
func (s *semanticBench) catalogue() error {
	return s.catalogueOf(s.work(20_000))
}

func (s *semanticBench) catalogueOf(pages int) error {
	documents := make([]*webrace.Document, pages)
	for i := range documents {
		documents[i] = catalogueDocument(i, pages)
	}
	if err := s.redland(documents); err != nil {
		return err
	}
	var index, again, next, links []cost
	for round := range min(s.rounds, 3) {
		err := s.inStore(func(dir *storage.Dir) error {
			for _, step := range []struct {
				costs *[]cost
				run   func(*storage.Dir, []*webrace.Document) (cost, error)
			}{{&index, indexed}, {&again, indexedAgain}, {&next, indexedNext}, {&links, linked}} {
				c, err := step.run(dir, documents)
				if err != nil {
					return err
				}
				*step.costs = append(*step.costs, c)
			}
			if round > 0 {
				return nil
			}
			if err := s.size(dir); err != nil {
				return err
			}
			return s.queries(dir, documents)
		})
		if err != nil {
			return fmt.Errorf("index: %w", err)
		}
	}
	page := func(costs []cost) float64 { return micros(best(costs, cpuOf)) / float64(pages) }
	of := fmt.Sprintf("%s pages of %d quads", grouped(pages), catalogueQuads)
	s.table.value("index, "+of+", with words, durable, a page, CPU", page(index), "µs", atMost(indexQuadsLimit))
	s.table.against("re-crawl, unchanged, "+of+", a page, CPU", page(again), "µs", "index", page(index), atMost(unchangedRatio))
	s.table.against("re-crawl, another version that says the same, "+of+", a page, CPU", page(next), "µs", "index", page(index), atMost(unchangedRatio))
	s.table.value("links of a page, by query, "+of+", CPU", page(links), "µs", atMost(linksLimit))
	return nil
}

// indexed indexes documents until all of it is durable and merged.
func indexed(dir *storage.Dir, documents []*webrace.Document) (cost, error) {
	c, err := stagesRun{flow: "quad-index", dir: dir}.run(asValues(documents))
	if err != nil {
		return c, err
	}
	c.CPU += untilIdle()
	return c, says(dir, len(documents), catalogueQuads*len(documents))
}

// untilIdle returns, once this process does nothing any more, how much CPU time it has used until then: a database
// merges beside what it is asked for, and whoever wrote is to pay for that, and not who comes next.
func untilIdle() time.Duration {
	const look, idle = 100 * time.Millisecond, 2 * time.Millisecond
	began := ownCPU()
	for before := began; ; {
		time.Sleep(look)
		now := ownCPU()
		if now-before < idle {
			return now - began
		}
		before = now
	}
}

// indexedAgain indexes the same versions of documents, which were fetched again.
func indexedAgain(dir *storage.Dir, documents []*webrace.Document) (cost, error) {
	return indexedSame(dir, documents, 0)
}

// indexedNext indexes a version more of each document, that states the same.
func indexedNext(dir *storage.Dir, documents []*webrace.Document) (cost, error) {
	return indexedSame(dir, documents, 1)
}

func indexedSame(dir *storage.Dir, documents []*webrace.Document, versions int) (cost, error) {
	again := make([]*webrace.Document, len(documents))
	for i, d := range documents {
		same := *d
		same.Version, same.At = d.Version+versions, d.At.Add(time.Hour)
		again[i] = &same
	}
	before, err := revision(dir)
	if err != nil {
		return cost{}, err
	}
	c, err := indexed(dir, again)
	if err != nil {
		return c, err
	}
	after, err := revision(dir)
	if err == nil && after.Quads != before.Quads {
		err = fmt.Errorf("%d quads became %d, though nothing changed", before.Quads, after.Quads)
	}
	return c, err
}

// linked asks of each document where it leads.
func linked(dir *storage.Dir, documents []*webrace.Document) (cost, error) {
	return stagesRun{flow: "quad-links", dir: dir}.run(asValues(documents))
}

// catalogueDocument is what a page of a catalogue states: four things in five triples each but one, most of them new, a
// text about them, and where to read on.
func catalogueDocument(page, pages int) *webrace.Document {
	rng := rand.New(rand.NewPCG(uint64(page), 9))
	url := catalogueURL(page)
	g := &webrace.Graph{Whole: true}
	say := func(subject, predicate string, object webrace.Term) {
		g.Triples = append(g.Triples, webrace.Triple{Subject: rdf.NewIRI(subject), Predicate: rdf.NewIRI(predicate), Object: object})
	}
	const schema = "http://schema.org/"
	for i := range 4 {
		thing := fmt.Sprintf("%s#thing%d", url, i)
		say(thing, rdf.Type, rdf.NewIRI(schema+"Product"))
		say(thing, schema+"name", catalogueText(rng, 4))
		say(thing, schema+"price", rdf.NewTyped(fmt.Sprintf("%d.%02d", rng.IntN(1000), rng.IntN(100)), rdf.XSDDecimal))
		say(thing, schema+"brand", rdf.NewIRI(fmt.Sprintf("https://brands.example/%d", rng.IntN(500))))
		say(thing, schema+"category", rdf.NewString(fmt.Sprint("category ", rng.IntN(50))))
		if i > 0 {
			say(thing, schema+"isRelatedTo", rdf.NewIRI(catalogueURL(rng.IntN(pages))+"#thing1"))
		}
	}
	say(url, schema+"description", catalogueText(rng, 20))
	say(url, "http://www.w3.org/2000/01/rdf-schema#seeAlso", rdf.NewIRI(catalogueURL(rng.IntN(pages))))
	return &webrace.Document{
		URL: url, Outcome: webrace.Fetched, Status: 200, Version: 1, MediaType: "text/html", Body: []byte("…"), Graph: g,
		Digest: webrace.Digest{byte(page), byte(page >> 8), byte(page >> 16)}, At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
}

func catalogueURL(page int) string {
	return fmt.Sprintf("https://shop%d.example/catalogue/item-%d.html", page%40, page)
}

// catalogueText has words of which some are in many texts, and most in few.
func catalogueText(rng *rand.Rand, words int) webrace.Term {
	all := make([]string, words)
	for i := range all {
		all[i] = catalogueWords[int(float64(len(catalogueWords))*rng.Float64()*rng.Float64())]
	}
	return rdf.NewLangString(strings.Join(all, " "), "en")
}

// catalogueWords end so that no word has another's stem: rivals know no stems.
var catalogueWords = func() (all []string) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 4000 {
		word := make([]byte, 3+rng.IntN(7))
		for i := range word {
			word[i] = "etaoinsrhldcumfpg"[rng.IntN(17)]
		}
		all = append(all, string(word)+"ok")
	}
	return all
}()
