package normalize

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/simhash"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/pipeline"
)

// What becomes of near duplicates.
const (
	reportThem = "report"
	filterThem = "filter"
)

// How many pages are remembered of a host and in all, and of how many hosts: a page takes 300 bytes.
const (
	pagesOfHost = 10_000
	pagesInAll  = 50_000
	hostsInAll  = 1_000
)

func (o Options) validateAlike() error {
	if o.NearDuplicates == filterThem && !o.Likeness {
		return &pipeline.OptionError{Option: "near_duplicates", Err: fmt.Errorf("%s needs likeness = true", filterThem)}
	}
	if o.Soft404 < 0 {
		return &pipeline.OptionError{Option: "soft_404", Err: fmt.Errorf("%d is less than 0", o.Soft404)}
	}
	return nil
}

// alike finds pages that are nearly the same as others of their host that this run has fetched. Those of
// each secret are compared among themselves.
type alike struct {
	env     *pipeline.Env
	options Options
	hosts   *simhash.Hosts
}

func newAlike(o Options, env *pipeline.Env) *alike {
	return &alike{env, o, simhash.NewHosts(pagesOfHost, pagesInAll, hostsInAll)}
}

var fingerprinters = sync.Pool{New: func() any { return new(simhash.Fingerprinter) }}

// compare gives a document its likeness, and counts what is alike. It returns the URL of the page that the
// document is to be left out for, if it is. One that is stored already is never left out: what is kept of it
// would not be what its address shows.
func (a *alike) compare(d *webrace.Document) (instead string) {
	if !a.options.Likeness {
		return ""
	}
	f := fingerprinters.Get().(*simhash.Fingerprinter)
	d.Likeness = f.Page(d.Text)
	fingerprinters.Put(f)
	host := hostOf(d)
	if d.Likeness == 0 {
		a.hosts.Leave(host, d.URL)
		return ""
	}
	p := simhash.Page{URL: d.URL, Title: titled(d), Fingerprint: d.Likeness}
	stored := d.Visit != nil && d.Visit.Version > 0
	filters := a.options.NearDuplicates == filterThem && !stored
	found := a.hosts.Meet(host, p, max(a.options.Soft404, 1), func(f simhash.Found) bool { return f.Near == "" || !filters })
	a.count(d, found)
	if found.Near != "" && filters {
		a.env.Counter("near_duplicates_filtered").Add(1)
		return found.Near
	}
	return ""
}

// confirm gives a document that was not fetched the likeness of what is stored, and remembers it for those that come:
// it stands for them as if it had been fetched. It is not counted as alike itself.
func (a *alike) confirm(d *webrace.Document) *webrace.Document {
	if !a.options.Likeness || d.Visit == nil || d.Visit.Likeness == 0 {
		return d
	}
	n := *d
	n.Likeness = d.Visit.Likeness
	p := simhash.Page{URL: d.URL, Title: d.Visit.Titled, Fingerprint: n.Likeness}
	a.hosts.Meet(hostOf(d), p, max(a.options.Soft404, 1), func(simhash.Found) bool { return true })
	return &n
}

// hostOf sets the pages of each secret apart.
func hostOf(d *webrace.Document) string { return d.Secret + " " + urlnorm.Host(d.URL) }

func titled(d *webrace.Document) uint64 { return xxhash.Sum64String(d.Title) }

// alikeness keeps the likeness of a document for visits that confirm it.
func alikeness(d *webrace.Document) webrace.Learned {
	likeness, title := d.Likeness, titled(d)
	return func(v *webrace.Visit) { v.Likeness, v.Titled = likeness, title }
}

func (a *alike) count(d *webrace.Document, found simhash.Found) {
	if found.Near != "" {
		a.env.Counter("near_duplicates").Add(1)
	}
	if a.options.Soft404 > 0 && found.Same >= a.options.Soft404 && d.Status == http.StatusOK {
		a.env.Counter("soft_404").Add(1)
	}
}

// filtered makes the next visit fetch the document anew, since what a 304 would confirm is not kept. The
// digest tells whether it changed.
func filtered(body []byte, instead string) webrace.Learned {
	digest := webrace.Digest(sha256.Sum256(body))
	return func(v *webrace.Visit) {
		v.ForgetValidators()
		v.Version, v.Digest, v.Error = 0, digest, "left out: nearly the same as "+instead
	}
}
