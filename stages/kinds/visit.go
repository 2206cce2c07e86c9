package kinds

import (
	"time"

	"github.com/webrace/webrace"
)

type reach struct {
	Crawl    string `json:"crawl"`
	Distance int    `json:"distance"`
}

func encodeReach(list []webrace.Reach) []reach {
	return convert(list, func(r webrace.Reach) reach { return reach(r) })
}

func decodeReach(list []reach) []webrace.Reach {
	return convert(list, func(r reach) webrace.Reach { return webrace.Reach(r) })
}

type crawl struct {
	ID      string  `json:"id,omitzero"`
	Start   string  `json:"start,omitzero"`
	Scope   string  `json:"scope,omitzero"`
	Secret  string  `json:"secret,omitzero"`
	Levels  int     `json:"levels,omitzero"`
	Urgency int     `json:"urgency,omitzero"`
	Timing  seconds `json:"timing_s,omitzero"`
}

func encodeCrawl(c *webrace.Crawl) *crawl {
	if c == nil {
		return nil
	}
	return &crawl{c.ID, c.Start, string(c.Scope), c.Secret, c.Levels, c.Urgency, seconds(c.Timing)}
}

func decodeCrawl(c *crawl) *webrace.Crawl {
	if c == nil {
		return nil
	}
	return &webrace.Crawl{
		ID: c.ID, Start: c.Start, Scope: webrace.Scope(c.Scope), Secret: c.Secret,
		Levels: c.Levels, Urgency: c.Urgency, Timing: time.Duration(c.Timing),
	}
}

type shown struct {
	Crawl    string `json:"crawl"`
	Distance int    `json:"distance,omitzero"`
	Version  int    `json:"version,omitzero"`
	Revision int64  `json:"revision,omitzero"`

	Since         int   `json:"since,omitzero"`
	SinceRevision int64 `json:"since_revision,omitzero"`

	Later         int   `json:"later,omitzero"`
	LaterRevision int64 `json:"later_revision,omitzero"`
}

// toldNumber is the number in a document that the owner of a URD was told last, or that was there first.
type toldNumber struct {
	URD    hash    `json:"urd"`
	Number float64 `json:"number"`
	Met    bool    `json:"met,omitzero"`
}

// absent is a part of a document that rules of URDs did not find, the last version that had it, and the revision of the
// URD base at which that was matched.
type absent struct {
	Rules    hash  `json:"rules"`
	Version  int   `json:"version,omitzero"`
	Revision int64 `json:"revision,omitzero"`
}

// placeholder is what came in the place of the document.
type placeholder struct {
	Rounds   int `json:"rounds,omitzero"`
	Whole    int `json:"whole,omitzero"`
	Accepted int `json:"accepted,omitzero"`
}

// matched is what is known of the version that was matched last.
type matched struct {
	Version int      `json:"version,omitzero"`
	Kind    uint8    `json:"kind,omitzero"`
	Series  []string `json:"series,omitzero"`
}

// former is where a document was before it moved for good, and its last version there.
type former struct {
	URL     string `json:"url"`
	Version int    `json:"version"`
}

type visit struct {
	At           time.Time      `json:"at,omitzero"`
	Status       int            `json:"status,omitzero"`
	ETag         string         `json:"etag,omitzero"`
	LastModified string         `json:"last_modified,omitzero"`
	Expires      time.Time      `json:"expires,omitzero"`
	Listed       time.Time      `json:"listed,omitzero"`
	Digest       webrace.Digest `json:"digest,omitzero"`
	Version      int            `json:"version,omitzero"`
	Former       former         `json:"former,omitzero"`
	Canonical    string         `json:"canonical,omitzero"`
	Refresh      string         `json:"refresh,omitzero"`
	Links        []string       `json:"links,omitzero"`
	Likeness     hash           `json:"likeness,omitzero"`
	Titled       hash           `json:"titled,omitzero"`
	Lister       string         `json:"lister,omitzero"`
	Shown        []shown        `json:"shown,omitzero"`
	Revision     int64          `json:"revision,omitzero"`
	Baseline     []hash         `json:"baseline,omitzero"`
	Reading      int            `json:"reading,omitzero"`
	Matched      matched        `json:"matched,omitzero"`
	Absent       []absent       `json:"absent,omitzero"`
	Placeholder  placeholder    `json:"placeholder,omitzero"`
	Origins      []string       `json:"origins,omitzero"`
	Instead      instead        `json:"instead,omitzero"`
	State        []byte         `json:"state,omitzero"`
	Numbers      []toldNumber   `json:"numbers,omitzero"`
	Interval     seconds        `json:"interval_s,omitzero"`
	Attempts     int            `json:"attempts,omitzero"`
	Error        string         `json:"error,omitzero"`
	Refused      bool           `json:"refused,omitzero"`
}

func encodeVisit(v *webrace.Visit) *visit {
	if v == nil {
		return nil
	}
	return &visit{
		At: v.At, Status: v.Status, ETag: v.ETag, LastModified: v.LastModified, Expires: v.Expires, Listed: v.Listed, Digest: v.Digest, Version: v.Version, Former: former(v.Former),
		Canonical: v.Canonical, Refresh: v.Refresh, Links: v.Links, Likeness: hash(v.Likeness), Titled: hash(v.Titled), Lister: v.Lister, Revision: v.Revision, Interval: seconds(v.Interval),
		Attempts: v.Attempts, Error: v.Error, Refused: v.Refused, Reading: v.Reading, Matched: matched(v.Matched), Placeholder: placeholder(v.Placeholder),
		Shown:    convert(v.Shown, func(s webrace.Shown) shown { return shown(s) }),
		Absent:   convert(v.Absent, func(a webrace.Absent) absent { return absent{hash(a.Rules), a.Version, a.Revision} }),
		Origins:  v.Origins,
		Instead:  instead(v.Instead),
		State:    v.State,
		Numbers:  convert(v.Numbers, func(n webrace.Told) toldNumber { return toldNumber{hash(n.URD), n.Number, n.Met} }),
		Baseline: convert(v.Baseline, func(n uint64) hash { return hash(n) }),
	}
}

func decodeVisit(v *visit) *webrace.Visit {
	if v == nil {
		return nil
	}
	return &webrace.Visit{
		At: v.At, Status: v.Status, ETag: v.ETag, LastModified: v.LastModified, Expires: v.Expires, Listed: v.Listed, Digest: v.Digest, Version: v.Version, Former: webrace.Former(v.Former),
		Canonical: v.Canonical, Refresh: v.Refresh, Links: v.Links, Likeness: uint64(v.Likeness), Titled: uint64(v.Titled), Lister: v.Lister, Revision: v.Revision, Interval: time.Duration(v.Interval),
		Attempts: v.Attempts, Error: v.Error, Refused: v.Refused, Reading: v.Reading, Matched: webrace.Matched(v.Matched), Placeholder: webrace.Placeholder(v.Placeholder),
		Shown: convert(v.Shown, func(s shown) webrace.Shown { return webrace.Shown(s) }),
		Absent: convert(v.Absent, func(a absent) webrace.Absent {
			return webrace.Absent{Rules: uint64(a.Rules), Version: a.Version, Revision: a.Revision}
		}),
		Origins:  v.Origins,
		Instead:  webrace.Instead(v.Instead),
		State:    v.State,
		Numbers:  convert(v.Numbers, func(n toldNumber) webrace.Told { return webrace.Told{URD: uint64(n.URD), Number: n.Number, Met: n.Met} }),
		Baseline: convert(v.Baseline, func(h hash) uint64 { return uint64(h) }),
	}
}
