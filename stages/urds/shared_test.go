package urds

import (
	"context"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/xmlschema"
)

// newPartition returns rounds of the URDs of a fixture that start at one host, whose crawls cost so much elsewhere.
func newPartition(t *testing.T, f fixture, host string, elsewhere uint64) (*rounds, *seeds) {
	t.Helper()
	dir, err := pipeline.Resource[*storage.Dir](pipeline.NewEnv("p", "urds", f.resources))
	if err != nil {
		t.Fatal(err)
	}
	f.resources = new(pipeline.Resources)
	pipeline.Provide(f.resources, dir)
	pipeline.Provide(f.resources, frontier.Here(func(h string) bool { return h == host }))
	pipeline.Provide(f.resources, frontier.RequestsElsewhere(func(_ context.Context, _ string, crawls []string) (map[string]uint64, error) {
		all := make(map[string]uint64)
		for _, id := range crawls {
			all[id] = elsewhere
		}
		return all, nil
	}))
	return newTestRounds(t, f, Options{Query: defaults.Query, Timing: defaults.Timing, Policy: "fixed", Quota: 10})
}

// opens returns how many rounds are opened now, the look at what others have used included.
func (r *rounds) opens(t *testing.T, out *seeds, now time.Time) int {
	t.Helper()
	due, _, err := r.due(t.Context(), now)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range due {
		if err := r.open(t.Context(), id, 1, now); err != nil {
			t.Fatal(err)
		}
	}
	return len(out.take())
}

// A round is charged with what it cost in all partitions, and what one of them has charged is spent in another before
// that opens a round: soon after a look, and long after one, when what was saved up there was full all the time.
func TestPartitionsSpendFromOneQuota(t *testing.T) {
	f := newFixture(t)
	another := func(u *xmlschema.URD) { u.ID = "another" }
	a, b := f.put(t, "ann", "https://a.org/"), f.put(t, "ann", "https://b.org/", another)
	home, homeOut := newPartition(t, f, "a.org", 7)
	other, otherOut := newPartition(t, f, "b.org", 0)
	now := time.Now()
	if n := home.opens(t, homeOut, now); n != 1 {
		t.Fatalf("%d rounds of two crawls, want that which begins there", n)
	}
	home.mustEnd(t, []frontier.CrawlStatus{{Crawl: a.Crawl.ID, Round: 1, Requests: 3}}, now)
	if err := home.ledger.writeWhenDue(t.Context(), now); err != nil { // at once: others look at it
		t.Fatal(err)
	}
	if used, err := f.control.Usage(t.Context(), dayOf(now).Format(time.DateOnly)); err != nil || used["ann"] != 10 {
		t.Errorf("used %v, %v: want 3 there and 7 elsewhere", used, err)
	}
	if n := other.opens(t, otherOut, now); n != 0 {
		t.Errorf("%d rounds of an owner whose quota is spent in another partition", n)
	}
	if n := other.opens(t, otherOut, now.Add(30*time.Minute)); n != 1 { // a look later, what was seen is not spent again
		t.Errorf("%d rounds when a part of the quota is there again", n)
	}
	other.mustEnd(t, []frontier.CrawlStatus{{Crawl: b.Crawl.ID, Round: 1, Requests: 1}}, now.Add(30*time.Minute))
	if err := other.ledger.write(t.Context(), now.Add(30*time.Minute)); err != nil {
		t.Fatal(err)
	}
	for day := range 5 { // in each of which the other partition spends the whole quota
		at := now.Add(time.Duration(1+day) * 24 * time.Hour)
		if err := f.control.AddUsage(t.Context(), dayOf(at).Format(time.DateOnly), map[string]float64{"ann": 9}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := home.opens(t, homeOut, now.Add(7*24*time.Hour)); n != 1 {
		t.Errorf("%d rounds after five days in which less was spent than the quota: what another spends in days is no debt", n)
	}
}
