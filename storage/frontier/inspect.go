package frontier

import (
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/storage/internal/nanos"
)

// Stats are the figures of a queue. The second group counts from the start of this run.
type Stats struct {
	Known   int // URLs ever accepted
	Queued  int // URLs that some crawl waits for, leased and delayed ones included
	Delayed int // of these: tried again later
	NotDue  int // of these, too: not to be handed out now, as far as that is known without looking for it; while no host may be asked, all
	Failed  int // URLs that gave no document at their last visit
	Due     int // URLs that the crawls of this run wait for: once Take has said io.EOF, what was deferred. A URL counts for each crawl

	Done    int          // visits completed
	NoDoc   int          // visits of this run that gave no document
	Refused [reasons]int // by [Reason]
	Leased  int          // out now
	Hosts   int          // in memory
	Waiting int          // of these: may not be asked yet
}

// Stats returns the figures of the queue as of its last commit.
func (q *Queue) Stats() Stats {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.shown
	s := Stats{
		Known: int(c.known), Queued: int(c.queued), Delayed: int(c.delayed), Failed: int(c.failed),
		NoDoc:  q.failures.count(),
		Due:    int(q.crawls.pending.Load()),
		Done:   int(c.done - q.first.done),
		Leased: len(q.leases), Hosts: len(q.window.hosts), Waiting: len(q.window.waiting),
	}
	for i := range s.Refused {
		s.Refused[i] = int(q.refused[i].Load())
	}
	if s.NotDue = s.Delayed; q.idle() {
		s.NotDue = s.Queued
	}
	return s
}

// idle reports whether no URL is out, and none may be handed out now.
func (q *Queue) idle() bool {
	if len(q.leases) > 0 || q.steps > 0 || q.waking {
		return false
	}
	for i := range q.window.rings {
		if r := &q.window.rings[i]; !r.ended || r.missed {
			return false // hosts are yet to be looked at
		}
	}
	ready, _ := q.window.look(q.store.now())
	return !ready
}

// State is where a URL stands.
type State string

const (
	Unseen    State = "unseen"    // it was never accepted
	Queued    State = "queued"    // it waits for its turn
	Delayed   State = "delayed"   // it failed, and waits until Due
	Leased    State = "leased"    // it is being worked on
	Completed State = "completed" // it is done in the last round that came to it
	Failed    State = "failed"    // it was given up in that round, or gave no document
	Dropped   State = "dropped"   // it was taken off the queue before it was ever visited
)

// Explanation is everything the frontier knows about a URL.
type Explanation struct {
	URL     string // as it is asked for: the spelling by which it is known
	Secret  string // the name of the credentials it is fetched with; empty for none
	State   State
	Reached []Reached      // the crawls that ever came to it
	Visit   *webrace.Visit // the last one; nil when there was none
	Due     time.Time      // of a delayed one
	Host    time.Time      // when its host may be asked again; zero for at once
	HostWhy string         // it is left alone until then; empty for the usual pause
	Paused  bool           // its host is
	Lister  string         // the sitemap, or robots.txt, by which it was found last; empty if it was by no such
	Moved   string         // where it was redirected to at its last visit; empty when it was not
	Gate    scope.Explanation
	Refused Reason // why it would be refused, were it found on the start page of a crawl; 0 when a crawl would accept it
}

// Reached is how a crawl last came to a URL.
type Reached struct {
	Crawl    string
	Start    string // where the crawl begins
	Round    int    // the last round that came to it
	Current  bool   // this is the crawl's last round
	Distance int    // the least in that round
	Waiting  bool   // the crawl still waits for it
	Landing  string // where the start of the crawl led in its last round, out of its scope; empty if it stayed there
}

// Why explains what became of a URL, once for each of the credentials it may be fetched with: mostly
// once.
func (q *Queue) Why(url string) ([]Explanation, error) {
	var all []Explanation
	for _, secret := range q.secrets() {
		e, err := q.explain(secret, url)
		if err != nil {
			return nil, err
		}
		if e.State != Unseen || secret == "" {
			all = append(all, e)
		}
	}
	if len(all) > 1 && all[0].State == Unseen {
		all = all[1:]
	}
	return all, nil
}

// WhyWith explains what became of a URL as it is fetched with credentials, or without any if they have no name.
func (q *Queue) WhyWith(secret, url string) (Explanation, error) { return q.explain(secret, url) }

// secrets returns the names of all credentials, none first.
func (q *Queue) secrets() []string {
	names := []string{""}
	known := map[string]bool{"": true}
	for _, c := range q.crawls.all() {
		if s := c.pass().Secret; !known[s] {
			known[s] = true
			names = append(names, s)
		}
	}
	return names
}

