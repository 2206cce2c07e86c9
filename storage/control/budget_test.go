package control_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// clock is a time of day that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func openWith(t *testing.T, path string, c *clock) *control.Store {
	t.Helper()
	s, err := control.Open(path, control.Options{Now: c.Now})
	ok(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// ledger is the model of what owners are sent: it judges every annotation by itself, and remembers all.
type ledger struct {
	alerts   map[string]int // budgets that were given
	day      int
	sent     map[string]int // today
	known    map[string]bool
	got      map[string][]string // by owner
	withheld map[string]map[string]int
}

func (l *ledger) put(a *xmlschema.ACI) {
	if l.known[a.ID] {
		return
	}
	l.known[a.ID] = true
	most, given := l.alerts[a.Owner]
	if !given {
		most = l.alerts[""]
	}
	if most > 0 && l.sent[a.Owner] >= most {
		if l.withheld[a.Owner] == nil {
			l.withheld[a.Owner] = make(map[string]int)
		}
		l.withheld[a.Owner][a.ID] = l.day
		return
	}
	l.sent[a.Owner]++
	l.got[a.Owner] = append(l.got[a.Owner], a.ID)
}

func ownersACI(id int, owner string) *xmlschema.ACI {
	a := aci(id)
	a.ID, a.Owner, a.Relevance = fmt.Sprintf("%s-%d", owner, id), owner, id*37%101
	return a
}

// TestBudgetsAgreeWithAModel puts annotations in groups, again and again, while days pass, budgets change,
// annotations are taken and removed, and the store is opened anew.
func TestBudgetsAgreeWithAModel(t *testing.T) {
	t.Parallel()
	for seed := range testutil.Seeds(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 3))
			path, now := filepath.Join(t.TempDir(), "control.db"), &clock{now: time.Date(2026, 1, 2, 20, 0, 0, 0, time.UTC)}
			s := openWith(t, path, now)
			model := ledger{map[string]int{}, 0, map[string]int{}, map[string]bool{}, map[string][]string{}, map[string]map[string]int{}}
			owners := []string{"eleni", "andreas", "zoe"}
			next := 0
			for range 100 {
				owner := owners[random.IntN(3)]
				switch random.IntN(9) {
				case 0:
					now.pass(time.Duration(random.IntN(10)) * time.Hour)
					if day := int(now.Now().Sub(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)) / (24 * time.Hour)); day > model.day {
						model.day, model.sent = day, map[string]int{}
					}
				case 1:
					if random.IntN(3) == 0 {
						owner = ""
					}
					model.alerts[owner] = random.IntN(12)
					ok(t, s.SetBudget(t.Context(), owner, &control.Budget{Alerts: model.alerts[owner]}))
				case 2:
					_, err := s.Take(t.Context(), owner)
					ok(t, err)
					_, err = s.Trim(t.Context(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) // too early for any
					ok(t, err)
				case 3:
					ok(t, s.Close())
					s = openWith(t, path, now)
				default:
					var group []*xmlschema.ACI
					for range 1 + random.IntN(8) {
						id := next
						if next++; random.IntN(3) == 0 {
							id = random.IntN(next)
						}
						group = append(group, ownersACI(id, owners[id%3]))
					}
					before := len(model.known)
					for _, a := range group {
						model.put(a)
					}
					stored, err := s.PutACIs(t.Context(), group)
					ok(t, err)
					if got := stored.Added + stored.Withheld; got != len(model.known)-before {
						t.Fatalf("%+v of %d that are new", stored, len(model.known)-before)
					}
				}
				model.mustBe(t, s)
			}
		})
	}
}

