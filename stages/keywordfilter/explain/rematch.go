package explain

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

// Rematch goes through what is stored with the URDs of one owner, as if they had seen none of it: in the order in
// which the documents came, or from the one that came last back, for who may not have the time for all of them.
type Rematch struct {
	Owner       string
	Secret      string // the name of the credentials that what is gone through was fetched with
	Interests   []*Rematched
	AllVersions bool
	Newest      bool      // the last that came first; the versions of a document come in their order all the same
	Since       time.Time // versions fetched before are seen, and not told of

	Cache   *objects.Store
	Control *control.Store
	Queues  Queues

	// Judge has a model asked what the URD of an annotation wants to know, and returns the annotation with what it
	// answered, or nil if that is no. Nil: no model is asked, and all is told.
	Judge func(context.Context, *xmlschema.ACI) (*xmlschema.ACI, error)

	Refused               int       // so far: what the model has answered no to
	URLs, Versions, Found int       // so far: those looked at, matched, and to tell
	Oldest                time.Time // of those looked at, by when their latest versions were fetched; zero for none

	ways  map[string]string // by interest and version of a document that was told: by which crawl, which counts for URDs of other crawls
	moved map[string]int    // by view, the last version of a document that has moved elsewhere for good
}

// Rematched is a URD, and what was found for it.
type Rematched struct {
	*annotate.Interest
	Request control.URD
	ran     *bool // whether its crawl ever ran, once asked for
	told    Mirrors
}

// chunk is how many versions are asked for at once.
const chunk = 256

// Alerts yields what there would be to tell, in the order in which it goes through the documents: of two with the same
// text it is the first there that is told of. What comes meanwhile is left out. tick is called for every version.
//
// When the context ends, its error is yielded as any other is: what was found until then holds, and URLs and Oldest
// tell how far it came. A URL that it was at is not counted, whatever was found there. It may end later by what it
// takes to read and match a document of HTML, XML or plain text.
func (r *Rematch) Alerts(ctx context.Context, tick func()) iter.Seq2[*WouldTell, error] {
	return func(yield func(*WouldTell, error) bool) {
		last := r.Cache.Last()
		if err := r.findMoved(ctx); err != nil {
			yield(nil, err)
			return
		}
		for v, err := range r.log(ctx, last) {
			more := true
			if err == nil {
				tick()
				more, err = r.look(ctx, v, last, yield)
			}
			if err != nil {
				yield(nil, err)
			}
			if err != nil || !more {
				return
			}
		}
	}
}

// log yields the versions up to the last in the order of the run, 256 of them read at once. The object cache has its
// log by the sequence numbers of versions, and reads it from either end, so that going back costs what going forward
// does: looks into the index, some 20 µs for each version, also for one that a later one has superseded.
func (r *Rematch) log(ctx context.Context, last uint64) iter.Seq2[objects.Version, error] {
	at, read := uint64(0), r.Cache.Next
	further := func() bool { return at < last && at < r.Cache.Last() } // or it would wait for one
	if r.Newest {
		at, read = last+1, r.Cache.Previous
		further = func() bool { return at > 1 }
	}
	return func(yield func(objects.Version, error) bool) {
		for further() {
			came, err := read(ctx, at, chunk)
			for _, v := range came {
				if at = v.Seq; at <= last && !yield(v, nil) {
					return
				}
			}
			if err != nil {
				yield(objects.Version{}, err)
				return
			}
			if len(came) == 0 {
				return // those before were removed
			}
		}
	}
}

// look is version, and takes back what that counted of a URL if the context ended before all of it was looked at.
func (r *Rematch) look(ctx context.Context, v objects.Version, last uint64, yield func(*WouldTell, error) bool) (more bool, err error) {
	urls, oldest := r.URLs, r.Oldest
	if more, err = r.version(ctx, v, last, yield); more || err != nil {
		err = cmp.Or(ctx.Err(), err) // which stores may call by other names, or pass over
	}
	if err != nil {
		r.URLs, r.Oldest = urls, oldest
	}
	return more, err
}

// findMoved finds which documents have moved for good. Their latest version is at their new URL.
func (r *Rematch) findMoved(ctx context.Context) error {
	if r.AllVersions {
		return nil
	}
	r.moved = make(map[string]int)
	for former, err := range r.Cache.Moved(ctx) {
		if err != nil {
			return err
		}
		r.moved[former.URL] = max(r.moved[former.URL], former.Version)
	}
	return nil
}

