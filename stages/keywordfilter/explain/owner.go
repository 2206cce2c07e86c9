package explain

import (
	"context"
	"fmt"

	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

// IsShown reports whether a URD is shown what a version is of: what is for all, or what it asks for in its own way. A
// URD that is nil is shown what is for all.
func IsShown(u *xmlschema.URD, v objects.Version) bool {
	_, mark := urlnorm.CutMark(v.URL)
	if v.Secret == "" && mark == "" {
		return true
	}
	if u == nil || mark != "" && mark != u.Request.Mark() {
		return false
	}
	active := *u
	active.Paused = false
	crawl, _, err := control.CrawlOf(&active)
	return err == nil && crawl.Secret == v.Secret
}

// ViewOf returns as what a URD sees a URL: with the name of its credentials, and where it asks in another way than by
// a plain GET, as the address of what it asks for. Whoever asks for it by its mark, sees that only if it is the URD's
// own.
func ViewOf(u control.URD, url string) (secret, address string) {
	if start, mark := urlnorm.CutMark(u.Crawl.Start); mark != "" && urlnorm.Identity(start) == urlnorm.Identity(url) {
		url = u.Crawl.Start
	}
	return u.Crawl.Secret, url
}

// ToOwner is what a URD has to do with a URL, as far as its owner is told.
type ToOwner struct {
	control.URD
	Asked  bool          // the URD is asked about the URL
	Why    string        // so, or not
	Told   []control.ACI // what its owner was told of it, by this URD
	Stored *Stored       // what is stored, if the URD is asked about it; nil for nothing
	Lines  []string      // why they were told of what is stored, or not
}

// ToOwner returns what each URD of an owner has to do with a URL, in the order in which they were added. Of what is
// stored there it tells where the URD is asked about it alone: anything else would be what others asked for.
func (q Queues) ToOwner(ctx context.Context, dir *storage.Dir, owner, url string) ([]ToOwner, error) {
	store, err := dir.Control()
	if err != nil {
		return nil, err
	}
	type view struct{ secret, url string }
	var all []ToOwner
	views := make(map[view][]int) // of which of them
	for u, err := range store.Of(owner).URDs(ctx) {
		if err != nil {
			return nil, err
		}
		secret, address := ViewOf(u, url)
		views[view{secret, address}] = append(views[view{secret, address}], len(all))
		all = append(all, ToOwner{URD: u})
	}
	for at, numbers := range views {
		page, err := LookUp(ctx, dir, q, at.secret, at.url)
		if err != nil {
			return nil, err
		}
		if err := page.toOwner(ctx, all, numbers); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// toOwner explains one document to those of some URDs that see it.
func (p *Page) toOwner(ctx context.Context, all []ToOwner, numbers []int) error {
	var urds []control.URD
	for _, i := range numbers {
		urds = append(urds, all[i].URD)
	}
	if err := p.LookAtParts(ctx, urds); err != nil {
		return err
	}
	for _, i := range numbers {
		if err := p.explainTo(ctx, &all[i]); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (p *Page) explainTo(ctx context.Context, e *ToOwner) (err error) {
	if e.Told, err = p.Told(ctx, e.URD); err != nil {
		return err
	}
	if e.Asked, e.Why = p.Asks(e.URD); !e.Asked {
		if e.Paused {
			e.Why = "the URD is paused, and is asked about nothing"
		}
		return nil
	}
	e.Stored = p.Stored
	say := func(format string, args ...any) { e.Lines = append(e.Lines, fmt.Sprintf(format, args...)) }
	return p.URD(ctx, e.URD, say)
}