func (l *ledger) mustBe(t *testing.T, s *control.Store) {
	t.Helper()
	got := map[string][]string{}
	for _, a := range gather(t, s.ACIs(t.Context(), control.Filter{})) {
		got[a.Owner] = append(got[a.Owner], a.ID)
	}
	if !maps.EqualFunc(got, l.got, slices.Equal) {
		t.Fatalf("sent %v, want %v", got, l.got)
	}
	for _, owner := range []string{"eleni", "andreas", "zoe"} {
		days := 1 << 30
		relevance := 101
		n := 0
		for _, a := range gather(t, s.Withheld(t.Context(), owner)) {
			day, withheld := l.withheld[owner][a.ID]
			if !withheld || day > days || day == days && a.Relevance > relevance {
				t.Fatalf("withheld %s of day %d behind day %d, relevance %d behind %d", a.ID, day, days, a.Relevance, relevance)
			}
			days, relevance = day, a.Relevance
			n++
		}
		if n != len(l.withheld[owner]) {
			t.Fatalf("%d are withheld from %s, want %d", n, owner, len(l.withheld[owner]))
		}
	}
}

func TestWhatWasRemovedTodayStillCountsTowardsABudget(t *testing.T) {
	t.Parallel()
	now := &clock{now: time.Now()}
	s := openWith(t, filepath.Join(t.TempDir(), "control.db"), now)
	ok(t, s.SetBudget(t.Context(), "eleni", &control.Budget{Alerts: 2}))
	putACIs(t, s, aci(1))
	_, err := s.Take(t.Context(), "eleni")
	ok(t, err)
	if n, err := s.Trim(t.Context(), time.Now().Add(time.Hour)); err != nil || n != 1 {
		t.Fatalf("%d trimmed, %v", n, err)
	}
	if n := putACIs(t, s, aci(1), aci(2), aci(4), aci(5)); n != 1 {
		t.Errorf("%d more were sent, want 1", n)
	}
	now.pass(24 * time.Hour)
	if n := putACIs(t, s, aci(4), aci(7), aci(8), aci(10)); n != 2 {
		t.Errorf("%d were sent on the next day, want 2", n)
	}
}

func TestWithheldAnnotationsGoWithAge(t *testing.T) {
	t.Parallel()
	now := &clock{now: time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)}
	s := openWith(t, filepath.Join(t.TempDir(), "control.db"), now)
	ok(t, s.SetBudget(t.Context(), "eleni", &control.Budget{Alerts: 1}))
	for n := range 4 {
		putACIs(t, s, aci(1+3*n), aci(2+3*n))
		now.pass(24 * time.Hour)
	}
	if n, err := s.Trim(t.Context(), time.Date(2026, 1, 4, 12, 0, 0, 0, time.UTC)); err != nil || n != 2 {
		t.Errorf("%d trimmed, %v, want those of two days", n, err)
	}
	if left := gather(t, s.Withheld(t.Context(), "")); len(left) != 2 || left[0].ID != "aci11" || left[1].ID != "aci8" {
		t.Errorf("left %v", left)
	}
	counts, err := s.WithheldOn(t.Context(), time.Date(2026, 1, 4, 23, 0, 0, 0, time.UTC))
	if err != nil || !maps.Equal(counts, map[string]int{"eleni": 1}) {
		t.Errorf("%v, %v", counts, err)
	}
}

func TestANoticeIsGivenOnceADay(t *testing.T) {
	t.Parallel()
	now := &clock{now: time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)}
	s := openWith(t, filepath.Join(t.TempDir(), "control.db"), now)
	ok(t, s.SetBudget(t.Context(), "", &control.Budget{Alerts: 1}))
	putACIs(t, s, ownersACI(1, "zoe"), ownersACI(2, "zoe"), ownersACI(3, "zoe"), ownersACI(4, "eleni"))
	now.pass(24 * time.Hour)
	putACIs(t, s, ownersACI(5, "zoe"), ownersACI(6, "zoe"))

	var mu sync.Mutex
	var given []control.Notice
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			notices, err := s.Notices(context.Background(), "zoe")
			mu.Lock()
			defer mu.Unlock()
			if given = append(given, notices...); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(given) != 2 || given[0].Count != 2 || given[0].Best.ID != "zoe-2" || given[1].Count != 1 || given[1].Best.ID != "zoe-6" ||
		!given[0].Day.Equal(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("notices %+v", given)
	}
	if notices, err := s.Notices(t.Context(), "eleni"); err != nil || len(notices) != 0 {
		t.Errorf("eleni, who was sent everything: %+v, %v", notices, err)
	}
}

