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

// ACI is Annotated Cached Information: what a document means to the owner of one URD, with a pointer to
// the stored version that it was made from (eRACE, section 2.2.2; WebRACE, section 6.1). An empty Format stands
// for FormatUnknown, an Urgency of 0 for [DefaultUrgency].
type ACI struct {
	ID    string // see [ACIID]
	URD   string // the id of the request that it answers
	Owner string // who it is for

	URI        string
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
}

// Docbase points to a stored version of a document.
type Docbase struct {
	Digest  string // of the body: sha256:…
	Version int    // counted from 1 for each URL
	// Since is the version with which this one was compared, if the owner was shown what is new in it: one that
	// they had seen before.
	Since int
	// Likeness is a fingerprint of the text that mattered: those of texts that differ in few words differ in
	// few bits. 0 if the text is too short to tell.
	Likeness uint64
	Name     string // the file name that the papers' annotations have instead
}

// Explain says how an annotation's relevance came about.
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
