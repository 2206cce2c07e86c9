package objects

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/webrace/webrace"
)

// write is one change on its way to the disk: a new version, or a time of validation.
type write struct {
	version Version       // as it will be
	payload *payload      // of a new body; nil when the body is stored already
	reused  *payload      // of a body that is stored already
	buffer  *bytes.Buffer // the compressed records of a new version; nil for a validation
	record  int64         // how many bytes of buffer are the response or revisit record
	shot    int64         // and how many behind them that of the screenshot
	links   []byte        // encoded
	former  string        // of the first version at a new URL: the URL of those before

	compression Compression // of buffer
	done        func(error)

	job       func(*commit) error // instead of all the above but done: what the committer is to do
	exclusive bool                // while no Put or Touch is between its decision and its place in the queue
}

// Put stores a fetched document, whose URL, status, body and what else is known of it are taken as they
// are, and returns its version. A body equal to the latest one of the URL makes no new version: then the
// latest one, validated at d.At, is returned, and Changed is false.
//
// The first version of a document that has moved here for good, as d.Visit tells, is numbered on from the last one at
// its former URL. What is stored under such a number already is of nobody's document: a process died that stored it
// before the move was known. It stays, and an equal body is the first version all the same.
//
// A body that a limit cut tells nothing of what is missing: it never follows a complete version, which stays
// the latest, as it was; then the error is [ErrIncomplete]. A complete body follows a cut one even where both
// have the same bytes.
//
// Put does not wait for the disk, except when more is waiting for it than [Options.QueueBytes]. It keeps
// nothing of d: the body may be reused once it returns. When it returns no error, done is called exactly
// once, from another goroutine: with nil when the version is durable, else with why it never will be.
// done must not block, and must not call Put or Touch.
func (s *Store) Put(d *webrace.Document, done func(error)) (Version, error) {
	if err := s.users.enter(); err != nil {
		return Version{}, err
	}
	defer s.users.Leave()
	if err := checkDocument(d); err != nil {
		return Version{}, fmt.Errorf("store %.200q: %w", d.URL, err)
	}
	digest := webrace.Digest(sha256.Sum256(d.Body))
	at := d.At
	if at.IsZero() {
		at = s.options.Now()
	}
	at = at.UTC().Round(0)

	if err := s.room(); err != nil {
		return Version{}, fmt.Errorf("store %s: %w", d.URL, err)
	}
	s.deciding.RLock()
	defer s.deciding.RUnlock()
	view := View(d.Secret, d.URL)
	defer s.urls.Lock([]byte(view))()
	latest, known, err := s.latest(view, d.Visit == nil)
	if err != nil {
		return Version{}, fmt.Errorf("store %s: %w", d.URL, err)
	}
	if known && d.Truncated && !latest.Truncated {
		return Version{}, fmt.Errorf("store %s: %w", d.URL, ErrIncomplete)
	}
	var former webrace.Former
	if d.Visit != nil {
		former = d.Visit.Former
	}
	if known && latest.Digest == digest && latest.Truncated == d.Truncated && latest.Number > former.Version {
		return s.validate(latest, at, done)
	}
	highest, err := s.tombstone(view)
	if err != nil {
		return Version{}, fmt.Errorf("store %s: %w", d.URL, err)
	}
	defer s.digests.Lock(digest[:])()
	held, err := s.held(digest)
	if err != nil {
		return Version{}, fmt.Errorf("store %s: %w", d.URL, err)
	}
	w := &write{done: done, version: Version{
		URL: d.URL, Secret: d.Secret, Number: max(latest.Number, highest, former.Version) + 1, Digest: digest, Status: d.Status, MediaType: d.MediaType,
		Charset: d.Charset, Language: d.Language, Size: int64(len(d.Body)), FetchedAt: at, ValidatedAt: at,
		Truncated: d.Truncated, Screenshot: d.Screenshot != nil, Changed: true,
	}}
	if w.version.Number == former.Version+1 {
		w.former = former.URL
	}
	s.writeRecords(w, d, held)
	return s.enqueue(w)
}

