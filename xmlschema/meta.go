package xmlschema

import "time"

// Meta is the meta-information of one stored document, enough to visit it again without fetching it: the
// papers' meta-info file (eRACE, section 5, table 3).
type Meta struct {
	URL          string
	IP           string // of the origin
	Status       int    // of HTTP
	Size         int    // of the body, in bytes
	ETag         string // as received
	LastModified string // as received
	Fetched      time.Time
	Header       []HeaderField // every field of the response, in order
	Links        []string      // extracted and normalized; at most 8 KB each
}

// HeaderField is one line of an HTTP response header.
type HeaderField struct{ Name, Value string }
