package urds

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/schedule"
	"github.com/webrace/webrace/xmlschema"
	"github.com/webrace/webrace/xmlschema/cron"
)

// book holds the URDs that the stage runs for, and their crawls.
type book struct {
	options Options
	query   *xmlschema.Query
	serves  func(control.URD) bool // reports which of them the stage is for
	urds    map[string]wish
	crawls  map[string]*crawl
	quotas  map[string]int // by owner, as the agenda knows them
	open    int            // rounds
}

// wish is what the stage has to know of a URD.
type wish struct {
	owner string
	crawl webrace.Crawl
	times schedule.Times // nil: it asks by its timing
	since time.Time      // times up to then do not count
}

// crawl is one that URDs want, or wanted.
type crawl struct {
	id     string
	wanted map[string]webrace.Crawl // as each of its URDs wants it
	open   bool                     // a round is
	resume bool                     // it was when the run began
	opened time.Time
	round  int // the last one that ended
}

func newBook(o Options, serves func(control.URD) bool) (*book, error) {
	query, err := xmlschema.Compile(o.Query)
	return &book{
		options: o, query: query, serves: serves,
		urds: make(map[string]wish), crawls: make(map[string]*crawl), quotas: make(map[string]int),
	}, err
}

// asks reports whether a URD, nil if it was removed, is one that the stage runs for.
func (b *book) asks(ctx context.Context, urd *control.URD) (bool, error) {
	if urd == nil || !b.chosen(*urd) {
		return false, nil
	}
	table, err := xmlschema.BuildTable(urd.Canonical())
	if err != nil {
		return false, err
	}
	return b.query.Match(ctx, table)
}

// chosen reports whether a URD that the expression selects starts a crawl, and is one of those that the stage serves.
func (b *book) chosen(urd control.URD) bool {
	return urd.Crawl.ID != "" && b.serves(urd)
}

func (b *book) crawl(id string) *crawl {
	c := b.crawls[id]
	if c == nil {
		c = &crawl{id: id, wanted: make(map[string]webrace.Crawl)}
		b.crawls[id] = c
	}
	return c
}

// setOpen notes whether a round of a crawl is open.
func (b *book) setOpen(c *crawl, open bool) {
	switch {
	case open && !c.open:
		b.open++
	case !open && c.open:
		b.open--
	}
	c.open = open
}

// add takes in a URD, the times of which count from since on. One that names neither times nor timing has the timing of
// the options.
func (b *book) add(urd control.URD, since time.Time) *crawl {
	w := wish{owner: urd.Owner, since: since}
	if urd.At != "" {
		w.times, urd.Crawl.Timing = timesOf(urd)
	}
	urd.Crawl.Timing = cmp.Or(urd.Crawl.Timing, time.Duration(b.options.Timing))
	w.crawl = urd.Crawl
	b.urds[urd.ID] = w
	c := b.crawl(urd.Crawl.ID)
	c.wanted[urd.ID] = urd.Crawl
	return c
}

// timesOf returns the times of a URD that has some, and the timing that its crawl has of them for pages that are no
// start: half of what lies between two of them at least, so that a page that was visited late in one round is due in
// the next.
func timesOf(urd control.URD) (schedule.Times, time.Duration) {
	e, err := cron.Parse(urd.At)
	if err != nil { // it was read when the URD was stored, by a release that knew more
		return never{}, 0
	}
	return e, e.Shortest() / 2
}

// never is at no time.
type never struct{}

func (never) Next(time.Time) time.Time { return time.Time{} }

// remove takes out a URD, if it is there. Its crawl stays known, as a round of it may be open.
func (b *book) remove(id string) {
	if urd, known := b.urds[id]; known {
		delete(b.urds, id)
		delete(b.crawls[urd.crawl.ID].wanted, id)
	}
}

// wanted counts the crawls that a URD wants.
func (b *book) wanted() (n int) {
	for _, c := range b.crawls {
		if len(c.wanted) > 0 {
			n++
		}
	}
	return n
}

// toResume returns the crawls with a round that was open when the run began, in the order of their ids.
func (b *book) toResume() (all []*crawl) {
	for _, c := range b.crawls {
		if c.resume {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(x, y *crawl) int { return cmp.Compare(x.id, y.id) })
	return all
}

// merged is the crawl as the most demanding of its URDs wants it.
func (c *crawl) merged() webrace.Crawl {
	urds := make([]control.URD, 0, len(c.wanted))
	for _, wanted := range c.wanted {
		urds = append(urds, control.URD{Crawl: wanted})
	}
	return control.Crawls(urds)[0]
}

// requestOf is what a URD asks of the agenda.
func (b *book) requestOf(id string) schedule.Request {
	u := b.urds[id]
	return schedule.Request{
		ID: id, Owner: u.owner, Target: u.crawl.ID, Timing: u.crawl.Timing, Urgency: u.crawl.Urgency, Times: u.times, Since: u.since,
	}
}
