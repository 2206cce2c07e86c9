package schedule_test

// The simulation runs an agenda on a virtual clock against pages that change by themselves, and reports how
// fresh the copies of these pages are kept, how many visits find nothing new, and who is served late. The
// same world and policy always give the same result.

import (
	"container/heap"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"text/tabwriter"
	"time"

	"github.com/webrace/webrace/storage/schedule"
)

// Page is how a page changes.
type Page struct {
	Every    time.Duration // between two changes, on average
	Periodic bool          // it is always as long; otherwise changes are a Poisson process
}

// World is what is simulated.
type World struct {
	Requests []schedule.Request
	Pages    map[string]Page // by target; one that is missing never changes
	Quotas   map[string]int  // by owner, in requests a day
	AtOnce   int             // how many visits may be under way; 0: no limit
	Took     time.Duration   // by each visit
	Span     time.Duration
	Seed     uint64
}

// Group is what came of the requests of one urgency.
type Group struct {
	Requests  int
	Served    int           // visits that were made for them, each counted for all of its requests
	Freshness float64       // the share of time in which the copy was as the page
	Age       time.Duration // for how long the page had been other than the copy, on average over time
	Late      float64       // the most that a visit came after its time, in timings, for an owner without a quota
}

// Result is what came of a simulation.
type Result struct {
	Visits    int
	Wasted    int // of these, found nothing new
	Used      map[string]float64
	Late      map[string]float64 // by request
	Unserved  map[string]bool    // requests that were never visited
	ByUrgency [3]Group           // of urgency 1, 2 and 3
}

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Run simulates a world under a policy.
func Run(w World, policy schedule.Policy) Result {
	s := &simulation{
		World: w, policy: policy, now: start, agenda: schedule.New(schedule.Options{Policy: policy, AtOnce: w.AtOnce}),
		pages:  map[string]*page{},
		result: Result{Used: map[string]float64{}, Late: map[string]float64{}, Unserved: map[string]bool{}},
	}
	s.prepare()
	for end := start.Add(w.Span); ; {
		due, next := s.agenda.Due(s.now)
		for _, target := range due {
			heap.Push(&s.ends, ending{s.now.Add(w.Took), s.now, s.pages[target]})
		}
		if len(s.ends) > 0 && (next.IsZero() || !s.ends[0].at.After(next)) {
			next = s.ends[0].at
		}
		if next.IsZero() || next.After(end) {
			s.now = end
			return s.finish()
		}
		s.now = next
		for len(s.ends) > 0 && !s.ends[0].at.After(s.now) {
			s.visited(heap.Pop(&s.ends).(ending))
		}
	}
}

type simulation struct {
	World
	policy schedule.Policy
	agenda *schedule.Agenda
	now    time.Time
	pages  map[string]*page
	ends   endings
	result Result
}

// page is a target and the copy of it.
type page struct {
	Page
	name     string
	random   *rand.Rand
	requests []schedule.Request
	timing   time.Duration // the shortest

	visited  time.Time // when the copy was made; zero before
	changes  time.Time // when the page first changes after that
	interval time.Duration
	stale    float64 // seconds in which the copy was not as the page
	aged     float64 // the integral of its age over them
}

func (s *simulation) prepare() {
	for owner, quota := range s.Quotas {
		s.agenda.SetQuota(owner, quota, s.now)
	}
	for i, r := range s.Requests {
		p := s.pages[r.Target]
		if p == nil {
			p = &page{Page: s.Pages[r.Target], name: r.Target, timing: r.Timing, random: rand.New(rand.NewPCG(s.Seed, uint64(i)))}
			s.pages[r.Target] = p
		}
		p.timing = min(p.timing, r.Timing)
		p.requests = append(p.requests, r)
		s.agenda.Put(r, s.now)
	}
}

