package xmlschema

import (
	"iter"
	"math"
	"net/url"
	"strings"
	"time"

	"github.com/webrace/webrace/xmlschema/httprequest"
)

// The values of a URD's enumerated fields.
const (
	ProtocolHTTP = "http" // also https
	ProtocolPOP3 = "pop3"
	ProtocolIMAP = "imap"
	ProtocolNNTP = "nntp"
	ProtocolFeed = "feed"
	ProtocolDB   = "db" // a protocol of a plug-in is written x:name

	MethodPull = "pull"
	MethodPush = "push"

	ProcessFilter    = "filter"    // annotate what matches the keywords
	ProcessNonFilter = "nonfilter" // annotate any change

	ChangeAdded = "added" // match only what is new in the document
	ChangePage  = "page"  // match the whole document whenever it changes
	ChangeFirst = "first" // match a document only when it is first seen

	ScopeHost   = "host"   // the start's host and port
	ScopeDomain = "domain" // the start's registrable domain
	ScopePrefix = "prefix" // URLs that begin with the start's, up to its last slash
	ScopeAny    = "any"

	MatchAny  = "any"
	MatchAll  = "all"
	MatchNone = "none"

	MatchWord      = "word"      // a keyword matches whole words
	MatchSubstring = "substring" // or anywhere inside one
)

// What a URD means where it sets none.
const (
	DefaultThreshold = 20
	DefaultWeight    = 3
	DefaultDepth     = 1
	DefaultUrgency   = 1
)

// What names and groups requests is at most so long; [URD] Title and Labels are counted in characters.
const (
	LongestTitle = 200
	MostLabels   = 20
	LongestLabel = 50

	LongestQuestion = 1000
)

// MostRemembered is the most versions of a document of which the text can count as known.
const MostRemembered = 8

// URD is a Unified Resource Description: one owner's standing request to watch a source (eRACE, section
// 2.2.2). The zero value is not the default request: begin with [NewURD].
type URD struct {
	ID    string // at most 256 characters, no white space; empty until stored
	Owner string // likewise
	// Remember is of how many versions of a document the text counts as known; 0 leaves it to [URD.Remembers].
	Remember int

	Title  string   // names the interest for its owner: one line, at most 200 characters; empty for none
	Labels []string // words by which the owner groups interests: at most 20 of 50 characters, each once; stored sorted
	Paused bool     // it starts no crawl and matches nothing; written state="paused"

	URI       string               // where to start; a trailing * starts no crawl, see [URD.Prefix]
	Timing    time.Duration        // the longest interval between visits; 0 leaves it to the schedule
	At        string               // at which times it is visited instead, as package cron reads them; empty for none
	LastCheck time.Time            // when the source was last visited; zero for never
	Port      int                  // 0 is the protocol's own
	Login     string               // the account at the source
	Secret    string               // names the credentials in the secret store
	Group     string               // a news group
	Request   *httprequest.Request // how it is asked; nil is a plain GET

	Protocol    string // one of the Protocol constants, or x:name
	Method      string // MethodPull or MethodPush
	ProcessType string // ProcessFilter or ProcessNonFilter
	Change      string // scope of change: ChangeAdded, ChangePage or ChangeFirst; written type/@change

	Keywords Keywords
	Select   []Rule // what of a page is looked at; all of it if there are none
	Ignore   []Rule // and what of that is left out; written selection/select and selection/ignore

	// Ask is what a model is asked of what is new, once all else is met: its owner is told unless it answers no. One
	// line of at most LongestQuestion characters; empty for nothing.
	Ask string

	Depth   int    // levels of pages; 1 is the start alone, 0 has no limit
	Scope   string // how far from the start: one of the Scope constants; written depth/@scope
	Urgency int    // 1 to 3, 3 the most urgent
}

// NewURD returns a request with every field at its default: any change of the page at uri, over http.
func NewURD(owner, uri string) *URD {
	return &URD{
		Owner: owner, URI: uri,
		Protocol: ProtocolHTTP, Method: MethodPull, ProcessType: ProcessFilter, Change: ChangeAdded,
		Depth: DefaultDepth, Scope: ScopeHost, Urgency: DefaultUrgency,
	}
}

// OfTheWeb reports whether the request is of what is asked for by http or https.
func (u *URD) OfTheWeb() bool { return oneOf(u.Protocol, ProtocolHTTP, ProtocolFeed) }

