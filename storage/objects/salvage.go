package objects

import (
	"encoding/base32"
	"errors"
	"fmt"
	"mime"
	"strconv"
	"strings"
	"time"

	"github.com/webrace/webrace"
)

// This file makes of records what the index holds of them.

// salvaged is a version whose records were found in a segment.
type salvaged struct {
	entry
	payload *payload // of a record that holds the body; nil for a revisit
	links   []string
	former  string // the URL of the versions before, if it is the first at its own
	torn    bool   // the meta-info is damaged
}

// parseDigest reads back what formatDigest wrote.
func parseDigest(text string) (d webrace.Digest, err error) {
	sum, err := base32.StdEncoding.DecodeString(strings.TrimPrefix(text, "sha256:"))
	if err != nil || len(sum) != len(d) || formatDigest(webrace.Digest(sum)) != text {
		return d, fmt.Errorf("%w: %.80q is no digest", ErrCorrupt, text)
	}
	return webrace.Digest(sum), nil
}

// versionOf makes a version of its response, resource or revisit record. What older releases did not write there is
// taken from the HTTP header.
func versionOf(r *scanned) (*salvaged, error) {
	f := r.fields
	kind := f["warc-type"]
	if !isOfVersion(kind) {
		return nil, fmt.Errorf("%w: a %s record is no version", ErrCorrupt, kind)
	}
	digest, err1 := parseDigest(f["warc-payload-digest"])
	number, err2 := strconv.ParseUint(f[strings.ToLower(versionField)], 10, 31)
	date, err3 := time.Parse(time.RFC3339Nano, f["warc-date"])
	h, err4 := r.held()
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	_, parameters, _ := mime.ParseMediaType(h.header.Get("Content-Type"))
	s := &salvaged{entry: entry{record: r.at, Version: Version{
		URL: f["warc-target-uri"], Secret: f[strings.ToLower(viewField)], Number: int(number), Digest: digest, Status: h.status,
		MediaType: f["warc-identified-payload-type"], Charset: fieldOr(f, charsetField, parameters["charset"]),
		Language: fieldOr(f, languageField, h.header.Get("Content-Language")), Size: h.size,
		FetchedAt: date.UTC(), ValidatedAt: date.UTC(), Truncated: f["warc-truncated"] != "",
	}}}
	s.former = f[strings.ToLower(formerField)]
	if s.URL == "" || number < 1 {
		return nil, fmt.Errorf("%w: a record without URL or version", ErrCorrupt)
	}
	if kind == typeRevisit {
		return s, nil
	}
	id, err := parseRecordID(f["warc-record-id"])
	s.payload = &payload{record: r.at, size: h.size, id: id, date: s.FetchedAt, url: s.URL}
	return s, err
}

// fieldOr is what a field holds, or else what is likely.
func fieldOr(fields map[string]string, name, likely string) string {
	if value := fields[strings.ToLower(name)]; value != "" {
		return value
	}
	return strings.ToLower(likely)
}

// show takes the record that follows a version's record as its screenshot, if it is that.
func (s *salvaged) show(r *scanned) bool {
	if s.shotLength > 0 || r.at.offset != s.meta().offset || s.pictured(r.parsedRecord) != nil {
		return false
	}
	s.shotLength, s.Screenshot = r.at.length, true
	return true
}

// describe takes from the metadata record that follows a version's record what it tells, and reports whether it is that
// of the version. What lies between them and is no record was a screenshot: a check reports that it is lost.
func (s *salvaged) describe(r *scanned) (bool, error) {
	between := r.at.offset - s.meta().offset
	if r.fields["warc-type"] != typeMetadata || r.fields["warc-target-uri"] != s.URL || !s.named(r.parsedRecord) || between < 0 {
		return false, nil
	}
	m, err := decodeMeta(r.block)
	if err != nil {
		return false, err
	}
	s.shotLength += between
	s.metaLength, s.links, s.Screenshot = r.at.length, m.Links, s.shotLength > 0
	return true, nil
}
