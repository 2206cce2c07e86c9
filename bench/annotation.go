package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/webrace/webrace/internal/analyze"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/htmltext"
	"github.com/webrace/webrace/internal/match"
)

// annotationScale is how much work there is.
type annotationScale struct {
	pages          int   // that words are taken from
	mean           int   // of these, that the mean is taken over
	sizes          []int // registered profiles
	rivals         []int // registered profiles, beside rivals
	changing       int   // registered profiles while some change
	changes        time.Duration
	oracleProfiles int
	oraclePages    int
	explained      int // pairs that Explain is asked about
	rounds         int
	round          time.Duration
}

var (
	annotationFull = annotationScale{
		pages: 600, mean: 200, sizes: []int{1_000, 100_000, 1_000_000}, rivals: []int{1_000, 100_000},
		changing: 100_000, changes: 10 * time.Second,
		oracleProfiles: 5_000, oraclePages: 110, explained: 10_000, rounds: 7, round: 40 * time.Millisecond,
	}
	annotationQuick = annotationScale{
		pages: 200, mean: 40, sizes: []int{1_000, 10_000, 100_000}, rivals: []int{1_000, 10_000},
		changing: 20_000, changes: 2 * time.Second,
		oracleProfiles: 2_000, oraclePages: 30, explained: 1_000, rounds: 3, round: 10 * time.Millisecond,
	}
)

// benchAnnotation measures what it costs to compare a page with what everybody is interested in.
func benchAnnotation(b *bench) error {
	a := &annotation{bench: b, scale: annotationFull}
	if b.quick {
		a.scale = annotationQuick
	}
	var err error
	if a.corpus, err = loadCorpus(b, a.scale.pages, true); err != nil {
		return err
	}
	a.page = a.pages[a.typical]
	b.note("annotation: %d pages of %s; the typical one has %s bytes of HTML and %s words, of %s different ones that somebody may ask for on all pages",
		len(a.pages), a.what, grouped(len(a.page)), grouped(a.typicalWords()), grouped(len(a.words)))
	if err := a.consult(); err != nil {
		return fmt.Errorf("nothing is timed, because the oracle disagrees: %w", err)
	}
	if err := a.measurePage(); err != nil {
		return err
	}
	for i := range workloads {
		w := &workloads[i]
		for _, part := range []func(*workload) error{a.measureSizes, a.measureChanges, a.measureRivals} {
			if err := part(w); err != nil {
				return fmt.Errorf("workload %s: %w", w.name, err)
			}
		}
	}
	return nil
}

// annotation is one run of the benchmark.
type annotation struct {
	*bench
	*corpus
	scale annotationScale
	page  []byte // the typical one
}

func (a *annotation) typicalWords() int {
	var words analyze.Analyzer
	return len(words.Analyze(a.texts[a.typical]).Tokens)
}

func (a *annotation) consult() error {
	for i := range workloads {
		w := &workloads[i]
		r, err := consultOracle(a.corpus, w, a.scale.oracleProfiles, a.scale.oraclePages, a.scale.explained)
		if err != nil {
			return fmt.Errorf("workload %s: %w", w.name, err)
		}
		a.note("annotation: the oracle agrees on %s pairs of a profile of workload %s and a page, %s of them alerts, and Explain on %s",
			grouped(r.pairs), w.name, grouped(r.alerts), grouped(r.explained))
	}
	return nil
}

// clock times calls.
func (a *annotation) clock(all ...func()) ([]taken, error) {
	rounds := make([]stopwatch, len(all))
	for i, call := range all {
		rounds[i] = calls(a.scale.round, call)
	}
	return clock(a.scale.rounds, rounds...)
}

// measurePage times what does not depend on profiles.
func (a *annotation) measurePage() error {
	var scanner htmltext.Scanner
	var words analyze.Analyzer
	text := a.texts[a.typical]
	var failed error
	times, err := a.clock(
		func() { scanner.Scan(a.page) },
		func() {
			if _, err := extract.Document(a.page, "text/html", "http://localhost/a", extract.Options{}); err != nil {
				failed = err
			}
		},
		func() { words.Analyze(text) },
	)
	if err := cmp.Or(err, failed); err != nil {
		return fmt.Errorf("read the page: %w", err)
	}
	a.table.took("extract", times[0], 0, nil)
	a.table.took("extract, links normalized", times[1], 0, nil)
	a.table.took("tokenise", times[2], 0, nil)
	return nil
}

// fullPath is what is done to a page up to the alerts, but for making them.
type fullPath struct {
	x       *built
	scanner htmltext.Scanner
}

func (f *fullPath) count(page []byte, o match.Options) int {
	f.scanner.Scan(page)
	return f.x.count(&f.scanner.Text, o)
}

