package webrace

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// Visit is what a completed request leaves behind for the next one to the same URL. It is written once,
// last, after every effect of the request is durable, so a request that died half-way teaches nothing.
type Visit struct {
	At           time.Time // when the document was last validated
	Status       int       // the last status
	ETag         string    // validators for the next conditional request
	LastModified string
	Expires      time.Time     // until when the server calls the document fresh; zero if it does not
	Listed       time.Time     // when it was last changed, as a sitemap or feed listed it at that visit; zero if none did
	Digest       Digest        // of the last body, which is not stored if Version is 0
	Version      int           // its version
	Former       Former        // where the document was before it moved here for good; the zero value if it did not
	Canonical    string        // another URL that the last document declared for itself; empty for none
	Refresh      string        // another URL to which it sent its reader at once; empty for none
	Links        []string      // where the last document leads, if it was not to be kept; nil if it was
	Likeness     uint64        // of the last document, if that is known; 0 for none
	Titled       uint64        // a hash of its title, if its likeness is known
	Lister       string        // the sitemap, or robots.txt, by which it was found last; empty if it was by no such
	Shown        []Shown       // every crawl that ever came here, sorted by crawl; and by distance, see [Shown]
	Revision     int64         // the revision of the URD base it was matched at
	Baseline     []uint64      // hashes of the text blocks of the last versions, as the matcher keeps them
	Reading      int           // the revision of how text is read at which Baseline was made
	Matched      Matched       // what else of the version with which it was made; the zero value where that is not known
	Absent       []Absent      // the parts of the document that URDs look at, and that were not there at the last visit
	Placeholder  Placeholder   // what came in the place of the document; the zero value if nothing ever did
	Origins      []string      // other pages from which something moved to the document, or which became one with it: the last ones, at most MostOrigins
	Instead      Instead       // of which page of its list the document stood in the place when it was new there
	State        []byte        // what whoever answers such requests knows of its source, as it wrote that itself; at most [MostState]
	Numbers      []Told        // the numbers on which URDs have a condition, those that changed last at the end
	Interval     time.Duration // until the next visit is worth its while, by what the last ones found; 0 before the first
	Attempts     int           // failed attempts in a row
	Error        string        // why the last attempt failed; empty when it did not
	Refused      bool          // the last attempt was refused before there was an answer: At and Status are those of an earlier one
}

// ForgetValidators makes the next visit fetch the document whole, whether it has changed or not: a 304 would
// confirm something else than what is stored, or what was never kept.
func (v *Visit) ForgetValidators() { v.ETag, v.LastModified = "", "" }

// Answer returns the status of the answer to the last attempt; 0 if there was none.
func (v *Visit) Answer() int {
	if v.Attempts > 0 || v.Refused {
		return 0
	}
	return v.Status
}

// Former is where a document was before it moved for good (301, 308). Its history goes on at its new URL: the versions
// there are numbered on from the last one at the former URL, and what was shown, known and told there counts.
type Former struct {
	URL     string
	Version int // the last one there
}

// IsInherited reports whether all that the visit knows of the document is from its former URL.
func (v *Visit) IsInherited() bool { return v.Former.URL != "" && v.Version == v.Former.Version }

// Shown is what a crawl was last shown of a URL. Of two crawls that come to a page in the same round,
// the second is served from the store, when the visit knows the new version already: so what is new to
// each is told by the version that it was shown itself. Of a page that has got farther from the start of a crawl there
// are several, by distance: who reaches that far and no farther has seen that version, and none that came later.
type Shown struct {
	Crawl    string
	Distance int   // the least at which it came here for that version
	Version  int   // the version it was shown; 0 for none
	Revision int64 // the revision of the URD base at which that was matched

	// Since is the version from which on it was shown all at this revision or a later one; 0 where that is not known.
	Since         int
	SinceRevision int64

	// Later is the same for those whose interest is of a later revision; 0 for none.
	Later         int
	LaterRevision int64
}

// From returns the version from which on those were shown all whose interest is of a revision; 0 for none.
func (s Shown) From(interest int64) int {
	switch {
	case s.Since > 0 && interest <= s.SinceRevision:
		return s.Since
	case s.Later > 0 && interest <= s.LaterRevision:
		return s.Later
	case interest <= s.Revision:
		return s.Version
	}
	return 0
}

// Absent is a part of a document that rules of URDs did not find at the last visit, or all of its text: what is not
// there is no state, so what comes next is compared with the last version that had the part.
type Absent struct {
	Rules    uint64 // identifies the rules; those that choose nothing look at all of the text
	Version  int    // the last that had it; 0 for none
	Revision int64  // of the URD base when that was last matched: who came later never saw the part; 0 where that is not known
}

// MostAbsent is of how many sets of rules a visit remembers that they found nothing.
const MostAbsent = 1024

// Lacks returns what is known of a part that was not there at the last visit, and whether it was not.
func (v *Visit) Lacks(rules uint64) (Absent, bool) {
	if v == nil {
		return Absent{}, false
	}
	i := slices.IndexFunc(v.Absent, func(a Absent) bool { return a.Rules == rules })
	if i < 0 {
		return Absent{}, false
	}
	return v.Absent[i], true
}

