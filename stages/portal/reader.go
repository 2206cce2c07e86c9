package portal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// OpenReader opens the reader when it is first wanted. Programs provide it to the stages of a run.
type OpenReader func() (Reader, error)

// Reader looks into documents on behalf of owners: those of the web, and those that are stored. Its methods may be
// called concurrently, change nothing that is stored, and end with the context's error when that ends first.
//
// Nobody is shown by it what is another's. Of what is stored, an owner is shown by a URD what any request without
// credentials is shown, what the credentials that the URD names show, and what the URD's own request gives. Credentials
// that the owner may not use are a [control.ForbiddenSecretError].
//
// A URD that is tried or matched again need not be stored. It is taken for one of the given owner, whoever it names,
// and for an active one.
type Reader interface {
	// Try fetches the start of a URD as its crawl would, and judges it as a document that its owner has not seen. A URD
	// without a start is an [ErrNoStart], and a document that could not be had a [FetchError].
	Try(ctx context.Context, owner string, u *xmlschema.URD) (*Trial, error)

	// Rematch finds which of the stored documents their owner would have been told of by a URD, as if none had been
	// seen: from the one that came last back, until the context ends or so many are found; 0 for all. It calls found,
	// unless that is nil, with each as soon as it is there. That the context ended is no error.
	Rematch(ctx context.Context, owner string, u *xmlschema.URD, most int, found func(Found)) (Rematched, error)

	// Read returns the stored version that an annotation speaks of, as its URD looks at it; nil for a URD that is gone.
	// A version that is not stored any more is a [GoneError]. What came after it is told only as far as the URD would
	// be shown it now.
	Read(ctx context.Context, a control.ACI, u *xmlschema.URD) (*Reading, error)

	// Raw returns the body of that version as it was received, and its type as it was sent. Nothing in it may be
	// trusted. It is to be closed.
	Raw(ctx context.Context, a control.ACI) (contentType string, body io.ReadCloser, err error)

	// Explain returns what each URD of an owner has to do with a URL, in the order in which they were added. Of what is
	// stored there it tells where the URD is asked about it alone: that others watch it is nobody's business.
	Explain(ctx context.Context, owner, url string) ([]Explained, error)
}

// ErrNoStart means that there is nothing to fetch for a URD: it watches a prefix, or what comes by itself.
var ErrNoStart = errors.New("the URD has no start to fetch")

// FetchError is why a document could not be had.
type FetchError struct {
	URL    string // to which redirects may have led
	Status int    // of the server's answer; 0 if there was none, or it was not asked
	Err    error
}

func (e *FetchError) Error() string { return e.Err.Error() }

func (e *FetchError) Unwrap() error { return e.Err }

// GoneError means that a version is not stored: it was removed, or never was.
type GoneError struct {
	URL     string
	Version int
}

func (e *GoneError) Error() string {
	return fmt.Sprintf("version %d of %s is not stored any more", e.Version, e.URL)
}

// Trial is what a document is worth to a URD now.
type Trial struct {
	URL       string // where it was found
	Status    int
	Title     string
	MediaType string
	Size      int // bytes
	Truncated bool

	Worth
	Alerts  bool   // its owner would be told
	Reason  string // why, or why not
	Summary string // what they would be told of it, with what was found in «»; empty if nothing
	Astray  string // why the URD's crawl does not come there, for example after a redirect; empty if it does
	Number  string // how its number stands to the condition of the URD; empty without one

	Text     Excerpt  // of what the URD looks at
	Selects  bool     // that is part of the document: it is empty where the rules select nothing
	Remarks  []string // on the rules, as that one matches nothing, and on the document, as that robots are not to keep it
	Warnings []string // what of the URD is probably not meant, as a keyword that can never alert
}

// Worth is how relevant a document is, and why.
type Worth struct {
	Relevance int     // 0 to 100
	Threshold int     // which an alert must exceed; -1 if any relevance will do
	Shares    []Share // of its keywords
}

// Share is what a keyword found.
type Share struct {
	Keyword                          string
	Weight                           int     // 0 for one that only sets a condition
	Title, Heading, Body, Navigation int     // how often it stands there
	Share                            float64 // of the relevance, 0 to 1
}

// Excerpt is a text, or what of it is around what was found.
type Excerpt struct {
	Blocks []Block
	Left   int // how many blocks were left out behind the last
}

// Block is a paragraph, a heading or the like.
type Block struct {
	Field  string // title, heading, body or navigation
	Left   int    // how many blocks were left out before it
	Pieces []Piece
}

// Piece is a part of a block.
type Piece struct {
	Text    string
	Keyword string // what it was found by; empty for what stands between
}

// Rematched is what a URD would have told of what is stored.
type Rematched struct {
	Found  []Found
	Looked int       // how many documents were looked at
	Oldest time.Time // when the oldest of these came; zero for none
	Ended  bool      // the context ended before all that is stored was looked at
}

// Known is what an owner was told already.
type Known string

// What an owner was told of a document.
const (
	KnownNothing Known = ""     // nothing
	KnownPage    Known = "page" // something of it, by another interest or of another version
	KnownSame    Known = "same" // just this, or of the same text elsewhere
)

// Found is a document that an owner would have been told of.
type Found struct {
	URL       string
	Title     string
	Summary   string
	Relevance int
	Version   int
	At        time.Time // when it came
	Known     Known
	Seq       int64 // of the annotation by which they know; 0 for none
}

// Reading is a stored version.
type Reading struct {
	URL       string
	Title     string
	MediaType string
	Version
	Text     Excerpt
	Selects  bool      // the text is that part of the document which the URD looks at
	Remarks  []string  // on its rules
	Unread   string    // why the text was not read, or not whole; empty if it was
	Change   *Change   // since the version that its owner knew; nil if they knew none, or it is gone
	Since    int       // the number of that version; 0 for none
	Versions []Version // of the document, the latest first, 50 of them
	Left     int       // how many versions are older
}

// Version is one state of a document.
type Version struct {
	Number int
	At     time.Time // when it was first received
	Size   int64
}

// Change is how a text differs from an earlier one.
type Change struct {
	Pieces []ChangedPiece
	Left   bool // there is more of it than is here
}

// How a piece of a text changed.
const (
	PieceSame    = "same"
	PieceAdded   = "added"
	PieceRemoved = "removed"
	PieceGap     = "gap" // what is the same was left out; without a text
)

// ChangedPiece is part of a text, and of the one before. Blocks end with a line break, the last ones of a change too.
type ChangedPiece struct {
	Kind string // PieceSame, PieceAdded, PieceRemoved or PieceGap
	Text string
}

// Explained is what a URD has to do with a URL.
type Explained struct {
	control.URD
	Asked bool          // the URD is asked about the URL
	Why   string        // so, or not
	Told  []control.ACI // what its owner was told of it, by this URD
	Page  *StoredPage   // what is stored, if the URD is asked about it; nil for nothing
	Lines []string      // why they were told of what is stored, or not
}

// StoredPage is the latest stored version of a document.
type StoredPage struct {
	Version
	Title string
	Worth        // to the URD, by the whole of what that looks at
	Meets bool   // it would be told of to who had not seen it
	Fault string // why the URD looks at nothing there; empty if it looks at something
}
