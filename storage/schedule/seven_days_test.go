package schedule_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/storage/schedule"
)

const (
	day  = 24 * time.Hour
	days = 7
)

var policies = []string{"fixed", "adaptive", "urgency-first"}

// limited are the owners that have a quota, of far less than what they ask for.
const limitedOwners, limitedQuota = 20, 5

// tenThousand are that many URDs of a thousand owners. Those of the first owners, who have a quota, are for
// targets of their own; of the others, one in four shares a target.
func tenThousand() World {
	r := rand.New(rand.NewPCG(7, 10_000))
	w := World{Pages: map[string]Page{}, Quotas: map[string]int{}, Took: 2 * time.Second, Span: days * day, Seed: 1}
	for i := range 10_000 {
		owner := i % 1000
		target := fmt.Sprint("shared ", r.IntN(1200))
		if owner < limitedOwners || r.IntN(4) > 0 {
			target = fmt.Sprint("own ", i)
		}
		urgency := []int{1, 1, 1, 1, 1, 1, 2, 2, 2, 3}[r.IntN(10)]
		timing := 2*time.Hour + time.Duration(r.Int64N(int64(46*time.Hour)))
		w.Requests = append(w.Requests, schedule.Request{
			ID: fmt.Sprint("urd ", i), Owner: fmt.Sprint("owner ", owner), Target: target, Timing: timing, Urgency: urgency,
		})
		w.Pages[target] = Page{Every: time.Duration(math.Exp(math.Log(float64(time.Hour)) + r.Float64()*math.Log(14*24))), Periodic: i%2 == 0}
	}
	for i := range limitedOwners {
		w.Quotas[fmt.Sprint("owner ", i)] = limitedQuota
	}
	return w
}

func (w World) isLimited(r schedule.Request) bool { return w.Quotas[r.Owner] > 0 }

// TestSevenDaysOfTenThousandURDs has what all of them ask for at the least be half of what can be served. It
// prints how the policies compare.
func TestSevenDaysOfTenThousandURDs(t *testing.T) {
	t.Parallel()
	w := tenThousand()
	w.AtOnce = 2
	w.Took = time.Duration(0.5 * float64(w.AtOnce) * float64(time.Second) / w.demand())
	var results []Result
	for _, name := range policies {
		r := Run(w, schedule.Policies[name])
		results = append(results, r)
		checkServed(t, name, w, r)
		checkQuotas(t, name, w, r)
		if served := r.ByUrgency[0].Served + r.ByUrgency[1].Served + r.ByUrgency[2].Served; served <= r.Visits*11/10 {
			t.Errorf("%s: %d visits serve %d requests: they are not shared", name, r.Visits, served)
		}
	}
	if fixed, adaptive := results[0].ByUrgency[0], results[1].ByUrgency[0]; adaptive.Freshness <= fixed.Freshness || adaptive.Age >= fixed.Age {
		t.Errorf("adaptive keeps copies no fresher: %+v, %+v", adaptive, fixed)
	}
	print(t, results)
}

func print(t *testing.T, results []Result) {
	var table strings.Builder
	if err := Table(&table, policies, results); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + table.String())
}

// demand is how many visits a second are asked for.
func (w World) demand() (perSecond float64) {
	timings := map[string]time.Duration{}
	for _, r := range w.Requests {
		if timing, ok := timings[r.Target]; (!ok || r.Timing < timing) && !w.isLimited(r) {
			timings[r.Target] = r.Timing
		}
	}
	for _, timing := range timings {
		perSecond += 1 / timing.Seconds()
	}
	return perSecond
}

// checkServed fails if a URD was starved, or if one whose owner has no quota was late by its timing.
func checkServed(t *testing.T, name string, w World, r Result) {
	t.Helper()
	for _, q := range w.Requests {
		if r.Unserved[q.ID] {
			t.Errorf("%s: %s was never served", name, q.ID)
		}
		late := r.Late[q.ID]
		if !w.isLimited(q) && late > 1 {
			t.Errorf("%s: %s was late by %.2f timings", name, q.ID, late)
		}
		// An owner's URDs take turns: each gets one while the quota buys one for all of them.
		if turns := time.Duration(10 * float64(day) / limitedQuota * 3); w.isLimited(q) && time.Duration(late*float64(q.Timing)) > turns {
			t.Errorf("%s: %s, whose owner has a quota, waited for %.1f timings of %v", name, q.ID, late, q.Timing)
		}
	}
}