func (a *annotation) measureSizes(w *workload) error {
	var smallest taken
	for i, n := range a.scale.sizes {
		x, err := w.build(a.corpus, n, profileOptions{phrases: true})
		if err != nil {
			return err
		}
		if err := x.explained(a.texts[a.typical], 200, rand.New(rand.NewPCG(7, 8))); err != nil {
			return fmt.Errorf("nothing is timed at %s profiles: %w", grouped(n), err)
		}
		a.built(w, x)
		lookUp, err := a.measureSize(w, x)
		if err != nil {
			return err
		}
		if i == 0 {
			smallest = lookUp
		} else if i == len(a.scale.sizes)-1 {
			a.table.against(fmt.Sprintf("%s, %s: tokenise and look up", w.name, grouped(n)), micros(lookUp.CPU), "µs",
				fmt.Sprintf("at %s: %s µs", grouped(a.scale.sizes[0]), number(micros(smallest.CPU))), micros(smallest.CPU), atMost(1.5))
		}
	}
	return nil
}

// built adds the rows of what an index costs.
func (a *annotation) built(w *workload, x *built) {
	of := fmt.Sprintf("%s, %s: ", w.name, grouped(x.size))
	a.table.value(of+"compiled and indexed, a profile", micros(x.took.CPU)/float64(x.size), "µs", nil)
	a.table.value(of+"compiled and indexed, all, wall", x.took.Wall.Seconds(), "s", nil)
	a.table.value(of+"memory of a profile, compiled and indexed", float64(x.bytes)/float64(x.size), "B", nil)
	a.table.value(of+"of this the profile alone", float64(x.profiles)/float64(x.size), "B", nil)
}

// goalsOfThree is what the full path may take for three recipients, in µs, by how many are registered.
var goalsOfThree = map[int]float64{1_000: 120, 1_000_000: 150}

// fewestAlerts is how many a page must give rise to for a time per alert to mean something.
const fewestAlerts = 1000

func (a *annotation) measureSize(w *workload, x *built) (lookUp taken, err error) {
	of := fmt.Sprintf("%s, %s: ", w.name, grouped(x.size))
	text, everyone, three := a.texts[a.typical], toEveryone(), x.toThree()
	path := fullPath{x: x}
	rival := bleveWay{name: "x/net Parse, bleve in memory, a query a recipient", field: "_all"}
	if err := rival.prepare(x.three); err != nil {
		return taken{}, fmt.Errorf("prepare bleve: %w", err)
	}
	var failed error
	times, err := a.clock(
		func() { x.lookUp(text) },
		func() { x.count(text, everyone) },
		func() { path.count(a.page, three) },
		func() { path.count(a.page, everyone) },
		func() { failed = cmp.Or(failed, rival.round(a.page, make([]bool, len(x.three)))) },
	)
	if err := cmp.Or(err, failed); err != nil {
		return taken{}, err
	}
	forThree, forAll := float64(x.count(text, three)), float64(x.count(text, everyone))
	a.table.took(of+"tokenise and look up", times[0], forAll, nil)
	a.table.took(of+"full path, 3 recipients", times[2], forThree, goalOf(goalsOfThree, x.size))
	a.table.tookAgainst(of+"full path, 3 recipients", times[2], forThree, rival.name, times[4], atMost(0.09))
	a.table.value(of+"full path, 3 recipients, allocations", float64(times[2].allocs), "", atMost(0))
	a.table.took(of+"full path, everyone", times[3], forAll, nil)
	a.table.value(of+"full path, everyone, allocations", float64(times[3].allocs), "", atMost(0))
	if forAll >= fewestAlerts {
		each := float64((times[1].CPU - times[0].CPU).Nanoseconds()) / forAll
		a.table.add(row{Name: of + "an alert", Value: each, Unit: "ns", Goal: atMost(25), Alerts: &forAll}, each)
	}
	return times[0], a.measureMean(of, &path, three)
}

// measureMean times pages of all sizes.
func (a *annotation) measureMean(of string, path *fullPath, three match.Options) error {
	n := min(a.scale.mean, len(a.pages))
	over := func(o match.Options, alerts *int) func() {
		return func() {
			*alerts = 0
			for i := range n {
				*alerts += path.count(a.pages[i*len(a.pages)/n], o)
			}
		}
	}
	var forThree, forAll int
	times, err := a.clock(over(three, &forThree), over(toEveryone(), &forAll))
	if err != nil {
		return err
	}
	pages := fmt.Sprintf("mean of %d pages", n)
	a.table.took(of+"full path, 3 recipients, "+pages, times[0].dividedBy(n), float64(forThree)/float64(n), nil)
	a.table.took(of+"full path, everyone, "+pages, times[1].dividedBy(n), float64(forAll)/float64(n), nil)
	return nil
}

func goalOf(goals map[int]float64, n int) *goal {
	if limit, ok := goals[n]; ok {
		return atMost(limit)
	}
	return nil
}
