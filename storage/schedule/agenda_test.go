package schedule

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var began = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// byTiming is a request that names no times.
func byTiming(id, owner, target string, timing time.Duration, urgency int) Request {
	return Request{ID: id, Owner: owner, Target: target, Timing: timing, Urgency: urgency}
}

// everyHours are the times at which so many hours of the day have passed.
type everyHours int

func (n everyHours) Next(t time.Time) time.Time {
	every := time.Duration(n) * time.Hour
	return t.Truncate(every).Add(every)
}

// TestAnAgendaDoesWhatASlowOneDoes does the same at random to an agenda and to one that searches through
// everything, and holds what they return against each other.
func TestAnAgendaDoesWhatASlowOneDoes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400) {
		compare(t, rand.New(rand.NewPCG(seed, 1)))
	}
}

func FuzzAgenda(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, x, y uint64) { compare(t, rand.New(rand.NewPCG(x, y))) })
}

func compare(t *testing.T, r *rand.Rand) {
	t.Helper()
	names := []string{"fixed", "adaptive", "urgency-first"}
	o := Options{Policy: Policies[names[r.IntN(3)]], AtOnce: r.IntN(4), Quota: []int{0, 3, 20}[r.IntN(3)]}
	a, slow := New(o), newOracle(o)
	now := began
	open := map[string]time.Time{}
	some := func(what string, n int) string { return fmt.Sprint(what, r.IntN(n)) }
	for step := range 120 {
		said := ""
		switch r.IntN(10) {
		case 0, 1, 2:
			q := byTiming(some("request", 12), some("owner", 4), some("target", 6), time.Duration(1+r.IntN(8))*time.Hour, 1+r.IntN(3))
			if r.IntN(3) == 0 {
				q.Times, q.Since = everyHours(1+r.IntN(6)), now.Add(-time.Duration(r.IntN(int(4*time.Hour))))
			}
			said = fmt.Sprint("put ", q)
			a.Put(q, now)
			slow.Put(q, now)
		case 3:
			id := some("request", 12)
			said = "remove " + id
			a.Remove(id)
			slow.Remove(id, now)
		case 4:
			id := some("request", 12)
			said = "check " + id
			a.CheckNow(id, now)
			slow.CheckNow(id, now)
		case 5:
			owner, quota := some("owner", 4), r.IntN(12)
			said = fmt.Sprint("quota ", owner, quota)
			a.SetQuota(owner, quota, now)
			slow.bucket(owner, now).set(quota, now.UnixMicro())
		default:
			name := some("target", 6)
			at, ok := open[name]
			if !ok && r.IntN(8) > 0 {
				break
			}
			if !ok {
				at = now.Add(-time.Duration(r.IntN(int(time.Hour))))
			}
			delete(open, name)
			v := Visit{Began: at, Interval: time.Duration(r.IntN(int(9 * time.Hour))), Cost: float64(r.IntN(5))}
			said = fmt.Sprint("visited ", name, v)
			owners, share := a.Visited(name, v, now)
			slowOwners, slowShare := slow.Visited(name, v, now)
			if !slices.Equal(owners, slowOwners) || share != slowShare {
				t.Fatalf("step %d, %s: charges %v %v, want %v %v", step, said, owners, share, slowOwners, slowShare)
			}
		}
		now = now.Add(time.Duration(r.IntN(int(3 * time.Hour))))
		due, next := a.Due(now)
		slowDue, slowNext := slow.Due(now)
		if got, want := describe(due, next), describe(slowDue, slowNext); got != want {
			t.Fatalf("step %d at %v, after %s, with %#v: %s, want %s", step, now, said, o, got, want)
		}
		for _, name := range due {
			open[name] = now
		}
	}
}

