package urds

import (
	"fmt"
	"testing"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/xmlschema"
)

// at lets a URD name times.
func at(line string) func(*xmlschema.URD) { return func(u *xmlschema.URD) { u.At = line } }

// givenAt has the times of a URD count since then.
func (f fixture) givenAt(t *testing.T, id string, since time.Time) {
	t.Helper()
	if err := f.control.SetCursor(t.Context(), "urd/times/"+id, since.UnixNano()); err != nil {
		t.Fatal(err)
	}
}

// ask opens the rounds that are due, ends them, and returns their starts.
func (r *rounds) ask(t *testing.T, out *seeds, now time.Time) (starts []string) {
	t.Helper()
	r.openDue(t, now)
	for _, seed := range out.take() {
		starts = append(starts, seed.URL)
		r.mustEnd(t, []frontier.CrawlStatus{{Crawl: seed.Crawl.ID, Round: r.book.crawls[seed.Crawl.ID].round + 1}}, now)
	}
	return starts
}

func TestAStartIsAskedAtTheTimesOfItsURD(t *testing.T) {
	f := newFixture(t)
	f.put(t, "ann", "https://a.org/", at("30 8 * * *"))
	r, out := newTestRounds(t, f, defaults)
	const often = 10 * time.Minute
	begin := time.Now().UTC().Truncate(often).Add(often) // at whatever time of the day the test runs
	asked := 0
	for now := begin; now.Before(begin.Add(3 * 24 * time.Hour)); now = now.Add(often) {
		if starts := r.ask(t, out, now); len(starts) > 0 {
			asked++
			if now.Hour() != 8 || now.Minute() != 30 {
				t.Errorf("asked at %v", now)
			}
		}
	}
	if asked != 3 {
		t.Errorf("asked %d times in three days", asked)
	}
}

// What a run that begins asks for at once, by when the last round of the crawl began, and since when its times count.
func TestTimesThatWereMissedAreCaughtUpOnce(t *testing.T) {
	now := time.Now().UTC()
	hours := func(n float64) time.Time { return now.Add(time.Duration(n * float64(time.Hour))) }
	line := fmt.Sprintf("%d %d * * *", hours(-1).Minute(), hours(-1).Hour()) // an hour ago, to the minute
	for _, c := range []struct {
		name         string
		given, began time.Time // zero: never
		want         int
	}{
		{"is new", now, time.Time{}, 0},
		{"given before the time, and never visited", hours(-2), time.Time{}, 1},
		{"given days ago, and never visited", hours(-100), time.Time{}, 1},
		{"visited at the time", hours(-100), hours(-0.9), 0},
		{"visited yesterday", hours(-100), hours(-24.9), 1},
		{"visited days ago", hours(-1000), hours(-100), 1},
		{"visited days ago, and given after the time", hours(-0.5), hours(-100), 0},
	} {
		f := newFixture(t)
		urd := f.put(t, "ann", "https://a.org/", at(line))
		f.givenAt(t, "ann", c.given)
		if !c.began.IsZero() {
			crawlAt(t, f, urd, c.began, true)
		}
		r, out := newTestRounds(t, f, defaults)
		if got := len(r.ask(t, out, now)) + len(r.ask(t, out, now.Add(time.Minute))); got != c.want {
			t.Errorf("%s: asked %d times, want %d", c.name, got, c.want)
		}
		if got := len(r.ask(t, out, hours(23.5))); got != 1 {
			t.Errorf("%s: asked %d times a day later", c.name, got)
		}
	}
}

// While a run goes on, a URD with times waits for them whatever is changed of it, and is asked for by the new ones.
func TestChangedTimesCountFromThen(t *testing.T) {
	f := newFixture(t)
	ctx, now := t.Context(), time.Now().UTC()
	in := func(hours int) string {
		return fmt.Sprintf("0 %d * * *", now.Add(time.Duration(hours)*time.Hour).Hour())
	}
	later := func(hours int) time.Time { return now.Truncate(time.Hour).Add(time.Duration(hours) * time.Hour) }
	f.put(t, "ann", "https://a.org/", at(in(6)))
	r, out := newTestRounds(t, f, defaults)
	from, err := f.control.Now(ctx)
	if err != nil {
		t.Fatal(err)
	}
	wantAsked := func(what string, now time.Time, want int, change ...func(*xmlschema.URD)) {
		t.Helper()
		if change != nil {
			f.put(t, "ann", "https://a.org/", change...)
		}
		to, err := f.control.Now(ctx)
		if err == nil {
			err = r.changed(ctx, from, to)
		}
		if from = to; err != nil {
			t.Fatal(err)
		}
		if got := len(r.ask(t, out, now)); got != want {
			t.Errorf("%s: asked %d times, want %d", what, got, want)
		}
	}
	interest := func(u *xmlschema.URD) { u.Keywords = xmlschema.NewKeywords(xmlschema.Keyword{Key: "tea"}) }
	wantAsked("new", now, 0)
	wantAsked("asks for something else", now, 0, at(in(6)), interest)
	wantAsked("its time has come", later(6), 1)
	wantAsked("other times", later(7), 0, at(in(8)), interest)
	wantAsked("the first of the other times", later(8), 1)
	if err := f.control.CheckNow(ctx, "ann"); err != nil {
		t.Fatal(err)
	}
	r.book.crawls[r.book.urds["ann"].crawl.ID].opened = now.Add(-time.Hour) // by the clock of the test it is ahead
	wantAsked("a check", later(9), 1)
	wantAsked("by timing", later(10), 1, func(u *xmlschema.URD) { u.Timing = time.Hour }, interest)
	if since, err := f.control.TimesSince(ctx, "ann"); err != nil || !since.IsZero() {
		t.Errorf("without times, they count since %v, %v", since, err)
	}
}

// One crawl serves those who ask by times and those who ask by timing.
func TestTimesAndTimingShareACrawl(t *testing.T) {
	f := newFixture(t)
	ann := f.put(t, "ann", "https://a.org/", at("0 8 * * *"))
	bob := f.put(t, "bob", "https://a.org/", func(u *xmlschema.URD) { u.Timing = 5 * time.Hour })
	f.put(t, "cat", "https://c.org/", at("*/10 * * * *"))
	if ann.Crawl.ID != bob.Crawl.ID {
		t.Fatalf("crawls %s and %s", ann.Crawl.ID, bob.Crawl.ID)
	}
	r, out := newTestRounds(t, f, Options{Query: defaults.Query, Timing: defaults.Timing, Policy: "fixed"})
	began := time.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	var asked []int
	for hour := range 14 {
		for _, start := range r.ask(t, out, began.Add(time.Duration(hour)*time.Hour)) {
			if start == "https://a.org/" {
				asked = append(asked, hour)
			}
		}
	}
	if fmt.Sprint(asked) != "[0 5 8 13]" {
		t.Errorf("asked at the hours %v", asked)
	}
	if timing := r.book.crawls[ann.Crawl.ID].merged().Timing; timing != 5*time.Hour {
		t.Errorf("the timing of the shared crawl is %v", timing)
	}
	if timing := control.Crawls([]control.URD{{Crawl: r.book.urds["cat"].crawl}})[0].Timing; timing != 5*time.Minute {
		t.Errorf("the timing of a crawl that is asked for every 10 minutes is %v", timing)
	}
}
