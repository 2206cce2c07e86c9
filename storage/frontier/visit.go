package frontier

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/schedule"
)

// visitSchema is that of visits; 1 had no interval, 2 did not say where a document leads on its level, and 3 not
// until when it is fresh, nor what is listed of it; 4 did not know the links and the likeness of the document, 5 not
// the sitemap that lists it, and no numbers, 6 not how its text was read, 7 not that it was refused, 8 no absent parts,
// 9 not where the document was before, 10 not from where something moved to it, 11 no placeholders, 12 not
// who came while a part was absent, 13 not of what kind the last version is, 14 not in whose place of a list it stands,
// 15 no state.
const visitSchema = 16

// encodeVisit leaves out Reach: the marks of the URL's record hold it. A visit is written in the earliest schema that
// has all of it, which earlier releases read.
func encodeVisit(v *webrace.Visit) []byte {
	schema := byte(5)
	switch {
	case len(v.State) > 0:
		schema = visitSchema
	case v.Instead != (webrace.Instead{}):
		schema = 15
	case v.Matched.Version != 0:
		schema = 14
	case slices.ContainsFunc(v.Absent, func(a webrace.Absent) bool { return a.Revision != 0 }):
		schema = 13
	case v.Placeholder != webrace.Placeholder{}:
		schema = 12
	case len(v.Origins) > 0:
		schema = 11
	case v.Former.URL != "":
		schema = 10
	case len(v.Absent) > 0:
		schema = 9
	case v.Refused:
		schema = 8
	case v.Reading != 0:
		schema = 7
	case v.Lister != "" || len(v.Numbers) > 0:
		schema = 6
	}
	w := newWriterOf(schema, 96+len(v.ETag)+len(v.LastModified)+len(v.Error)+8*len(v.Baseline)+len(v.Canonical)+len(v.Refresh)+len(v.State))
	w.Time(v.At)
	w.Int(int64(v.Status))
	w.Text(v.ETag)
	w.Text(v.LastModified)
	w.Fixed(v.Digest[:])
	w.Int(int64(v.Version))
	w.Int(v.Revision)
	w.Words(v.Baseline)
	w.Int(int64(v.Attempts))
	w.Text(v.Error)
	w.Int(int64(v.Interval))
	w.Text(v.Canonical)
	w.Text(v.Refresh)
	w.Time(v.Expires)
	w.Time(v.Listed)
	w.Flag(v.Links != nil)
	if v.Links != nil {
		w.List(v.Links)
	}
	w.Flag(v.Likeness != 0)
	if v.Likeness != 0 {
		w.Uint(v.Likeness)
		w.Uint(v.Titled)
	}
	if schema < 6 {
		return w
	}
	w.Text(v.Lister)
	w.Uint(uint64(len(v.Numbers)))
	for _, n := range v.Numbers {
		w.Uint(n.URD)
		w.Uint(math.Float64bits(n.Number))
		w.Flag(n.Met)
	}
	if schema > 6 {
		w.Int(int64(v.Reading))
	}
	if schema > 7 {
		w.Flag(v.Refused)
	}
	if schema > 8 {
		w.Uint(uint64(len(v.Absent)))
		for _, a := range v.Absent {
			w.Uint(a.Rules)
			w.Int(int64(a.Version))
		}
	}
	if schema > 9 {
		w.Text(v.Former.URL)
		w.Int(int64(v.Former.Version))
	}
	if schema > 10 {
		w.Uint(uint64(len(v.Origins)))
		for _, url := range v.Origins {
			w.Text(url)
		}
	}
	if schema > 11 {
		w.Int(int64(v.Placeholder.Rounds))
		w.Int(int64(v.Placeholder.Whole))
		w.Int(int64(v.Placeholder.Accepted))
	}
	if schema > 12 {
		for _, a := range v.Absent {
			w.Int(a.Revision)
		}
	}
	if schema > 13 {
		w.Int(int64(v.Matched.Version))
		w.Uint(uint64(v.Matched.Kind))
		w.List(v.Matched.Series)
	}
	if schema > 14 {
		w.Text(v.Instead.Of)
		w.Text(v.Instead.Before)
	}
	if schema > 15 {
		w.Text(string(v.State))
	}
	return w
}

