package webrace

import "net/http"

// Truncation is why a body is not whole, by the words of WARC-Truncated.
type Truncation string

const (
	TruncatedByLength     Truncation = "length"      // a limit cut it
	TruncatedByTime       Truncation = "time"        // nothing came any more
	TruncatedByDisconnect Truncation = "disconnect"  // it ended early
	TruncatedUnspecified  Truncation = "unspecified" // it is damaged, or nobody tells
)

// truncatedField is the field of a document's header that tells why the body is not whole, where that was no limit. It
// is stored with the header, as [UndecodedField] is.
const truncatedField = "Webrace-Truncated"

// SetTruncation notes in the header of a truncated document why it is that; what stands there already is left out.
func SetTruncation(header http.Header, why Truncation) {
	if header.Del(truncatedField); why != TruncatedByLength && why != "" {
		header.Set(truncatedField, string(why))
	}
}

// TruncationOf returns why a truncated document is that, by its header.
func TruncationOf(header http.Header) Truncation {
	switch why := Truncation(header.Get(truncatedField)); why {
	case "":
		return TruncatedByLength
	case TruncatedByLength, TruncatedByTime, TruncatedByDisconnect:
		return why
	}
	return TruncatedUnspecified
}