// Touch records that the latest version of a URL was still current at that time, as a 304 tells, and
// returns it; [ErrNotFound] if there is none. The time of validation never goes back. For done, see Put.
func (s *Store) Touch(url string, at time.Time, done func(error)) (Version, error) {
	if err := s.users.enter(); err != nil {
		return Version{}, err
	}
	defer s.users.Leave()
	if err := s.room(); err != nil {
		return Version{}, fmt.Errorf("validate %s: %w", shown(url), err)
	}
	s.deciding.RLock()
	defer s.deciding.RUnlock()
	defer s.urls.Lock([]byte(url))()
	latest, known, err := s.latest(url, false)
	if err == nil && !known {
		err = ErrNotFound
	}
	if err != nil {
		return Version{}, fmt.Errorf("validate %s: %w", shown(url), err)
	}
	return s.validate(latest, at.UTC().Round(0), done)
}

// validate moves the time of validation of the latest version; the URL's stripe must be held.
func (s *Store) validate(latest Version, at time.Time, done func(error)) (Version, error) {
	if at.After(latest.ValidatedAt) {
		latest.ValidatedAt = at
	}
	latest.Changed = false
	return s.enqueue(&write{version: latest, done: done})
}

// maxURL is as long as a URL may be in our XML.
const maxURL = 8 << 10

// maxSecret is as long as the name of credentials may be, each of its characters having four bytes.
const maxSecret = 4 * 256

func checkDocument(d *webrace.Document) error {
	if d.Outcome != webrace.Fetched && d.Outcome != "" {
		return fmt.Errorf("only what was fetched can be stored, not what was %s", d.Outcome)
	}
	if d.URL == "" || len(d.URL) > maxURL {
		return fmt.Errorf("a URL has 1 to %d bytes", maxURL)
	}
	if d.Status == 0 {
		if err := checkResource(d.URL); err != nil {
			return err
		}
	} else if d.Status < 100 || d.Status > 999 {
		return fmt.Errorf("%d is not an HTTP status", d.Status)
	}
	if len(d.Secret) > maxSecret || strings.ContainsFunc(d.Secret, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return fmt.Errorf("credentials have a name of up to %d bytes without spaces and control characters", maxSecret)
	}
	for i := range len(d.URL) {
		if d.URL[i] <= ' ' || d.URL[i] == 0x7f {
			return errors.New("a normalized URL has no spaces and no control characters")
		}
	}
	return checkScreenshot(d.Screenshot)
}

// latest returns the latest version of a URL, which is likely new or not, durable or not; the URL's stripe must be
// held.
func (s *Store) latest(url string, isNew bool) (Version, bool, error) {
	s.mu.Lock()
	p, pending := s.versions[url]
	s.mu.Unlock()
	if pending {
		return p.version, true, nil
	}
	find := get[entry]
	if isNew {
		find = getNew
	}
	e, ok, err := find(s, latestKey(url), func(value []byte) (entry, error) { return decodeEntry(url, value) })
	return e.Version, ok, err
}

func (s *Store) durableLatest(url string) (entry, bool, error) {
	return get(s, latestKey(url), func(value []byte) (entry, error) { return decodeEntry(url, value) })
}

// tombstone returns the highest number that was used for a URL, if its latest version was removed; else 0
// or a number that a later version has.
func (s *Store) tombstone(url string) (int, error) {
	n, _, err := getNew(s, tombstoneKey(url), decodeNumber)
	return int(n), err
}

// held returns what is known of a stored body, durable or not, or nil; the digest's stripe must be held.
func (s *Store) held(digest webrace.Digest) (*payload, error) {
	s.mu.Lock()
	p, pending := s.payloads[digest]
	s.mu.Unlock()
	if pending {
		return p.payload, nil
	}
	held, ok, err := getNew(s, payloadKey(digest), decodePayload)
	if err != nil || !ok {
		return nil, err
	}
	return &held, nil
}