func (q *Queue) explain(secret, url string) (Explanation, error) {
	e := Explanation{URL: url, Secret: secret, State: Unseen, Gate: q.opt.Gate.Explain(url)}
	name, ok := scope.Host(url)
	if !ok {
		e.Refused = Invalid
		return e, nil
	}
	h, err := q.store.readHost(q.keys, hostOf(name))
	if err != nil {
		return e, err
	}
	e.Host, e.HostWhy, e.Paused = h.notBefore, h.why, h.parked == never
	rec, url, err := q.store.find(q.keys, secret, url)
	if err != nil {
		return e, err
	}
	e.URL = url
	id := identify(secret, url)
	if e.Refused, err = q.refusal(url, h, rec == nil); err != nil || rec == nil {
		return e, err
	}
	e.Moved = rec.redirect
	if e.Visit, err = q.store.readVisit(q.keys, id); err != nil {
		return e, err
	}
	return e, q.describe(&e, id, rec)
}

func (q *Queue) describe(e *Explanation, id urlID, rec *record) (err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.leases[id] != nil:
		e.State = Leased
	case rec.place.kind == inHostQueue:
		e.State = Queued
	case rec.place.kind == delayed:
		e.State, e.Due = Delayed, nanos.Time(rec.place.due)
	case rec.failed:
		e.State = Failed
	case e.Visit == nil:
		e.State = Dropped
	default:
		e.State = Completed
	}
	for _, m := range rec.marks {
		cr, err := q.crawls.numbered(m.crawl)
		if err != nil {
			return err
		}
		p := cr.pass()
		e.Reached = append(e.Reached, Reached{p.ID, p.Start, int(m.round), m.round == p.number, int(m.distance), m.queued, p.landing.url})
	}
	if e.Lister, err = q.listerOf(id, e.URL, rec, e.Visit); err != nil {
		return err
	}
	if e.Visit != nil {
		e.Visit.Shown, err = q.shownTo(rec)
	}
	return err
}

// refusal returns why no crawl would accept a URL, were it found on its start page.
func (q *Queue) refusal(url string, h *hostRecord, isNew bool) (Reason, error) {
	gate := q.opt.Gate.Explain(url)
	if gate.Refusal == scope.ByRule || gate.Refusal == scope.BlockedDomain || gate.Refusal == scope.BlockedURL {
		return reasonOf(gate.Refusal), nil
	}
	why := Unknown
	for _, c := range q.crawls.all() {
		p := c.pass()
		r := p.admits(url, 1)
		switch {
		case urlnorm.Identity(p.Start) == urlnorm.Identity(url):
			return accepted, nil
		case r == accepted && isNew && !q.hasRoom(c, false):
			r = CrawlFull
		}
		if why = max(why, r); r == accepted {
			why = accepted
			break
		}
	}
	trusted := gate.Rule != nil && gate.Rule.Verdict() == scope.Trusted
	switch {
	case why != accepted:
		return why, nil
	case gate.Refusal != scope.Pass:
		return reasonOf(gate.Refusal), nil
	case !isNew:
		return accepted, nil
	case q.opt.HostURLs > 0 && h.known >= uint64(q.opt.HostURLs):
		return HostFull, nil
	case trusted:
		return accepted, nil
	}
	return q.crowded(url)
}

// LastVisit returns what the last visit of a URL with some credentials left behind, or, if it was redirected,
// that of where it led in the end; nil if there was none. The pipeline's queue may be open or not.
func (s *Store) LastVisit(pipeline, secret, url string) (*webrace.Visit, error) {
	last, _, err := s.LastVisitAt(pipeline, secret, url)
	return last, err
}

// LastVisitAt is LastVisit, with the URL that it is of.
func (s *Store) LastVisitAt(pipeline, secret, url string) (last *webrace.Visit, at string, err error) {
	for range maxHops {
		visit, moved, err := s.LastAnswer(pipeline, secret, url)
		if err != nil || visit == nil {
			return last, at, err
		}
		if last, at = visit, url; moved == "" {
			break
		}
		url = moved
	}
	return last, at, nil
}

// LastAnswer returns what the last visit of a URL with some credentials left behind, and where it was redirected to
// then; nil if there was none. The pipeline's queue may be open or not.
func (s *Store) LastAnswer(pipeline, secret, url string) (visit *webrace.Visit, moved string, err error) {
	k, known, err := s.knownKeys(pipeline)
	if err != nil || !known {
		return nil, "", err
	}
	rec, spelling, err := s.find(k, secret, url)
	if err != nil || rec == nil {
		return nil, "", err
	}
	visit, err = s.readVisit(k, identify(secret, spelling))
	if visit != nil && visit.Error == "" && isRedirect(visit.Status) {
		moved = rec.redirect
	}
	return visit, moved, err
}

// Shown returns what each crawl was last shown of a URL with some credentials, sorted by crawl, and the spelling by
// which the URL is known; nothing if the pipeline's queue is not open. It is as of the last commit.
func (s *Store) Shown(pipeline, secret, url string) (shown []webrace.Shown, spelling string, err error) {
	s.mu.Lock()
	q := s.queues[pipeline]
	s.mu.Unlock()
	if q == nil {
		return nil, "", nil
	}
	rec, spelling, err := s.find(q.keys, secret, url)
	if err != nil || rec == nil {
		return nil, "", err
	}
	shown, err = q.shownTo(rec)
	return shown, spelling, err
}

// maxHops is how many redirects in a row LastVisit follows, which may lead in a circle.
const maxHops = 10