// visited ends a visit. What it finds is the page as it was when the visit began.
func (s *simulation) visited(e ending) {
	p := e.page
	s.result.Visits++
	first := p.visited.IsZero()
	changed := first || !p.changes.After(e.began)
	if !changed {
		s.result.Wasted++
	}
	for _, r := range p.requests {
		s.served(r, p, e.began)
	}
	if !first {
		p.outdated(e.began)
	}
	p.visited = e.began
	if changed {
		p.changes = p.next(e.began)
	}
	p.interval = schedule.Adapt(p.interval, changed, schedule.StartBounds(p.timing))
	owners, share := s.agenda.Visited(p.name, schedule.Visit{Began: e.began, Interval: p.interval, Cost: 1}, s.now)
	for _, owner := range owners {
		s.result.Used[owner] += share
	}
}

// served notes how late a visit is for a request.
func (s *simulation) served(r schedule.Request, p *page, at time.Time) {
	s.result.ByUrgency[r.Urgency-1].Served++
	wanted := start
	if !p.visited.IsZero() {
		wanted = p.visited.Add(r.Timing)
	}
	s.result.Late[r.ID] = math.Max(s.result.Late[r.ID], float64(at.Sub(wanted))/float64(r.Timing))
}

// outdated adds up for how long, until a time, the page was not as its copy.
func (p *page) outdated(until time.Time) {
	if stale := until.Sub(p.changes).Seconds(); stale > 0 && p.Every > 0 {
		p.stale += stale
		p.aged += stale * stale / 2
	}
}

// next is when the page first changes after a time.
func (p *page) next(after time.Time) time.Time {
	switch {
	case p.Every <= 0:
		return start.Add(math.MaxInt64)
	case p.Periodic:
		return start.Add((after.Sub(start)/p.Every + 1) * p.Every)
	}
	return after.Add(time.Duration(p.random.ExpFloat64() * float64(p.Every)))
}

// finish closes the account: of what was not visited again, and of what was never visited.
func (s *simulation) finish() Result {
	fresh, aged := [3]float64{}, [3]float64{}
	for _, p := range s.pages {
		seen := !p.visited.IsZero()
		if seen {
			p.outdated(s.now)
		}
		for _, r := range p.requests {
			g := &s.result.ByUrgency[r.Urgency-1]
			g.Requests++
			s.close(r, p)
			if s.Quotas[r.Owner] == 0 {
				g.Late = math.Max(g.Late, s.result.Late[r.ID])
			}
			if seen {
				fresh[r.Urgency-1] += 1 - p.stale/s.Span.Seconds()
				aged[r.Urgency-1] += p.aged / s.Span.Seconds()
			}
		}
	}
	for i := range s.result.ByUrgency {
		if g := &s.result.ByUrgency[i]; g.Requests > 0 {
			g.Freshness = fresh[i] / float64(g.Requests)
			g.Age = time.Duration(aged[i] / float64(g.Requests) * float64(time.Second))
		}
	}
	return s.result
}

// close notes how late a visit is by now that was not made.
func (s *simulation) close(r schedule.Request, p *page) {
	if p.visited.IsZero() {
		s.result.Unserved[r.ID] = true
		s.result.Late[r.ID] = float64(s.Span) / float64(r.Timing)
		return
	}
	late := float64(s.now.Sub(p.visited.Add(r.Timing))) / float64(r.Timing)
	s.result.Late[r.ID] = math.Max(s.result.Late[r.ID], late)
}

// ending is the end of a visit.
type ending struct {
	at, began time.Time
	page      *page
}

type endings []ending

func (e endings) Len() int           { return len(e) }
func (e endings) Less(i, j int) bool { return e[i].at.Before(e[j].at) }
func (e endings) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *endings) Push(x any)        { *e = append(*e, x.(ending)) }
func (e *endings) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// Table writes the results of several policies for a person.
func Table(w io.Writer, names []string, results []Result) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "policy\tvisits\twasted\turgency\tURDs\tserved\tfresh\tage\tlatest, in timings\t")
	for i, r := range results {
		for u := len(r.ByUrgency) - 1; u >= 0; u-- {
			g := r.ByUrgency[u]
			fmt.Fprintf(out, "%s\t%d\t%.1f %%\t%d\t%d\t%d\t%.1f %%\t%v\t%.2f\t\n", names[i], r.Visits,
				100*float64(r.Wasted)/float64(max(r.Visits, 1)), u+1, g.Requests, g.Served, 100*g.Freshness, g.Age.Round(time.Minute), g.Late)
		}
	}
	return out.Flush()
}
