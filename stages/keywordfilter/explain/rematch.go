package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/internal/simhash"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/stages/internal/modeluse"
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

// url matches versions of one URL with those who are asked about it.
func (r *Rematch) url(ctx context.Context, versions []objects.Version, asked []*Rematched, yield func(*WouldTell, error) bool) (more bool, err error) {
	states := make([]seen, len(asked))
	known, err := r.Queues.ReachOf(r.Secret, versions[0].URL)
	if err != nil {
		return true, err
	}
	var last *objects.Version
	var former []string
	first := versions[0].Number
	if r.AllVersions {
		if versions, err = r.withFormer(versions); err != nil {
			return true, err
		}
	} else if is := known.placeholder(first); is.Rounds > 0 {
		whole, err := r.Cache.Get(versions[0].View(), is.Whole)
		if err != nil {
			return true, unlessGone(err)
		}
		versions, first = []objects.Version{whole}, is.Whole
	}
	placeholders := known.placeholders()
	for _, v := range versions {
		document, err := Read(ctx, r.Cache, v)
		if errors.Is(err, objects.ErrNotFound) {
			continue // removed meanwhile
		}
		if err != nil {
			return true, err
		}
		r.Versions++
		if placeholders.next(document) {
			continue
		}
		interests := make([]*annotate.Interest, len(asked))
		for i := range asked {
			interests[i] = asked[i].Interest
		}
		parts := annotate.Parts(ctx, interests, document.Parts)
		if ctx.Err() != nil {
			return true, ctx.Err()
		}
		moving, failure := &moving{cache: r.Cache, d: document, before: last, origins: known.origins(), instead: known.instead()}, error(nil)
		if last != nil && last.URL != v.URL {
			former = append(former, last.URL)
		}
		last = &v
		for i, interest := range asked {
			if parts[i].Err != nil {
				continue // it looks at nothing
			}
			since := states[i].version
			if v.Number == first && since > 0 && r.AllVersions {
				if err := known.unite(ctx, r.Cache, interest.Interest, &states[i].Seen); err != nil {
					return true, err
				}
			}
			if r.AllVersions {
				states[i].Moves = moving.to(ctx, interest.Interest, &failure)
			}
			before := states[i].Text()
			_, alert := states[i].Show(interest.Interest, parts[i].Part, document.AsBody())
			if failure != nil {
				return true, failure
			}
			states[i].version = v.Number
			if alert != nil {
				var err error
				if alert, err = states[i].count(ctx, interest.Interest, document, alert); err != nil {
					return true, err
				}
			}
			if alert == nil || v.FetchedAt.Before(r.Since) || v.Number < first {
				continue
			}
			aci := annotate.ACI(interest.URD, *alert, document.Document(), since)
			aci.Former = slices.Clone(former)
			if aci, err = r.judged(ctx, interest, aci, v, annotate.NewText(before, parts[i].Text, nil, alert.Entries)); err != nil {
				return true, err
			}
			if aci == nil {
				continue
			}
			told, err := r.tell(ctx, interest, aci)
			if err != nil {
				return true, err
			}
			if told != nil && !yield(told, nil) {
				return false, nil
			}
		}
	}
	return true, nil
}

// judged has a model asked of what is new in a version, if the URD has a question and a model is to be asked. It
// returns no annotation if the answer is no.
func (r *Rematch) judged(ctx context.Context, i *Rematched, aci *xmlschema.ACI, v objects.Version, news string) (*xmlschema.ACI, error) {
	if i.URD.Ask == "" || r.Judge == nil {
		return aci, nil
	}
	body, header, err := r.Cache.Body(v)
	if err != nil {
		return nil, unlessGone(err)
	}
	aci.Judgement = &xmlschema.Judgement{Question: i.URD.Ask, News: news, Forbidden: modeluse.Forbidden(v.URL, header, body, v.MediaType)}
	judged, err := r.Judge(ctx, aci)
	if err == nil && judged == nil {
		r.Refused++
	}
	return judged, err
}

// withFormer returns versions of one URL behind those of its document from before it moved there.
func (r *Rematch) withFormer(versions []objects.Version) ([]objects.Version, error) {
	all, err := r.Cache.History(versions[0].View())
	if err != nil {
		return nil, unlessGone(err)
	}
	before := slices.DeleteFunc(all, func(v objects.Version) bool { return v.Number >= versions[0].Number })
	return append(before, versions...), nil
}