// writeRecords makes the records of a new version: its response, or resource, or a revisit record when its body is
// held already, its screenshot and its meta-info.
func (s *Store) writeRecords(w *write, d *webrace.Document, held *payload) {
	v := &w.version
	meta := encodeMeta(d, v)
	response := &record{
		id: newRecordID(), date: v.FetchedAt,
		fields: [][2]string{
			{"WARC-Target-URI", v.URL},
			{"WARC-IP-Address", formatAddr(d.Origin)},
			{"WARC-Payload-Digest", formatDigest(v.Digest)},
			{"WARC-Identified-Payload-Type", cleanValue(d.MediaType)},
			{versionField, strconv.Itoa(v.Number)},
			{formerField, w.former},
			{viewField, v.Secret},
			{charsetField, cleanValue(v.Charset)},
			{languageField, cleanValue(v.Language)},
		},
	}
	response.hold(v, d.Header, d.Body)
	if held == nil {
		w.payload = &payload{size: v.Size, id: response.id, date: v.FetchedAt, url: v.URL}
	} else {
		w.reused = held
		response.refer(held)
	}
	w.links = encodeLinks(d.Links)
	w.buffer = s.buffers.Get().(*bytes.Buffer)
	w.buffer.Reset()
	c := s.compressor(s.compression())
	defer s.release(c)
	w.compression = c.compression
	c.append(w.buffer, response)
	w.record = int64(w.buffer.Len())
	if d.Screenshot != nil {
		c.append(w.buffer, screenshotRecord(v, d.Screenshot, response.id.String()))
		w.shot = int64(w.buffer.Len()) - w.record
	}
	c.append(w.buffer, metaRecord(v, meta, response.id.String()))
}

// metaRecord is the record of a version's meta-info, behind that of its response.
func metaRecord(v *Version, xml []byte, response string) *record {
	return &record{
		kind: typeMetadata, id: newRecordID(), date: v.FetchedAt, content: contentXML, head: xml,
		fields: [][2]string{
			{"WARC-Target-URI", v.URL},
			{"WARC-Refers-To", response},
			{"WARC-Block-Digest", blockDigest(xml)},
			{versionField, strconv.Itoa(v.Number)},
			{viewField, v.Secret},
		},
	}
}

func formatAddr(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.Unmap().WithZone("").String()
}

// enqueue gives a write its place in the queue, and a new version its sequence number. The stripes that
// the write was decided under must be held, so that nothing decided later can overtake it.
func (s *Store) enqueue(w *write) (Version, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refuses(); err != nil {
		return Version{}, fmt.Errorf("store %s: %w", w.version.URL, err)
	}
	if w.job == nil {
		s.expect(w)
	}
	s.queue = append(s.queue, w)
	s.waiting++
	s.bytes += w.size()
	s.work.Signal()
	return w.version, nil
}

// expect makes a write known to those that come after it, while it is not durable. A version that is
// validated is no longer about to go.
func (s *Store) expect(w *write) {
	if w.buffer != nil {
		s.accepted++
		w.version.Seq = s.accepted
		s.holds.begin(w.version.key())
	} else {
		s.holds.stay(w.version.key())
	}
	s.versions[w.version.View()] = pendingVersion{w.version, w}
	switch {
	case w.payload != nil:
		s.payloads[w.version.Digest] = pendingPayload{w.payload, w}
	case w.reused != nil:
		s.payloads[w.version.Digest] = pendingPayload{w.reused, w}
	}
}

// room waits until the queue can take more. It is asked before anything is decided, so that no call that
// waits for the committer holds what the committer waits for.
func (s *Store) room() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.bytes >= s.options.QueueBytes && s.refuses() == nil {
		s.space.Wait()
	}
	return s.refuses()
}

// refuses returns why nothing can be stored, if so.
func (s *Store) refuses() error {
	switch {
	case s.options.ReadOnly:
		return ErrReadOnly
	case s.failed != nil:
		return fmt.Errorf("object cache failed before: %w", s.failed)
	case s.closing:
		return ErrClosed
	}
	return nil
}

// size is what a write counts for in the queue: its records, or about what it takes in memory.
func (w *write) size() int64 {
	const overhead = 512
	if w.buffer == nil {
		return overhead
	}
	return overhead + int64(w.buffer.Len()+len(w.links))
}