// AnyChange reports whether the request is for any change: it filters nothing, or has no keywords to
// filter by.
func (u *URD) AnyChange() bool { return u.ProcessType == ProcessNonFilter || u.Keywords.empty() }

// Remembers returns of how many versions of a document the text counts as known to the request: as it sets itself;
// otherwise 1 where what goes and comes back is a change each time, because the request asks for any change, for a
// part of the page, or for the whole page whenever it changes; and otherwise a number that the caller chooses,
// so that text which comes and goes is told of once.
func (u *URD) Remembers(otherwise int) int {
	switch {
	case u.Remember > 0:
		return u.Remember
	case u.AnyChange(), len(u.Select) > 0, u.Change == ChangePage:
		return 1
	}
	return otherwise
}

// Prefix returns what a document's URL must begin with when the request's URI ends in *, and whether it
// does. Such a request starts no crawl: its owner is told of what others' crawls bring.
func (u *URD) Prefix() (string, bool) { return strings.CutSuffix(u.URI, "*") }

// Keywords is what matters to the owner of a request.
type Keywords struct {
	Threshold int    // 0 to 100: relevance must exceed it
	Match     string // MatchAny, MatchAll or MatchNone of Keywords and Groups
	Keywords  []Keyword
	Groups    []Group
}

// Group is a nested condition: any, all or none of its keywords and groups.
type Group struct {
	Match    string
	Keywords []Keyword
	Groups   []Group
}

// Keyword is a word, a "phrase", or an atom of the profile language such as prefix*, title:word or
// near:3 words, with its weight.
type Keyword struct {
	Key    string
	Weight int    // 1 (not important) to 5
	Exact  bool   // case, accents and endings matter
	Match  string // MatchWord or MatchSubstring
}

// NewKeywords returns the interest in any of these keywords above the default threshold. A weight of 0
// stands for [DefaultWeight], an empty match for [MatchWord].
func NewKeywords(keywords ...Keyword) Keywords {
	k := Keywords{Threshold: DefaultThreshold, Match: MatchAny}
	for _, w := range keywords {
		if w.Weight == 0 {
			w.Weight = DefaultWeight
		}
		if w.Match == "" {
			w.Match = MatchWord
		}
		k.Keywords = append(k.Keywords, w)
	}
	return k
}

func (k Keywords) empty() bool { return len(k.Keywords) == 0 && len(k.Groups) == 0 }

// All yields every keyword, those of nested groups and of none groups included.
func (k Keywords) All() iter.Seq[Keyword] { return walk(k.top(), false) }

// Positive yields the keywords that can add to the relevance: all but those in none groups.
func (k Keywords) Positive() iter.Seq[Keyword] { return walk(k.top(), true) }

func (k Keywords) top() Group { return Group{Match: k.Match, Keywords: k.Keywords, Groups: k.Groups} }

func walk(g Group, positive bool) iter.Seq[Keyword] {
	return func(yield func(Keyword) bool) { visit(g, positive, yield) }
}

func visit(g Group, positive bool, yield func(Keyword) bool) bool {
	if positive && g.Match == MatchNone {
		return true
	}
	for _, k := range g.Keywords {
		if !yield(k) {
			return false
		}
	}
	for _, inner := range g.Groups {
		if !visit(inner, positive, yield) {
			return false
		}
	}
	return true
}

// saturation is the most that one keyword's occurrences can count for, whatever their number.
const saturation = 0.98

// Ceiling is the highest relevance that any document can have for these keywords: a threshold that is
// not below it is never passed.
func (k Keywords) Ceiling() int {
	missed := 1.0
	for w := range k.Positive() {
		missed *= 1 - float64(w.Weight)/5*saturation
	}
	return int(math.Round(100 * (1 - missed)))
}

// uriFault returns what keeps uri from starting a request over this protocol; empty when nothing does.
func uriFault(protocol, uri string) string {
	if !oneOf(protocol, ProtocolHTTP, ProtocolFeed) {
		return ""
	}
	if strings.ContainsFunc(uri, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return "contains white space"
	}
	prefix, watches := strings.CutSuffix(uri, "*")
	if watches && prefix == "" {
		return ""
	}
	parsed, err := url.Parse(prefix)
	if err != nil || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		return "is not an http or https URL"
	}
	if parsed.Host == "" && !watches {
		return "names no host"
	}
	return ""
}
