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

// TestAnAgendaDoesWhatASlowOneDoes does the same at random to an agenda and to one that searches through
// everything, and holds what they say against each other.
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
			q := Request{some("request", 12), some("owner", 4), some("target", 6), time.Duration(1+r.IntN(8)) * time.Hour, 1 + r.IntN(3)}
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
	a.Put(Request{"daily", "ann", "t", 24 * time.Hour, 1}, began)
	a.Put(Request{"hourly", "bob", "t", time.Hour, 1}, began)
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
		t.Errorf("when nobody asks so often any more: %v, next %v", due, next)
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
	a.Put(Request{"r", "ann", "t", 24 * time.Hour, 1}, began)
	a.Due(began)
	a.Put(Request{"r", "ann", "t", 5 * time.Hour, 3}, began) // while it is being visited
	if due, _ := a.Due(began); len(due) > 0 {
		t.Errorf("due twice: %v", due)
	}
	a.Visited("t", Visit{Began: began}, began)
	a.Put(Request{"r", "ann", "t", 3 * time.Hour, 3}, began)
	if due, next := a.Due(began); len(due) > 0 || !next.Equal(began.Add(3*time.Hour)) {
		t.Errorf("replaced: %v, next %v", due, next)
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
		a.Put(Request{"r", "ann", "t", 24 * time.Hour, 1}, began)
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
	a.Put(Request{"r", "ann", "t", time.Hour, 1}, began)
	a.Put(Request{"shared", "ann", "s", 99 * time.Hour, 1}, began)
	a.Put(Request{"rich", "bob", "s", 5 * time.Hour, 1}, began)
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
		a.Put(Request{fmt.Sprint(i), "ann", fmt.Sprint("t", i), time.Hour, 1}, began)
	}
	if due, _ := a.Due(began); len(due) != 10 {
		t.Errorf("%d visits for a quota of 10", len(due))
	}
}

func TestUrgenciesTakeTurnsWhenNotAllCanBeServed(t *testing.T) {
	t.Parallel()
	a := New(Options{Policy: UrgencyFirst{}, AtOnce: 1})
	for i := range 300 {
		a.Put(Request{fmt.Sprint(i), "ann", fmt.Sprint(1+i%3, ".", i), time.Hour, 1 + i%3}, began)
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
		a.Put(Request{fmt.Sprint(i), fmt.Sprint("o", i%1000), fmt.Sprint("t", i%80_000), time.Duration(1+i%48) * time.Hour, 1 + i%3}, now)
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
