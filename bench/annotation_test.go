package main

import (
	"io"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/match"
)

// little is a run over generated pages that takes a moment.
func little(t *testing.T) *annotation {
	t.Helper()
	scale := annotationQuick
	scale.pages, scale.mean, scale.round, scale.rounds = 40, 2, time.Microsecond, 1
	scale.sizes, scale.rivals, scale.changing, scale.changes = []int{50, 200}, []int{200}, 300, 90*time.Millisecond
	scale.oracleProfiles, scale.oraclePages, scale.explained = 500, 10, 50
	b := &bench{quick: true, table: &table{bench: "annotation"}, notes: io.Discard}
	c, err := loadCorpus(b, scale.pages, false)
	if err != nil {
		t.Fatal(err)
	}
	return &annotation{bench: b, corpus: c, scale: scale, page: c.pages[c.typical]}
}

func TestOracleAgreesWithTheIndex(t *testing.T) {
	t.Parallel()
	a := little(t)
	for i := range workloads {
		r, err := consultOracle(a.corpus, &workloads[i], a.scale.oracleProfiles, a.scale.oraclePages, a.scale.explained)
		if err != nil {
			t.Errorf("%s: %v", workloads[i].name, err)
		}
		if want := a.scale.oracleProfiles * a.scale.oraclePages; r.pairs != want || r.alerts == 0 || r.explained == 0 {
			t.Errorf("%s: %+v; want %d pairs", workloads[i].name, r, want)
		}
	}
}

func TestOracleNoticesADifference(t *testing.T) {
	t.Parallel()
	a := little(t)
	w := &workloads[1]
	var interests []interest
	keep := func(_ int, i *interest) error { interests = append(interests, *i); return nil }
	if err := w.interests(a.corpus, 300, true, keep); err != nil {
		t.Fatal(err)
	}
	x, err := w.build(a.corpus, 300, profileOptions{literal: true, phrases: true})
	if err != nil {
		t.Fatal(err)
	}
	text := a.texts[a.typical]
	alerted := slices.Sorted(maps.Keys(x.relevances(text)))
	if len(alerted) == 0 {
		t.Fatal("nobody is alerted")
	}
	var r oracleReport
	if err := r.judge(x, interests, text); err != nil {
		t.Fatal(err)
	}
	x.Remove(alerted[0])
	if r.judge(x, interests, text) == nil {
		t.Error("an alert that is missing was not noticed")
	}
	changed, _, err := match.Compile(match.Profile{ID: alerted[0], Threshold: match.AnyRelevance, Group: match.Group{
		Keywords: []match.Keyword{{Key: interests[0].keywords[0].key, Weight: 1}, {Key: "page", Weight: 1}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	x.Add(changed)
	if r.judge(x, interests, text) == nil {
		t.Error("a relevance that is wrong was not noticed")
	}
}

func TestChangesUnderLoadLeaveTheIndexRight(t *testing.T) {
	t.Parallel()
	a := little(t)
	if err := a.measureChanges(&workloads[1]); err != nil {
		t.Error(err)
	}
}

func TestChangesThatAreLostAreNoticed(t *testing.T) {
	t.Parallel()
	a := little(t)
	w := &workloads[1]
	x, err := w.build(a.corpus, 300, profileOptions{phrases: true})
	if err != nil {
		t.Fatal(err)
	}
	c, err := newChanger(a.corpus, w, x, 30)
	if err == nil {
		err = c.run()
	}
	if err == nil {
		err = c.verify(a.texts[a.typical])
	}
	if err != nil {
		t.Fatal(err)
	}
	x.Remove(idOf(c.present[0]))
	if c.verify(a.texts[a.typical]) == nil {
		t.Error("a profile that is gone was not missed")
	}
}

func TestRivalsAgreeWithTheIndex(t *testing.T) {
	a := little(t)
	for i := range workloads {
		if err := a.measureRivals(&workloads[i]); err != nil {
			t.Errorf("%s: %v", workloads[i].name, err)
		}
	}
	if len(a.table.rows) == 0 {
		t.Error("no rows")
	}
}

func TestKeywordsThatARivalMissesAreNoticed(t *testing.T) {
	t.Parallel()
	a := little(t)
	d, err := a.newDuel(&workloads[1], 100)
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(d.dir)
	if len(d.present) < 2 {
		t.Fatalf("the page has %d keywords", len(d.present))
	}
	if err := d.same(append(slices.Clone(d.present), d.present[0])); err != nil {
		t.Error(err)
	}
	if d.same(slices.Clone(d.present[1:])) == nil {
		t.Error("a keyword that was not found was not missed")
	}
}

func TestSizesAreMeasured(t *testing.T) {
	a := little(t)
	if err := a.measurePage(); err != nil {
		t.Fatal(err)
	}
	for i := range workloads {
		if err := a.measureSizes(&workloads[i]); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range a.table.rows {
		if r.Value < 0 {
			t.Errorf("%s is %v", r.Name, r.Value)
		}
	}
}

func TestWorkloadsAreTheSameEveryTime(t *testing.T) {
	t.Parallel()
	a := little(t)
	of := func(w *workload) (keys []string) {
		_ = w.interests(a.corpus, 100, true, func(_ int, i *interest) error {
			for _, k := range i.keywords {
				keys = append(keys, k.key)
			}
			return nil
		})
		return keys
	}
	for i := range workloads {
		if w := &workloads[i]; !slices.Equal(of(w), of(w)) {
			t.Errorf("%s differs from one time to the next", w.name)
		}
	}
	if slices.Equal(of(&workloads[0]), of(&workloads[1])) {
		t.Error("the workloads are the same")
	}
}
