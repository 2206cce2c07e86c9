package annotate

import (
	"cmp"
	"fmt"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/xmlschema"
)

// Body is a version of a document as one without text is told of.
type Body struct {
	MediaType string
	Size      int64
	At        time.Time // when it came; zero if that is not known
	Digest    webrace.Digest
}

// BodyOf returns the body of a document.
func BodyOf(d *webrace.Document) Body { return Body{d.MediaType, int64(len(d.Body)), d.At, d.Digest} }

// String returns of which type it is, how large, and when it came.
func (b Body) String() string {
	said := fmt.Sprintf("%s, %d bytes", cmp.Or(b.MediaType, "unknown type"), b.Size)
	if !b.At.IsZero() {
		said += b.At.UTC().Format(", 2006-01-02 15:04:05 UTC")
	}
	return said
}

// Since returns what it is, and what it was in a version before; empty if that was the same.
func (b Body) Since(before Body) string {
	if before.Digest == b.Digest {
		return ""
	}
	return fmt.Sprintf("[−%s] «%s»", before, b)
}

// BodyAlert is the alert for a request for any change on a document without text: its body is what matters.
func BodyAlert(u *xmlschema.URD, b Body, summary string) match.Alert {
	return match.Alert{
		ID: u.ID, Relevance: 100, Matched: b.Digest, Summary: summary,
		Explanation: match.Explanation{Profile: u.ID, Reason: match.Alerts, Relevance: 100, Threshold: match.AnyRelevance},
	}
}