// checkQuotas fails unless the limited owners used all of their quotas and no more: that of a day is there
// at the beginning.
func checkQuotas(t *testing.T, name string, w World, r Result) {
	t.Helper()
	for owner, quota := range w.Quotas {
		most := float64(quota * (days + 1))
		if used := r.Used[owner]; used > most || used < most-1 {
			t.Errorf("%s: %s used %.1f, want %.1f", name, owner, used, most)
		}
	}
}

func TestWhenTooMuchIsAskedForNobodyStarvesAndTheUrgentComeFirst(t *testing.T) {
	t.Parallel()
	w := tenThousand()
	w.Quotas = nil
	w.AtOnce = 1
	w.Took = time.Duration(2 * float64(time.Second) / w.demand()) // half of it can be served
	var results []Result
	for _, name := range policies {
		r := Run(w, schedule.Policies[name])
		results = append(results, r)
		if len(r.Unserved) > 0 {
			t.Errorf("%s: %d URDs were never served", name, len(r.Unserved))
		}
	}
	fixed, urgent := results[0], results[2]
	if urgent.ByUrgency[2].Late > 1 || urgent.ByUrgency[2].Late >= fixed.ByUrgency[2].Late || urgent.ByUrgency[0].Late <= fixed.ByUrgency[0].Late {
		t.Errorf("latest by urgency: %+v, with fixed intervals %+v", urgent.ByUrgency, fixed.ByUrgency)
	}
	print(t, results)
}

func TestTheSameWorldGivesTheSameResult(t *testing.T) {
	t.Parallel()
	w := tenThousand()
	w.Requests, w.Span = w.Requests[:500], day
	one, two := Run(w, schedule.Adaptive{}), Run(w, schedule.Adaptive{})
	for i := range one.ByUrgency { // sums of floats, in the order of a map
		one.ByUrgency[i].Freshness, two.ByUrgency[i].Freshness = 0, 0
		one.ByUrgency[i].Age, two.ByUrgency[i].Age = 0, 0
	}
	if !reflect.DeepEqual(one, two) {
		t.Error("it gives another one")
	}
}

// TestFreshnessIsWhatTheMathematicsSay compares with the closed forms for one page that is visited at fixed
// intervals I: of a Poisson process of rate r, (1-exp(-rI))/rI.
func TestFreshnessIsWhatTheMathematicsSay(t *testing.T) {
	t.Parallel()
	request := []schedule.Request{{ID: "r", Owner: "o", Target: "t", Timing: time.Hour, Urgency: 1}}
	for _, c := range []struct {
		page   Page
		fresh  float64
		age    time.Duration
		wasted float64
	}{
		{Page{Every: time.Hour}, 1 - math.Exp(-1), time.Duration((0.5 - math.Exp(-1)) * float64(time.Hour)), math.Exp(-1)},
		{Page{Every: 2 * time.Hour}, 2 * (1 - math.Exp(-0.5)), time.Duration((0.5 - 2*(1-2*(1-math.Exp(-0.5)))) * float64(time.Hour)), math.Exp(-0.5)},
		{Page{Every: 90 * time.Minute, Periodic: true}, 5. / 6, 150 * time.Second, 1. / 3},
		{Page{}, 1, 0, 1},
	} {
		r := Run(World{Requests: request, Pages: map[string]Page{"t": c.page}, Span: 5000 * day, Seed: 3}, schedule.Fixed{})
		g, wasted := r.ByUrgency[0], float64(r.Wasted)/float64(r.Visits)
		if math.Abs(g.Freshness-c.fresh) > 0.01 || (g.Age-c.age).Abs() > 30*time.Second || math.Abs(wasted-c.wasted) > 0.01 || g.Late != 0 {
			t.Errorf("%+v: fresh %.3f, age %v, wasted %.3f; want %.3f, %v, %.3f", c.page, g.Freshness, g.Age, wasted, c.fresh, c.age, c.wasted)
		}
	}
}