// Look remembers which parts were looked for, by the rules, and which of them were absent; beyond [MostAbsent], those
// that have not been looked for for longest are forgotten.
func (v *Visit) Look(looked []uint64, absent []Absent) {
	kept := slices.DeleteFunc(slices.Clone(v.Absent), func(a Absent) bool { return slices.Contains(looked, a.Rules) })
	kept = append(kept, absent...)
	v.Absent = kept[max(0, len(kept)-MostAbsent):]
}

// Placeholder is what is known of something else that came in the place of a document, under 200: a page that says
// "back soon" in that of a feed or of data, or nothing at all. That is no state of the document, and is shown to
// nobody; what comes next is compared with the last version that is one.
type Placeholder struct {
	Rounds   int // visits in a row that found something else; 0: the last version is of the document
	Whole    int // the last version that is of the document, if there were any
	Accepted int // the version that was taken for the document, because nothing else came for long: the last one; 0 for none
}

// IsPlaceholder reports whether the last version stands in the place of the document.
func (v *Visit) IsPlaceholder() bool { return v != nil && v.Placeholder.Rounds > 0 }

// AsOfWhole returns what the visit knew when the document came itself: of a visit that found a placeholder a copy of
// it.
func (v *Visit) AsOfWhole() *Visit {
	if !v.IsPlaceholder() {
		return v
	}
	whole := *v
	if whole.Version = v.Placeholder.Whole; v.IsInherited() {
		whole.Former.Version = whole.Version
	}
	return &whole
}

// Matched is what the match of the next version needs to know of the one that was matched last, so that it need not be
// looked up for a page that concerns nobody.
type Matched struct {
	Version int      // the one that it is known of; 0 for none
	Kind    uint8    // what it is, as extract.Kind has it
	Series  []string // the other pages to which it led, of the list that goes on there
}

// MostSeries is how many pages a visit remembers to which a version led. What is known of one that led to more is not
// remembered.
const MostSeries = 16

// MostOrigins is of how many other pages a visit remembers that something moved from there.
const MostOrigins = 4

// Came remembers other pages from which something moved to the document.
func (v *Visit) Came(from []string) {
	kept := slices.DeleteFunc(slices.Clone(v.Origins), func(url string) bool { return slices.Contains(from, url) })
	kept = append(kept, from...)
	v.Origins = kept[max(0, len(kept)-MostOrigins):]
}

// Told is the number in a document that the owner of a URD was told last, or that was there first.
type Told struct {
	URD    uint64 // identifies the URD and its interest
	Number float64
	Met    bool // the URD's condition was met when the number was looked at last
}

// MostState is how many bytes of [Visit.State] a visit keeps. A request that leaves more behind fails, with the state
// as it was.
const MostState = 64 << 10

// MostNumbers is of how many URDs a visit remembers numbers.
const MostNumbers = 1024

// ToldTo returns the number that a URD was told last; nil if the document had none for it yet.
func (v *Visit) ToldTo(urd uint64) *Told {
	if v == nil {
		return nil
	}
	if i := slices.IndexFunc(v.Numbers, func(t Told) bool { return t.URD == urd }); i >= 0 {
		return &v.Numbers[i]
	}
	return nil
}

// Tell remembers numbers; beyond [MostNumbers], those that have not changed for longest are forgotten.
func (v *Visit) Tell(numbers []Told) {
	kept := slices.DeleteFunc(slices.Clone(v.Numbers), func(t Told) bool {
		return slices.ContainsFunc(numbers, func(n Told) bool { return n.URD == t.URD })
	})
	kept = append(kept, numbers...)
	v.Numbers = kept[max(0, len(kept)-MostNumbers):]
}

// ShownTo returns what a crawl was last shown, and whether it ever came here.
func (v *Visit) ShownTo(crawl string) (Shown, bool) {
	all := ShownOf(v.Shown, crawl)
	if len(all) == 0 {
		return Shown{}, false
	}
	return all[len(all)-1], true
}

// ShownOf returns what a crawl was shown, of a list that is sorted by crawl and distance.
func ShownOf(all []Shown, crawl string) []Shown {
	from, _ := slices.BinarySearchFunc(all, crawl, func(s Shown, id string) int { return strings.Compare(s.Crawl, id) })
	to := from
	for to < len(all) && all[to].Crawl == crawl {
		to++
	}
	return all[from:to]
}

// ErrNotStored, wrapped in the error with which a stage sends a request back, means that what the last visit
// left behind is not stored any more. The frontier forgets that visit, and the request is made again as if
// it were the first.
var ErrNotStored = errors.New("what was stored of it is gone")

// ErrNotAsked, wrapped in the error with which a stage sends a request back, means that nobody was asked: the
// host is to be left alone for now. It is no failed attempt, and the visit knows nothing of it.
var ErrNotAsked = errors.New("the host was not asked")

// ErrAnswered, wrapped in the error with which a stage sends a request back, means that the host gave an answer
// that may pass. It is a failed attempt; after the last one the answer is what came of the request, as the stage
// has learned it.
var ErrAnswered = errors.New("an answer of the moment")

// Learned is a change that a stage wants recorded in the visit of the request it works for, once that
// request is done: stages hand it to their item, the frontier applies it.
type Learned func(*Visit)

// Learn changes the visit by what stages have learned, in their order. What is not [Learned] is somebody else's.
func (v *Visit) Learn(all []any) {
	for _, what := range all {
		if learned, ok := what.(Learned); ok {
			learned(v)
		}
	}
}
