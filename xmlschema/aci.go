package xmlschema

import "time"

// The values of an ACI's format.
const (
	FormatText      = "text"
	FormatHTML      = "html"
	FormatBinary    = "binary"
	FormatMultipart = "multipart"
	FormatUnknown   = "unknown"
)

// ACI is Annotated Cached Information: what a document in a version means to the owner of one URD, with a
// pointer to that stored version (eRACE, section 2.2.2; WebRACE, section 6.1). An empty Format stands
// for FormatUnknown, an Urgency of 0 for [DefaultUrgency].
type ACI struct {
	ID    string // see [ACIID]
	URD   string // the id of the request that it answers
	Owner string // who it is for

	URI        string
	Thread     string // the ID of the message that began what the document belongs to, if it is one; see [webrace.Document]
	Title      string
	Extension  string // of the document's name: html
	Format     string // one of the Format constants
	Relevance  int    // 0 to 100
	UpdateTime time.Time
	FileSize   int // bytes
	Urgency    int // 1 to 3, 3 the most urgent

	Docbase Docbase // the stored version
	Expired bool
	Summary string
	Explain *Explain // why it was made; nil when not kept
	Also    Also     // where else its owner would have been shown the same

	Judgement *Judgement // what a model was asked of it; nil if it was asked nothing. It is not changed once it is there

	Twins  *Twins   // nil for none; for who stores it alone: XML has none
	Former []string // where the document was before it moved for good, each time; likewise

	// Values is what stages add to an annotation, by names of at most 256 characters without white space. Of two
	// annotations none may share this map, unless it is nil.
	Values map[string]string
}

// Twins are the annotations of the same document in the same version for the same interest, by other URDs of the owner:
// as of a page that two feeds have. The owner is told once.
type Twins struct {
	IDs []string
	URI string // of the URD that this one is of: the other way by which the document came
}

// Also names further documents that the URD would have been told of, had it not been told of the same text, or
// nearly the same, already.
type Also struct {
	Count     int      // how many there are
	Documents []Mirror // the first of them, at most MostMirrors
}

// More returns how many documents there are that are not named.
func (also Also) More() int { return also.Count - len(also.Documents) }

// MostMirrors is how many documents an [Also] names.
const MostMirrors = 20

// Mirror is a document in a version that has the same text as another.
type Mirror struct {
	URI     string
	Version int // 0 if its versions are not stored
}

// Docbase points to a stored version of a document.
type Docbase struct {
	Digest  string // of the body: sha256:…
	Version int    // counted from 1 for each URL
	Since   int    // the version that the owner had seen before; 0 for none
	Secret  string // the name of the credentials that the document was fetched with; empty for none

	// Fingerprints tell mirrors of the document. Those of all that its owner was shown are 0 if that is too short
	// to tell: Likeness, of which those of texts that differ in few words differ in few bits; and Shown, of that text
	// alone. Matched is the fingerprint of what mattered in it, see [MatchedID].
	Likeness, Shown, Matched uint64

	Name string // the file name that the papers' annotations have instead
}

// Explain describes how an annotation's relevance came about.
type Explain struct {
	Relevance int // 0 to 100
	Threshold int // 0 to 100
	Keywords  []KeywordShare
}

// KeywordShare is one keyword's part in a relevance; a keyword without hits was absent.
type KeywordShare struct {
	Key    string
	Weight int

	Title, Heading, Body, Navigation int // hits in each part of the document

	Saturation float64 // 0 to 1: how much its hits count for
	Share      float64 // 0 to 1: what it adds, weight included
}