// unlessGone passes over what was removed meanwhile.
func unlessGone(err error) error {
	if errors.Is(err, objects.ErrNotFound) {
		return nil
	}
	return err
}

// seen is what a URD has been shown of a URL.
type seen struct {
	annotate.Seen
	version int           // the last; 0 for none
	told    *webrace.Told // the number; nil for none
}

// count returns the alert if the number of a version, compared with the one that was told last, meets the condition of
// the URD, or that has none. The error is that of the context.
func (s *seen) count(ctx context.Context, i *annotate.Interest, d *Stored, alert *match.Alert) (*match.Alert, error) {
	when := i.Number()
	if when == nil {
		return alert, nil
	}
	number, err := when.Number(ctx, d.Parts, d.Language, selection.NewBudget())
	if err != nil {
		return nil, ctx.Err()
	}
	tell, next, err := when.Judge(number, s.told, selection.NewBudget())
	if err != nil {
		return nil, nil // as in a pipeline, which counts it
	}
	if number.Found || s.told != nil {
		s.told = &next
	}
	if !tell {
		return nil, nil
	}
	return alert, nil
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

// What the owner was told already.
const (
	ToldNothing = "new"
	ToldOfPage  = "page told"
	ToldSame    = "told"
)

// WouldTell is an annotation that there would be, and what its owner was told already.
type WouldTell struct {
	*xmlschema.ACI
	Told   string
	Before *control.ACI // the latest that the owner was told; nil for none
}

// tell returns what an annotation would tell; nothing if it would be listed in one that was found before.
func (r *Rematch) tell(ctx context.Context, i *Rematched, aci *xmlschema.ACI) (*WouldTell, error) {
	way := fmt.Sprint(i.InterestHash(), aci.Docbase.Version, aci.URI)
	crawl := i.Request.Crawl.ID
	if other := r.ways[way]; other != "" && crawl != "" && crawl != other || i.told.Add(aci) {
		return nil, nil
	}
	if r.ways == nil {
		r.ways = make(map[string]string)
	}
	r.ways[way] = crawl
	r.Found++
	t := &WouldTell{ACI: aci, Told: ToldNothing}
	for _, question := range []struct {
		filter control.Filter
		told   string
	}{
		{control.Filter{Owner: r.Owner, XPath: fmt.Sprintf("/aci[@id='%s']", aci.ID)}, ToldSame},
		{control.Filter{Owner: r.Owner, URL: aci.URI}, ToldOfPage},
	} {
		for before, err := range r.Control.ACIs(ctx, question.filter) {
			if err != nil {
				return nil, err
			}
			t.Told, t.Before = question.told, &before
		}
		if t.Before != nil {
			break
		}
	}
	if t.Told == ToldSame {
		return t, nil
	}
	first, isMirror, err := r.Control.MirrorOf(ctx, aci.ID)
	if err != nil {
		return nil, err
	}
	if isMirror {
		t.Told, t.Before = ToldSame, &first
	}
	return t, nil
}

// Mirrors finds which of the documents that a URD would be told of have the same text, as the control store does
// for those that it is told of.
type Mirrors struct{ text, matched map[uint64][]*firstOf }

// firstOf is the document that is told of, and those that are listed there.
type firstOf struct {
	uri      string
	likeness uint64
	listed   map[string]bool
}

// Add reports whether an annotation is of a mirror.
func (m *Mirrors) Add(aci *xmlschema.ACI) bool {
	d := aci.Docbase
	if d.Shown == 0 {
		return false
	}
	for _, first := range m.text[d.Shown] {
		if first.lists(aci) {
			return true
		}
	}
	for _, first := range m.matched[d.Matched] {
		if simhash.Alike(first.likeness, d.Likeness) && first.lists(aci) {
			return true
		}
	}
	if m.text == nil {
		m.text, m.matched = make(map[uint64][]*firstOf), make(map[uint64][]*firstOf)
	}
	first := &firstOf{aci.URI, d.Likeness, make(map[string]bool)}
	m.text[d.Shown], m.matched[d.Matched] = append(m.text[d.Shown], first), append(m.matched[d.Matched], first)
	return false
}

// lists adds a document, unless it is the first, moved from there, or was added in an earlier version.
func (f *firstOf) lists(aci *xmlschema.ACI) bool {
	if f.uri == aci.URI || slices.Contains(aci.Former, f.uri) || f.listed[aci.URI] {
		return false
	}
	f.listed[aci.URI] = true
	return true
}