func decodeVisit(value []byte) (*webrace.Visit, error) {
	r := newReaderUpTo(visitSchema, value)
	v := &webrace.Visit{At: r.Time(), Status: int(r.Int()), ETag: r.Text(), LastModified: r.Text()}
	copy(v.Digest[:], r.Fixed(len(v.Digest)))
	v.Version = int(r.Int())
	v.Revision = r.Int()
	v.Baseline = r.Words()
	v.Attempts = int(r.Int())
	v.Error = r.Text()
	if r.schema > 1 {
		v.Interval = time.Duration(r.Int())
	}
	if r.schema > 2 {
		v.Canonical, v.Refresh = r.Text(), r.Text()
	}
	if r.schema > 3 {
		v.Expires, v.Listed = r.Time(), r.Time()
	}
	if r.schema > 4 {
		if r.Flag() {
			v.Links = r.List()
		}
		if r.Flag() {
			v.Likeness, v.Titled = r.Uint(), r.Uint()
		}
	}
	if r.schema > 5 {
		v.Lister = r.Text()
		v.Numbers = r.numbers()
	}
	if r.schema > 6 {
		v.Reading = int(r.Int())
	}
	if r.schema > 7 {
		v.Refused = r.Flag()
	}
	if r.schema > 8 {
		for range min(r.Uint(), webrace.MostAbsent) {
			v.Absent = append(v.Absent, webrace.Absent{Rules: r.Uint(), Version: int(r.Int())})
		}
	}
	if r.schema > 9 {
		v.Former = webrace.Former{URL: r.Text(), Version: int(r.Int())}
	}
	if r.schema > 10 {
		for range min(r.Uint(), webrace.MostOrigins) {
			v.Origins = append(v.Origins, r.Text())
		}
	}
	if r.schema > 11 {
		v.Placeholder = webrace.Placeholder{Rounds: int(r.Int()), Whole: int(r.Int()), Accepted: int(r.Int())}
	}
	if r.schema > 12 {
		for i := range v.Absent {
			v.Absent[i].Revision = r.Int()
		}
	}
	if r.schema > 13 {
		v.Matched = webrace.Matched{Version: int(r.Int()), Kind: uint8(r.Uint()), Series: r.List()}
	}
	if r.schema > 14 {
		v.Instead = webrace.Instead{Of: r.Text(), Before: r.Text()}
	}
	if r.schema > 15 {
		v.State = []byte(r.Text())
	}
	return v, r.done()
}

func (r *reader) numbers() (all []webrace.Told) {
	for range min(r.Uint(), webrace.MostNumbers) {
		all = append(all, webrace.Told{URD: r.Uint(), Number: math.Float64frombits(r.Uint()), Met: r.Flag()})
	}
	return all
}

// deepest is how many times the timing of its crawl passes at most between two visits of a page that is
// no start, if no option sets how long.
const deepest = 32

// revisits are the bounds of the interval between two visits of a page, by the crawls that it is visited
// for: the one that asks most often decides, and a page that is the start of any is watched like one.
func (q *Queue) revisits(served []served) schedule.Bounds {
	var timing time.Duration
	start := false
	for _, s := range served {
		if t := s.crawl.pass().Timing; t > 0 && (timing == 0 || t < timing) {
			timing = t
		}
		start = start || s.distance == 0
	}
	b := q.opt.Revisit
	switch {
	case start && timing > 0:
		own := schedule.StartBounds(timing)
		b.Min, b.Max = own.Min, own.Max
		return b
	case timing == 0:
		timing = time.Hour
		b.Max = cmp.Or(b.Max, 30*24*time.Hour)
	}
	b.Min = cmp.Or(b.Min, timing)
	b.Max = max(b.Min, cmp.Or(b.Max, max(timing, deepest*timing))) // no overflow makes it shorter
	return b
}

// adapt sets the interval of a visit by what it found, if the page was validated, and reports whether
// that was a new document.
func (l *Lease) adapt(v *webrace.Visit) (changed bool) {
	last := webrace.Visit{}
	if l.request.Visit != nil {
		last = *l.request.Visit
	}
	if l.request.Stored || v.At.Equal(last.At) {
		return false
	}
	changed = v.Digest != last.Digest
	v.Interval = schedule.Adapt(last.Interval, changed, l.q.revisits(l.served))
	return changed
}