func TestTheMostDemandingRequestDecides(t *testing.T) {
	t.Parallel()
	a := New(Options{Policy: Fixed{}})
	a.Put(byTiming("daily", "ann", "t", 24*time.Hour, 1), began)
	a.Put(byTiming("hourly", "bob", "t", time.Hour, 1), began)
	due, next := a.Due(began)
	if !slices.Equal(due, []string{"t"}) || !next.IsZero() {
		t.Errorf("a new target: %v, next %v", due, next)
	}
	owners, share := a.Visited("t", Visit{Began: began, Cost: 3}, began.Add(time.Minute))
	if !slices.Equal(owners, []string{"ann", "bob"}) || share != 1.5 {
		t.Errorf("%v pay %v each", owners, share)
	}
	if due, next := a.Due(began.Add(time.Hour - 1)); len(due) > 0 || !next.Equal(began.Add(time.Hour)) {
		t.Errorf("before its time: %v, next %v", due, next)
	}
	a.Remove("hourly")
	if due, next := a.Due(began.Add(time.Hour)); len(due) > 0 || !next.Equal(began.Add(24*time.Hour)) {
		t.Errorf("when no request asks so often any more: %v, next %v", due, next)
	}
	if !a.CheckNow("daily", began.Add(2*time.Hour)) || a.CheckNow("hourly", began) {
		t.Error("there is a daily request, and no hourly one")
	}
	if due, _ := a.Due(began.Add(2 * time.Hour)); !slices.Equal(due, []string{"t"}) {
		t.Errorf("when it was asked for: %v", due)
	}
	a.CheckNow("daily", began.Add(3*time.Hour)) // while it is being visited
	a.Visited("t", Visit{Began: began.Add(2 * time.Hour)}, began.Add(4*time.Hour))
	if due, _ := a.Due(began.Add(4 * time.Hour)); !slices.Equal(due, []string{"t"}) {
		t.Errorf("when it was asked for during the visit: %v", due)
	}
}

func TestARequestThatIsReplacedKeepsTheVisitsOfItsTarget(t *testing.T) {
	t.Parallel()
	a := New(Options{Policy: Fixed{}})
	a.Put(byTiming("r", "ann", "t", 24*time.Hour, 1), began)
	a.Due(began)
	a.Put(byTiming("r", "ann", "t", 5*time.Hour, 3), began) // while it is being visited
	if due, _ := a.Due(began); len(due) > 0 {
		t.Errorf("due twice: %v", due)
	}
	a.Visited("t", Visit{Began: began}, began)
	a.Put(byTiming("r", "ann", "t", 3*time.Hour, 3), began)
	if due, next := a.Due(began); len(due) > 0 || !next.Equal(began.Add(3*time.Hour)) {
		t.Errorf("replaced: %v, next %v", due, next)
	}
}

func TestTimesAreDueOnceEach(t *testing.T) {
	t.Parallel()
	at := func(hours float64) time.Time { return began.Add(time.Duration(hours * float64(time.Hour))) }
	a := New(Options{Policy: Adaptive{}})
	a.Put(Request{ID: "r", Owner: "ann", Target: "t", Times: everyHours(6), Since: at(1)}, at(1))
	visits := 0
	wantDue := func(now float64, want bool, next float64) {
		t.Helper()
		due, then := a.Due(at(now))
		if len(due) > 0 != want || !want && !then.Equal(at(next)) {
			t.Fatalf("%v hours: %v is due, next %v", now, due, then)
		}
		if want {
			visits++
		}
	}
	visited := func(now float64) { a.Visited("t", Visit{Began: at(now), Interval: time.Hour}, at(now+0.5)) }
	wantDue(1, false, 6) // a target that was never visited waits, too
	a.Put(Request{ID: "r", Owner: "ann", Target: "t", Times: everyHours(6), Since: at(1), Urgency: 3}, at(5))
	wantDue(5.9, false, 6)
	wantDue(6.1, true, 0)
	visited(6.1)
	wantDue(11, false, 12) // it was never asked for at a time between, however often it changes
	wantDue(31, true, 0)   // four times have passed
	visited(31)
	wantDue(35.9, false, 36)
	a.Put(Request{ID: "r", Owner: "ann", Target: "t", Times: everyHours(5), Since: at(35.9)}, at(35.9)) // not: at 35, which is over
	wantDue(36, false, 40)
	a.CheckNow("r", at(37))
	wantDue(37, true, 0)
	visited(37)
	wantDue(37.6, false, 40)
	a.Put(byTiming("often", "bob", "t", 2*time.Hour, 1), at(38)) // whose visits serve the times that came before them
	wantDue(39.9, true, 0)
	a.Visited("t", Visit{Began: at(39.9), Interval: 2 * time.Hour}, at(40.2)) // began before 40
	wantDue(40.2, true, 0)
	a.Visited("t", Visit{Began: at(40.2), Interval: 2 * time.Hour}, at(40.3))
	wantDue(40.3, false, 42.2)
	if visits != 5 {
		t.Errorf("%d visits", visits)
	}
}