// version goes through a URL, if its turn is at this version. It reports whether more is wanted.
func (r *Rematch) version(ctx context.Context, v objects.Version, last uint64, yield func(*WouldTell, error) bool) (more bool, err error) {
	if v.Secret != r.Secret {
		return true, nil
	}
	versions, err := r.versions(v, last)
	switch {
	case err != nil:
		return true, unlessGone(err)
	case len(versions) == 0, versions[len(versions)-1].Number <= r.moved[v.View()]:
		return true, nil
	}
	r.URLs++
	latest := versions[len(versions)-1].FetchedAt
	if r.Oldest.IsZero() || latest.Before(r.Oldest) {
		r.Oldest = latest
	}
	if latest.Before(r.Since) {
		return true, nil
	}
	asked, err := r.asked(v)
	if err != nil || len(asked) == 0 {
		return true, err
	}
	return r.url(ctx, versions, asked, yield)
}

// versions returns the versions to match of a URL whose turn it is, none if it is not: it is at its latest, or where
// all are wanted in the order in which they came, at its first. Those after the last have come since it was begun.
func (r *Rematch) versions(v objects.Version, last uint64) ([]objects.Version, error) {
	if !r.AllVersions {
		latest, err := r.Cache.Latest(v.View())
		if err != nil || latest.Number == v.Number {
			return []objects.Version{v}, err
		}
		if latest.Seq <= last {
			return nil, nil
		}
	}
	all, err := r.Cache.Versions(v.View())
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(other objects.Version) bool { return other.Seq > last })
	if len(all) == 0 {
		return nil, nil
	}
	turn := len(all) - 1
	if r.AllVersions && !r.Newest {
		turn = 0
	}
	switch {
	case all[turn].Number != v.Number:
		return nil, nil
	case r.AllVersions:
		return all, nil
	}
	return all[turn:], nil
}

// unlessGone passes over what was removed meanwhile.
func unlessGone(err error) error {
	if errors.Is(err, objects.ErrNotFound) {
		return nil
	}
	return err
}

// asked returns the URDs that are asked about a URL: those that a pipeline asks, and those whose crawl would
// take it, had it ever run. What was asked for by a request that is more than a GET is for those who make it, so that
// such a crawl takes nothing of the kind but its own start.
func (r *Rematch) asked(v objects.Version) (asked []*Rematched, err error) {
	url := v.URL
	known, err := r.Queues.ReachOf(r.Secret, url)
	if err != nil {
		return nil, err
	}
	if known.Source, err = r.sourceOf(v); err != nil {
		return nil, unlessGone(err)
	}
	for _, i := range r.Interests {
		yes, _ := known.Asks(i.Request)
		own := !urlnorm.IsMarked(url) || url == i.Request.Crawl.Start
		if !yes && own && i.Request.Crawl.Secret == r.Secret && inScopeOf(i.Request, url) {
			ran, err := r.Ran(i)
			if err != nil {
				return nil, err
			}
			yes = !ran
		}
		if yes {
			asked = append(asked, i)
		}
	}
	return asked, nil
}

// sourceOf returns at which source a version was found that no page led to.
func (r *Rematch) sourceOf(v objects.Version) (string, error) {
	if v.Status != 0 {
		return "", nil
	}
	_, header, err := r.Cache.Body(v)
	return sourceOf(v, header), err
}

func inScopeOf(u control.URD, url string) bool { return u.Crawl.ID != "" && inScope(u.Crawl, url) }

// Ran reports whether the crawl of a URD ever came to its own start.
func (r *Rematch) Ran(i *Rematched) (bool, error) {
	if i.ran == nil {
		start, err := r.Queues.ReachOf(i.Request.Crawl.Secret, i.Request.Crawl.Start)
		if err != nil {
			return false, err
		}
		_, _, ran := cameTo(start.Statuses, i.Request.Crawl.ID)
		i.ran = &ran
	}
	return *i.ran, nil
}

// SetRan lets it be known whether the crawl of a URD ever came to its own start, as in another partition.
func (i *Rematched) SetRan(ran bool) { i.ran = &ran }
