package control_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// aciID names the ACI of a page, which has a version of its own for each.
func aciID(r *rand.Rand, urd int) string { return fmt.Sprintf("%d-%d-%d", urd, r.IntN(6), 1+r.IntN(8)) }

// randomBatch makes ACIs of few owners, URDs, documents and texts, so that many are known, are mirrors or twins, or are
// beyond a budget, by what was stored before or by what is in the same batch.
func randomBatch(r *rand.Rand) (batch []*xmlschema.ACI) {
	texts := []uint64{0, 0xff, 0xff00, 0xff01, 0xffff0000}
	for range 1 + r.IntN(12) {
		urd := r.IntN(3)
		text := texts[r.IntN(len(texts))]
		a := of(fmt.Sprint("owner", urd), aciID(r, urd))
		a.URD, a.Relevance, a.Expired = fmt.Sprint("urd", urd), r.IntN(100), r.IntN(8) == 0
		fmt.Sscanf(a.ID, "%d-%d-%d", &urd, &text, &a.Docbase.Version)
		a.URI = fmt.Sprint("http://a.example/", text)
		text = texts[r.IntN(len(texts))]
		a.Docbase.Shown, a.Docbase.Matched, a.Docbase.Likeness = text, text&0xff, text
		if r.IntN(4) == 0 {
			a.Twins = &xmlschema.Twins{URI: fmt.Sprint("http://feed.example/", r.IntN(2)), IDs: []string{aciID(r, urd), aciID(r, urd)}}
		}
		batch = append(batch, a)
	}
	return batch
}

// allOfACIs tells all that a store has of ACIs.
func allOfACIs(t *testing.T, s *control.Store) (all []string) {
	t.Helper()
	text := func(a control.ACI) string {
		xml, _, err := a.Encode()
		ok(t, err)
		return fmt.Sprint(a.Seq, !a.Retrieved.IsZero(), string(xml))
	}
	for _, a := range gather(t, s.ACIs(t.Context(), control.Filter{})) {
		all = append(all, text(a))
	}
	for _, a := range gather(t, s.Withheld(t.Context(), "")) {
		all = append(all, "withheld "+text(a))
	}
	return all
}

// tell puts ACIs so many at a time, and tells what became of them.
func tell(t *testing.T, put func(acis []*xmlschema.ACI) (control.Stored, error), batch []*xmlschema.ACI, together int) (told string) {
	t.Helper()
	var all control.Stored
	for part := range slices.Chunk(batch, together) {
		stored, err := put(part)
		ok(t, err)
		all.Added, all.Withheld, all.Mirrors = all.Added+stored.Added, all.Withheld+stored.Withheld, all.Mirrors+stored.Mirrors
		for _, a := range stored.New {
			told += " " + a.ID
		}
	}
	return fmt.Sprint(all.Added, all.Withheld, all.Mirrors, told)
}

// What becomes of an ACI does not depend on the engine, nor on which others come with it.
func TestBatchesAreDecidedOneByOne(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	open := func(b backend) *control.Store {
		s, err := b.open(control.Options{Readers: 2, Now: func() time.Time { return now }})
		ok(t, err)
		t.Cleanup(func() { ok(t, s.Close()) })
		ok(t, s.SetBudget(t.Context(), "owner1", &control.Budget{Alerts: 3}))
		return s
	}
	oneByOne := open(onSQLite(t))
	others := map[string]*control.Store{}
	for name, empty := range backends {
		others[name] = open(empty(t))
	}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 0))
		batch, each, trims := randomBatch(r), r.IntN(6) == 0, r.IntN(12) == 0
		if r.IntN(6) == 0 {
			now = now.AddDate(0, 0, 1)
		}
		do := func(s *control.Store, together int) string {
			put := s.PutACIs
			if each {
				put = s.PutEachACI
			}
			told := tell(t, func(acis []*xmlschema.ACI) (control.Stored, error) { return put(t.Context(), acis) }, batch, together)
			if trims {
				_, err := s.Take(t.Context(), "owner0")
				ok(t, err)
				_, err = s.Trim(t.Context(), time.Now().AddDate(0, 0, 1))
				ok(t, err)
			}
			return told
		}
		told, want := do(oneByOne, 1), allOfACIs(t, oneByOne)
		for name, s := range others {
			if got := do(s, len(batch)); got != told {
				t.Errorf("seed %d: %s tells %s of a batch of %d, and one by one %s", seed, name, got, len(batch), told)
			}
			if got := allOfACIs(t, s); !slices.Equal(got, want) {
				t.Fatalf("seed %d: %s has after a batch of %d\n%q, and one by one\n%q", seed, name, len(batch), got, want)
			}
		}
	}
	if len(allOfACIs(t, oneByOne)) == 0 {
		t.Error("nothing was stored at last")
	}
}