func TestATargetThatChangesIsVisitedMoreOften(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy         Policy
		adapted, after time.Duration
	}{
		{Adaptive{}, time.Hour, 3 * time.Hour}, {Adaptive{}, 5 * time.Hour, 5 * time.Hour}, {Adaptive{}, 99 * time.Hour, 24 * time.Hour},
		{Adaptive{}, 0, 24 * time.Hour}, {Fixed{}, time.Hour, 24 * time.Hour}, {UrgencyFirst{}, time.Hour, 24 * time.Hour},
	} {
		a := New(Options{Policy: c.policy})
		a.Put(byTiming("r", "ann", "t", 24*time.Hour, 1), began)
		a.Due(began)
		a.Visited("t", Visit{Began: began, Interval: c.adapted}, began)
		if _, next := a.Due(began); !next.Equal(began.Add(c.after)) {
			t.Errorf("%T, adapted to %v: next %v", c.policy, c.adapted, next)
		}
	}
}

func TestADebtIsPaidBackBeforeAnythingIsDue(t *testing.T) {
	t.Parallel()
	a := New(Options{Policy: Fixed{}, Quota: 24}) // one an hour
	a.Put(byTiming("r", "ann", "t", time.Hour, 1), began)
	a.Put(byTiming("shared", "ann", "s", 99*time.Hour, 1), began)
	a.Put(byTiming("rich", "bob", "s", 5*time.Hour, 1), began)
	a.SetQuota("bob", 0, began)
	a.Due(began)
	a.Visited("t", Visit{Began: began, Cost: 28}, began)
	a.Visited("s", Visit{Began: began, Cost: 2}, began)
	if left, limited := a.Balance("ann", began); left != -5 || !limited {
		t.Errorf("ann has %v left", left)
	}
	positive := began.Add(5*time.Hour + time.Hour/24/3600).Truncate(time.Microsecond)
	if due, next := a.Due(began.Add(time.Hour)); len(due) > 0 || next.After(began.Add(5*time.Hour)) {
		t.Errorf("in debt: %v, next %v", due, next)
	}
	if due, _ := a.Due(began.Add(5 * time.Hour)); !slices.Equal(due, []string{"s"}) {
		t.Errorf("who has no quota gets %v", due)
	}
	if owners, share := a.Visited("s", Visit{Began: began.Add(5 * time.Hour), Cost: 2}, began.Add(5*time.Hour)); len(owners) != 2 || share != 1 {
		t.Errorf("%v pay %v each, also those who are in debt", owners, share)
	}
	_, next := a.Due(positive)
	if want := began.Add(6 * time.Hour); next.Before(want) || next.After(want.Add(time.Millisecond)) {
		t.Errorf("the debt is paid back at %v, want %v", next, want)
	}
	if due, _ := a.Due(next); !slices.Equal(due, []string{"t"}) {
		t.Errorf("then due: %v", due)
	}
}

func TestNobodyIsGrantedMoreAtOnceThanTheyCanPay(t *testing.T) {
	t.Parallel()
	a := New(Options{Quota: 10})
	for i := range 30 {
		a.Put(byTiming(fmt.Sprint(i), "ann", fmt.Sprint("t", i), time.Hour, 1), began)
	}
	if due, _ := a.Due(began); len(due) != 10 {
		t.Errorf("%d visits for a quota of 10", len(due))
	}
}