// TestABudgetIsExactUnderConcurrency has many put annotations at once, each of them twice.
func TestABudgetIsExactUnderConcurrency(t *testing.T) {
	t.Parallel()
	s := open(t)
	ok(t, s.SetBudget(t.Context(), "eleni", &control.Budget{Alerts: 25}))
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for n := range 10 {
				if _, err := s.PutACIs(context.Background(), []*xmlschema.ACI{ownersACI(worker/2*10+n, "eleni"), ownersACI(n, "zoe")}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	sent, withheld := gather(t, s.ACIs(t.Context(), control.Filter{Owner: "eleni"})), gather(t, s.Withheld(t.Context(), "eleni"))
	if len(sent) != 25 || len(withheld) != 15 {
		t.Errorf("%d sent and %d withheld, want 25 and 15", len(sent), len(withheld))
	}
}

func TestURDsBeyondABudgetAreRefusedAllTogether(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	ok(t, s.SetBudget(ctx, "eleni", &control.Budget{URDs: 3, Keywords: 4}))
	put(t, s, urd("a", "eleni", "http://a.example/", "ibm", "java"), urd("b", "eleni", "http://b.example/", "ibm"))
	for _, c := range []struct {
		urds []*xmlschema.URD
		what string
		want string
	}{
		{[]*xmlschema.URD{urd("c", "eleni", "http://c.example/"), urd("d", "eleni", "http://d.example/")}, "URDs", "has 2 URDs, would have 4, and may have 3"},
		{[]*xmlschema.URD{urd("z", "zoe", "http://c.example/"), urd("c", "eleni", "http://c.example/", "x", "y")}, "keywords", "has 3 keywords, would have 5, and may have 4"},
		{[]*xmlschema.URD{urd("a", "eleni", "http://a.example/", "ibm", "java", "c", "d")}, "keywords", "would have 5"},
	} {
		var beyond *control.BudgetError
		if _, err := s.Put(ctx, c.urds); !errors.As(err, &beyond) || beyond.Owner != "eleni" || beyond.What != c.what || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
		if left := gather(t, s.All(ctx)); len(left) != 2 {
			t.Errorf("%d URDs are stored", len(left))
		}
	}
	put(t, s, urd("c", "eleni", "http://c.example/", "java"))
	ok(t, s.SetBudget(ctx, "eleni", &control.Budget{URDs: 1, Keywords: 1}))
	put(t, s, urd("a", "eleni", "http://a.example/", "c", "d")) // no more than before
	ok(t, s.Delete(ctx, "a"))
	ok(t, s.SetBudget(ctx, "eleni", &control.Budget{}))
	for n := range 20 {
		put(t, s, urd(fmt.Sprint(n), "eleni", "http://c.example/", fmt.Sprint("word", n)))
	}
}

// An owner whose budget was used up while the clock was a year ahead does not wait for that year to come. A clock
// that is corrected about midnight gives no owner another budget.
func TestClockSetBackRenewsBudgetsOnce(t *testing.T) {
	t.Parallel()
	now := &clock{now: time.Date(2026, 1, 2, 20, 0, 0, 0, time.UTC)}
	s := openWith(t, filepath.Join(t.TempDir(), "control.db"), now)
	ok(t, s.SetBudget(t.Context(), "ann", &control.Budget{Alerts: 2}))
	n := 0
	sends := func(when string, want int) {
		t.Helper()
		before, err := s.LastACI(t.Context())
		ok(t, err)
		for range 3 {
			n++
			_, err := s.PutACIs(t.Context(), []*xmlschema.ACI{ownersACI(n, "ann")})
			ok(t, err)
		}
		after, err := s.LastACI(t.Context())
		ok(t, err)
		if got := int(after - before); got != want {
			t.Errorf("%s: %d are sent, want %d", when, got, want)
		}
	}
	const year = 365 * 24 * time.Hour
	sends("at first", 2)
	now.pass(year)
	sends("a year ahead", 2)
	now.pass(-year)
	sends("set back", 2)
	sends("on the same day", 0)
	now.pass(4*time.Hour + time.Second)
	sends("after midnight", 2)
	now.pass(-2 * time.Second)
	sends("corrected to before midnight", 0)
	now.pass(2 * time.Second)
	sends("after midnight again", 0)
}
