package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/analyze"
	"github.com/webrace/webrace/internal/match"
)

// The oracle compares the index with a reader that goes through every page word by word, for every profile,
// with no index and no hash of ours, and computes relevances by the formula. It knows no inflections, so it
// judges literal keywords; all others are judged by match.Explain, which looks at one profile alone.

// readPage is a page as the oracle reads it.
type readPage struct {
	blocks [][]string // folded words
	fields []webrace.Field
	tally  map[string][fields]int // of single words
	words  int
}

const fields = int(webrace.FieldNavigation) + 1

// boosts, of a word's occurrences by the field it stands in.
var boosts = [fields]float64{webrace.FieldTitle: 4, webrace.FieldHeading: 2, webrace.FieldBody: 1, webrace.FieldNavigation: 0.25}

func readByOracle(text *webrace.Text) *readPage {
	p := &readPage{tally: make(map[string][fields]int)}
	for _, b := range text.Blocks {
		var block []string
		analyze.Words(text.Slice(b), func(_, _ int, folded []byte) bool {
			word := string(folded)
			block = append(block, word)
			n := p.tally[word]
			n[b.Field]++
			p.tally[word] = n
			return true
		})
		p.blocks, p.fields, p.words = append(p.blocks, block), append(p.fields, b.Field), p.words+len(block)
	}
	return p
}

// occurrences counts a keyword by field.
func (p *readPage) occurrences(key string) (n [fields]int) {
	first, second, phrase := strings.Cut(key, " ")
	if !phrase {
		return p.tally[key]
	}
	if p.tally[first] == n || p.tally[second] == n {
		return n
	}
	for i, block := range p.blocks {
		for at := 1; at < len(block); at++ {
			if block[at-1] == first && block[at] == second {
				n[p.fields[i]]++
			}
		}
	}
	return n
}

const thresholdOfAll = match.DefaultThreshold

// relevanceOf computes the formula, given the occurrences of each keyword on a page of so many words. It
// returns 0 if there is no alert.
func (i *interest) relevanceOf(words int, occurrences func(key string) [fields]int) int {
	half := 0.7 + 0.3*min(max(float64(words)/800, 0.25), 4)
	rest, found := 1.0, 0
	for _, k := range i.keywords {
		evidence := 0.0
		for field, n := range occurrences(k.key) {
			evidence += boosts[field] * float64(n)
		}
		if evidence > 0 {
			found++
			rest *= 1 - float64(k.weight)/5*min(evidence/(evidence+half), 0.98)
		}
	}
	relevance := int(math.Floor(100*(1-rest) + 0.5 + 1e-9))
	if found == 0 || i.all && found < len(i.keywords) || relevance <= thresholdOfAll {
		return 0
	}
	return relevance
}

// oracleReport is what the oracle looked at.
type oracleReport struct{ pairs, alerts, explained int }

// consultOracle compares the profiles of a workload with pages of the corpus, and returns an error for the
// first difference.
func consultOracle(c *corpus, w *workload, profiles, pages, explained int) (r oracleReport, err error) {
	literal := profileOptions{literal: true, phrases: true}
	x, err := w.build(c, profiles, literal)
	if err != nil {
		return r, err
	}
	var interests []interest
	err = w.interests(c, profiles, literal.phrases, func(_ int, i *interest) error {
		interests = append(interests, *i)
		return nil
	})
	for n := 0; n < pages && err == nil; n++ {
		err = r.judge(x, interests, c.texts[n*len(c.texts)/pages])
	}
	if err != nil {
		return r, err
	}
	if r.alerts == 0 || r.alerts == r.pairs {
		return r, fmt.Errorf("the oracle is of no use: %d of %d pairs alert", r.alerts, r.pairs)
	}
	inflected, err := w.build(c, profiles, profileOptions{phrases: true})
	if err != nil {
		return r, err
	}
	random := rand.New(rand.NewPCG(5, 6))
	for n := range min(10, pages) {
		if err := inflected.explained(c.texts[n*len(c.texts)/min(10, pages)], explained/10, random); err != nil {
			return r, err
		}
		r.explained += explained / 10
	}
	return r, nil
}

// judge compares the alerts of one page, made and only scored, with what the oracle finds.
func (r *oracleReport) judge(x *built, interests []interest, text *webrace.Text) error {
	page := readByOracle(text)
	alerts := make(map[string]int)
	for a := range x.Match(text, toEveryone()) {
		alerts[a.ID] = a.Relevance
	}
	scored := x.relevances(text)
	if n := x.count(text, toEveryone()); n != len(alerts) || len(scored) != len(alerts) {
		return fmt.Errorf("%d alerts are counted, %d scored and %d made", n, len(scored), len(alerts))
	}
	for number := range interests {
		id := idOf(number)
		want := interests[number].relevanceOf(page.words, page.occurrences)
		if alerts[id] != want || scored[id] != want {
			return fmt.Errorf("%s is alerted with relevance %d, scored %d, and the oracle says %d (0: no alert): %+v",
				id, alerts[id], scored[id], want, interests[number])
		}
		r.pairs++
		if want > 0 {
			r.alerts++
		}
	}
	return nil
}

// explained compares the relevances of a page for some of the profiles, half of them such as are alerted, with
// what a look at each of them alone shows.
func (x *built) explained(text *webrace.Text, profiles int, random *rand.Rand) error {
	scored := x.relevances(text)
	var sample []string
	for id := range scored {
		if len(sample) == profiles/2 {
			break
		}
		sample = append(sample, id)
	}
	for len(sample) < profiles {
		sample = append(sample, idOf(random.IntN(x.size)))
	}
	for _, id := range sample {
		want := 0
		e := match.Explain(x.Profile(id), text, toEveryone())
		if e.Reason == match.Alerts {
			want = e.Relevance
		}
		if scored[id] != want {
			return fmt.Errorf("%s is scored %d, which by itself is worth %d:\n%v", id, scored[id], want, e)
		}
	}
	return nil
}