// What is put back costs nothing and asks again, whoever else asked meanwhile, once its owner can pay what was spent
// for them elsewhere.
func TestWhatIsPutBackAsksAgain(t *testing.T) {
	t.Parallel()
	a := New(Options{Policy: Fixed{}, Quota: 10})
	a.Put(byTiming("1", "ann", "t", time.Hour, 1), began)
	for range 3 {
		if due, _ := a.Due(began); !slices.Equal(due, []string{"t"}) {
			t.Fatalf("due %v", due)
		}
		a.CheckNow("1", began.Add(time.Second)) // while it is under way
		a.PutBack("t")
		if left, _ := a.Balance("ann", began); left != 10 {
			t.Errorf("%v left of 10 when nothing was visited", left)
		}
	}
	a.Spend("ann", 11, began)
	due, next := a.Due(began)
	if due != nil || next.Before(began.Add(144*time.Minute)) || next.After(began.Add(145*time.Minute)) {
		t.Errorf("due %v of an owner with a debt of a request of 10 a day, next %v", due, next.Sub(began))
	}
	if due, _ := a.Due(next); !slices.Equal(due, []string{"t"}) {
		t.Errorf("due %v when the debt is paid", due)
	}
	a.SetBalance("ann", 5, next) // of which the visit under way has its part
	if left, _ := a.Balance("ann", next); left != 4 {
		t.Errorf("%v left", left)
	}
	a.Visited("t", Visit{Began: next, Cost: 2}, next)
	if left, _ := a.Balance("ann", next); left != 3 {
		t.Errorf("%v left of 5 after a visit that cost 2", left)
	}
	if due, _ := a.Due(next); due != nil {
		t.Errorf("%v are due again", due)
	}
}

func TestUrgenciesTakeTurnsWhenNotAllCanBeServed(t *testing.T) {
	t.Parallel()
	a := New(Options{Policy: UrgencyFirst{}, AtOnce: 1})
	for i := range 300 {
		a.Put(byTiming(fmt.Sprint(i), "ann", fmt.Sprint(1+i%3, ".", i), time.Hour, 1+i%3), began)
	}
	turns := map[byte]int{}
	for range 120 {
		due, _ := a.Due(began)
		turns[due[0][0]]++
		a.Visited(due[0], Visit{Began: began}, began)
	}
	if turns['3'] != 80 || turns['2'] != 30 || turns['1'] != 10 {
		t.Errorf("turns by urgency: %v", turns)
	}
}

func TestWhatIsLeftOfAQuotaIsNeverTooMuch(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		quota := 1 + r.IntN(50)
		var b bucket
		b.set(quota, began.UnixMicro())
		used := make([]float64, 1+r.IntN(6))
		span := time.Duration(len(used)-1)*24*time.Hour + time.Duration(r.Int64N(int64(24*time.Hour)))
		for at := time.Duration(0); at < span; at += time.Duration(r.Int64N(int64(12*time.Hour) + 1)) {
			n := r.IntN(quota)
			b.spend(inParts(float64(n)), began.Add(at).UnixMicro())
			used[at/(24*time.Hour)] += float64(n)
		}
		b.fill(began.Add(span).UnixMicro())
		left, really := Left(quota, used, span%(24*time.Hour)), float64(b.balance)/float64(parts)
		if left > really+1e-6 || left < really-float64(quota)-1e-6 {
			t.Fatalf("left %v, really %v, of %d", left, really, quota)
		}
	}
}

func TestBucketsHoldWhateverTheyAreTold(t *testing.T) {
	t.Parallel()
	for _, quota := range []int{-1, 0, 1, 1000, math.MaxInt} {
		for _, spent := range []float64{0, 1, math.MaxFloat64, -math.MaxFloat64} {
			var b bucket
			b.set(quota, began.UnixMicro())
			for range 3 {
				b.spend(inParts(spent), began.UnixMicro())
			}
			if !b.solvent(began.UnixMicro()) {
				at := b.recovers()
				early := b
				if early.solvent(at-1) || !b.solvent(at) {
					t.Errorf("quota %d, spent %g: recovers at %d, and has %d then", quota, spent, at, b.balance)
				}
			}
		}
	}
}

func BenchmarkAgenda(b *testing.B) {
	a, now := New(Options{Quota: 100}), began
	for i := range 100_000 {
		a.Put(byTiming(fmt.Sprint(i), fmt.Sprint("o", i%1000), fmt.Sprint("t", i%80_000), time.Duration(1+i%48)*time.Hour, 1+i%3), now)
	}
	b.ReportAllocs()
	for n := 0; n < b.N; {
		due, next := a.Due(now)
		for _, t := range due {
			a.Visited(t, Visit{Began: now, Cost: 1}, now)
			n++
		}
		if len(due) == 0 {
			now = next
		}
	}
}
