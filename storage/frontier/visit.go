package frontier

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/internal/frontcode"
	"github.com/webrace/webrace/storage/schedule"
)

// visitSchema is that of visits; 1 had no interval, 2 did not say where a document leads on its level, and 3 not
// until when it is fresh, nor what is listed of it; 4 did not know the links and the likeness of the document, 5 not
// the sitemap that lists it, and no numbers, 6 not how its text was read, 7 not that it was refused, 8 no absent parts,
// 9 not where the document was before, 10 not from where something moved to it, 11 no placeholders, 12 not
// who came while a part was absent.
const visitSchema = 13

// encodeVisit leaves out Reach: the marks of the URL's record hold it. A visit is written in the earliest schema that
// has all of it, which earlier releases read.
func encodeVisit(v *webrace.Visit) []byte {
	schema := byte(5)
	switch {
	case slices.ContainsFunc(v.Absent, func(a webrace.Absent) bool { return a.Revision != 0 }):
		schema = visitSchema
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
	w := newWriterOf(schema, 96+len(v.ETag)+len(v.LastModified)+len(v.Error)+8*len(v.Baseline)+len(v.Canonical)+len(v.Refresh))
	w.time(v.At)
	w.int(int64(v.Status))
	w.text(v.ETag)
	w.text(v.LastModified)
	w.fixed(v.Digest[:])
	w.int(int64(v.Version))
	w.int(v.Revision)
	w.words(v.Baseline)
	w.int(int64(v.Attempts))
	w.text(v.Error)
	w.int(int64(v.Interval))
	w.text(v.Canonical)
	w.text(v.Refresh)
	w.time(v.Expires)
	w.time(v.Listed)
	w.flag(v.Links != nil)
	if v.Links != nil {
		w = frontcode.Append(w, v.Links)
	}
	w.flag(v.Likeness != 0)
	if v.Likeness != 0 {
		w.uint(v.Likeness)
		w.uint(v.Titled)
	}
	if schema < 6 {
		return w
	}
	w.text(v.Lister)
	w.uint(uint64(len(v.Numbers)))
	for _, n := range v.Numbers {
		w.uint(n.URD)
		w.uint(math.Float64bits(n.Number))
		w.flag(n.Met)
	}
	if schema > 6 {
		w.int(int64(v.Reading))
	}
	if schema > 7 {
		w.flag(v.Refused)
	}
	if schema > 8 {
		w.uint(uint64(len(v.Absent)))
		for _, a := range v.Absent {
			w.uint(a.Rules)
			w.int(int64(a.Version))
		}
	}
	if schema > 9 {
		w.text(v.Former.URL)
		w.int(int64(v.Former.Version))
	}
	if schema > 10 {
		w.uint(uint64(len(v.Origins)))
		for _, url := range v.Origins {
			w.text(url)
		}
	}
	if schema > 11 {
		w.int(int64(v.Placeholder.Rounds))
		w.int(int64(v.Placeholder.Whole))
		w.int(int64(v.Placeholder.Accepted))
	}
	if schema > 12 {
		for _, a := range v.Absent {
			w.int(a.Revision)
		}
	}
	return w
}

func decodeVisit(value []byte) (*webrace.Visit, error) {
	r := newReaderUpTo(visitSchema, value)
	v := &webrace.Visit{At: r.time(), Status: int(r.int()), ETag: r.text(), LastModified: r.text()}
	copy(v.Digest[:], r.fixed(len(v.Digest)))
	v.Version = int(r.int())
	v.Revision = r.int()
	v.Baseline = r.words()
	v.Attempts = int(r.int())
	v.Error = r.text()
	if r.schema > 1 {
		v.Interval = time.Duration(r.int())
	}
	if r.schema > 2 {
		v.Canonical, v.Refresh = r.text(), r.text()
	}
	if r.schema > 3 {
		v.Expires, v.Listed = r.time(), r.time()
	}
	if r.schema > 4 {
		if r.flag() {
			v.Links = r.list()
		}
		if r.flag() {
			v.Likeness, v.Titled = r.uint(), r.uint()
		}
	}
	if r.schema > 5 {
		v.Lister = r.text()
		v.Numbers = r.numbers()
	}
	if r.schema > 6 {
		v.Reading = int(r.int())
	}
	if r.schema > 7 {
		v.Refused = r.flag()
	}
	if r.schema > 8 {
		for range min(r.uint(), webrace.MostAbsent) {
			v.Absent = append(v.Absent, webrace.Absent{Rules: r.uint(), Version: int(r.int())})
		}
	}
	if r.schema > 9 {
		v.Former = webrace.Former{URL: r.text(), Version: int(r.int())}
	}
	if r.schema > 10 {
		for range min(r.uint(), webrace.MostOrigins) {
			v.Origins = append(v.Origins, r.text())
		}
	}
	if r.schema > 11 {
		v.Placeholder = webrace.Placeholder{Rounds: int(r.int()), Whole: int(r.int()), Accepted: int(r.int())}
	}
	if r.schema > 12 {
		for i := range v.Absent {
			v.Absent[i].Revision = r.int()
		}
	}
	return v, r.done()
}

func (r *reader) numbers() (all []webrace.Told) {
	for range min(r.uint(), webrace.MostNumbers) {
		all = append(all, webrace.Told{URD: r.uint(), Number: math.Float64frombits(r.uint()), Met: r.flag()})
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
		if t := s.crawl.now.Load().Timing; t > 0 && (timing == 0 || t < timing) {
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
