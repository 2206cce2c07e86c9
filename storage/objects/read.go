package objects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/xmlschema"
)

// Latest returns the latest durable version of a URL, or [ErrNotFound].
func (s *Store) Latest(url string) (Version, error) { return s.Get(url, 0) }

// Get returns version number of a URL, the latest when number is 0, or [ErrNotFound]. The versions of a document from
// before it moved to the URL for good are those of its former URL.
func (s *Store) Get(url string, number int) (Version, error) {
	if err := s.users.enter(); err != nil {
		return Version{}, err
	}
	defer s.users.Leave()
	e, err := s.entry(url, number)
	if number <= 0 || !errors.Is(err, ErrNotFound) {
		return e.Version, err
	}
	for former, wrong := range s.formers(url) {
		if wrong != nil || number > former.Version {
			return Version{}, cmp.Or(wrong, err)
		}
		if e, wrong := s.entry(former.URL, number); !errors.Is(wrong, ErrNotFound) {
			return e.Version, wrong
		}
	}
	return Version{}, err
}

// formers yields where the document at a URL was before, the last first: the views, each with the last version there.
func (s *Store) formers(url string) iter.Seq2[webrace.Former, error] {
	return func(yield func(webrace.Former, error) bool) {
		secret, _ := splitView(url)
		for range mostMoves {
			former, moved, err := get(s, formerKey(url), decodeFormer)
			if !moved && err == nil {
				return
			}
			former.URL = View(secret, former.URL)
			if !yield(former, err) || err != nil {
				return
			}
			url = former.URL
		}
	}
}

// Formers returns the URLs at which the document at a URL was before, the last first.
func (s *Store) Formers(url string) (urls []string, err error) {
	if err := s.users.enter(); err != nil {
		return nil, err
	}
	defer s.users.Leave()
	for former, err := range s.formers(url) {
		if err != nil {
			return nil, fmt.Errorf("former URLs of %s: %w", shown(url), err)
		}
		_, at := splitView(former.URL)
		urls = append(urls, at)
	}
	return urls, nil
}

// Moved yields each view whose document has moved for good, with the last version there.
func (s *Store) Moved(ctx context.Context) iter.Seq2[webrace.Former, error] {
	return func(yield func(webrace.Former, error) bool) {
		if err := s.users.enter(); err != nil {
			yield(webrace.Former{}, err)
			return
		}
		defer s.users.Leave()
		var failed error
		for key, value := range under(s.db, formerKey(""), &failed) {
			former, err := decodeFormer(value)
			if err == nil {
				err = ctx.Err()
			}
			secret, _ := splitView(string(key[len(formerKey("")):]))
			former.URL = View(secret, former.URL)
			if !yield(former, err) || err != nil {
				return
			}
		}
		if failed != nil {
			yield(webrace.Former{}, failed)
		}
	}
}

// mostMoves is how many moves of a document are gone back.
const mostMoves = 10

func (s *Store) entry(url string, number int) (entry, error) {
	e, ok, err := s.find(url, number)
	if err == nil && (!ok || s.holds.isGoing(e.key())) {
		err = ErrNotFound
	}
	switch {
	case err == nil:
		return e, nil
	case number == 0:
		return entry{}, fmt.Errorf("latest version of %s: %w", shown(url), err)
	}
	return entry{}, fmt.Errorf("version %d of %s: %w", number, shown(url), err)
}

func (s *Store) find(url string, number int) (entry, bool, error) {
	for before := -1; ; {
		e, ok, err := s.durableLatest(url)
		switch {
		case err != nil || !ok || number == e.Number:
			return e, ok, err
		case number == 0 && !s.holds.isGoing(e.key()):
			return e, true, nil
		case number == 0:
			return s.latestThatStays(url)
		case number < 0 || number > e.Number || e.Number == before:
			return entry{}, false, nil
		}
		before = e.Number
		older, ok, err := get(s, olderKey(url, number), func(value []byte) (entry, error) { return decodeEntry(url, value) })
		if err != nil || ok {
			return older, ok, err
		} // unless it became the latest meanwhile, because those after it were removed
	}
}

// latestThatStays returns the newest version of a URL that is not about to go.
func (s *Store) latestThatStays(url string) (entry, bool, error) {
	all, err := s.history(url)
	for i := len(all) - 1; i >= 0; i-- {
		if !s.holds.isGoing(all[i].key()) {
			return all[i], true, nil
		}
	}
	return entry{}, false, err
}

// Versions returns all versions of a URL, the oldest first, or [ErrNotFound].
func (s *Store) Versions(url string) ([]Version, error) {
	if err := s.users.enter(); err != nil {
		return nil, err
	}
	defer s.users.Leave()
	entries, err := s.history(url)
	if err != nil {
		return nil, fmt.Errorf("versions of %s: %w", shown(url), err)
	}
	var all []Version
	for i := range entries {
		if !s.holds.isGoing(entries[i].key()) {
			all = append(all, entries[i].Version)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("versions of %s: %w", shown(url), ErrNotFound)
	}
	return all, nil
}

// History returns all versions of the document at a URL, the oldest first, or [ErrNotFound]: those from before it moved
// there, at its former URLs, and those of the URL.
func (s *Store) History(url string) ([]Version, error) {
	all, err := s.Versions(url)
	if err != nil {
		return nil, err
	}
	if err := s.users.enter(); err != nil {
		return nil, err
	}
	defer s.users.Leave()
	for former, err := range s.formers(url) {
		if err != nil {
			return nil, err
		}
		before, err := s.Versions(former.URL)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		before = slices.DeleteFunc(before, func(v Version) bool { return v.Number > former.Version })
		all = append(before, all...)
	}
	return all, nil
}

// history returns all entries of a URL, the oldest first.
func (s *Store) history(url string) ([]entry, error) {
	snapshot := s.db.NewSnapshot() // or a version that is superseded meanwhile would be seen twice, or never
	defer snapshot.Close()
	decode := func(value []byte) (entry, error) { return decodeEntry(url, value) }
	var all []entry
	var failed error
	for _, value := range under(snapshot, olderPrefix(url), &failed) {
		e, err := decode(value)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	if failed != nil {
		return nil, failed
	}
	latest, ok, err := getFrom(snapshot, latestKey(url), decode)
	if ok {
		all = append(all, latest)
	}
	return all, err
}

// List yields the latest version of every URL that begins with prefix, ordered by URL, as they are when
// it begins, but for what was asked for with credentials. An error, also that of ctx, is yielded once and ends it.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[Version, error] {
	return s.Shown(ctx, "", prefix)
}

// Shown is List of what was asked for with the credentials of a name, or without any if it is empty.
func (s *Store) Shown(ctx context.Context, secret, prefix string) iter.Seq2[Version, error] {
	return func(yield func(Version, error) bool) {
		for v, err := range s.Views(ctx, prefix) {
			if (err != nil || v.Secret == secret) && !yield(v, err) {
				return
			}
		}
	}
}

// Private yields the latest version of every view of a URL that was asked for with credentials.
func (s *Store) Private(ctx context.Context, url string) iter.Seq2[Version, error] {
	return s.Views(ctx, url+viewSeparator)
}

// Views is List, and yields what was asked for with credentials too: each [View] once.
func (s *Store) Views(ctx context.Context, prefix string) iter.Seq2[Version, error] {
	return func(yield func(Version, error) bool) {
		if err := s.users.enter(); err != nil {
			yield(Version{}, err)
			return
		}
		defer s.users.Leave()
		if err := s.list(ctx, prefix, yield); err != nil {
			yield(Version{}, fmt.Errorf("list %s: %w", shown(prefix), err))
		}
	}
}

func (s *Store) list(ctx context.Context, prefix string, yield func(Version, error) bool) error {
	var failed error
	for key, value := range under(s.db, latestKey(prefix), &failed) {
		if err := ctx.Err(); err != nil {
			return err
		}
		e, err := decodeEntry(string(key[len("u/"):]), value)
		if err != nil {
			return err
		}
		if s.holds.isGoing(e.key()) {
			var ok bool
			if e, ok, err = s.latestThatStays(e.View()); err != nil {
				return err
			}
			if !ok {
				continue
			}
		}
		if !yield(e.Version, nil) {
			return nil
		}
	}
	return failed
}

// Body returns the decoded body of a version, and the HTTP header it came with, in which Content-Length
// is that of the body, and other fields that described its transfer are left out.
func (s *Store) Body(v Version) ([]byte, http.Header, error) {
	if err := s.users.enter(); err != nil {
		return nil, nil, err
	}
	defer s.users.Leave()
	var body []byte
	var header http.Header
	err := s.whereItIs(func() (err error) { body, header, err = s.body(v); return err })
	if err != nil {
		return nil, nil, fmt.Errorf("body of version %d of %s: %w", v.Number, v.URL, err)
	}
	return body, header, nil
}

func (s *Store) body(v Version) ([]byte, http.Header, error) {
	e, err := s.entry(v.View(), v.Number)
	if err != nil {
		return nil, nil, err
	}
	own, err := s.readRecord(e.record, e.Size)
	if err != nil {
		return nil, nil, err
	}
	h, err := own.held()
	if err != nil {
		return nil, nil, err
	}
	body := h.body
	if own.fields["warc-type"] == typeRevisit {
		if body, err = s.payloadBody(&e); err != nil {
			return nil, nil, err
		}
	}
	if own.fields["warc-payload-digest"] != formatDigest(e.Digest) || int64(len(body)) != e.Size {
		return nil, nil, fmt.Errorf("%w: another document is stored there", ErrCorrupt)
	}
	return body, h.header, nil
}

// payloadBody reads the body that a revisit record stands for.
func (s *Store) payloadBody(e *entry) ([]byte, error) {
	p, ok, err := get(s, payloadKey(e.Digest), decodePayload)
	if err == nil && !ok {
		err = fmt.Errorf("%w: body is missing", ErrCorrupt)
	}
	if err != nil {
		return nil, err
	}
	first, err := s.readRecord(p.record, p.size)
	if err != nil {
		return nil, err
	}
	if first.fields["warc-payload-digest"] != formatDigest(e.Digest) {
		return nil, fmt.Errorf("%w: another body is stored there", ErrCorrupt)
	}
	h, err := first.held()
	return h.body, err
}

// whereItIs reads records of the index's entries. If it fails and records moved meanwhile, it tries again:
// the segment may have been unlinked between the look into the index and the reading.
func (s *Store) whereItIs(read func() error) error {
	for {
		moves := s.moves.Load()
		err := read()
		if !errors.Is(err, ErrCorrupt) || moves == s.moves.Load() {
			return err
		}
	}
}

// readRecord reads the record at l; size is a guess at that of its body.
func (s *Store) readRecord(l location, size int64) (*parsedRecord, error) {
	const headroom = 4 << 10
	compressed, err := s.segments.read(l)
	if err != nil {
		return nil, err
	}
	raw, err := inflate(compressed, size+headroom)
	if err != nil {
		return nil, err
	}
	return parseRecord(raw)
}

// Meta returns the meta-info of a version, from its metadata record.
func (s *Store) Meta(v Version) (xmlschema.Meta, error) {
	if err := s.users.enter(); err != nil {
		return xmlschema.Meta{}, err
	}
	defer s.users.Leave()
	var r *parsedRecord
	err := s.whereItIs(func() error {
		e, err := s.entry(v.View(), v.Number)
		if err == nil {
			r, err = s.readRecord(e.meta(), 8*e.metaLength)
		}
		return err
	})
	if err != nil {
		return xmlschema.Meta{}, fmt.Errorf("meta-info of version %d of %s: %w", v.Number, v.URL, err)
	}
	m, err := decodeMeta(r.block)
	if err != nil {
		return xmlschema.Meta{}, fmt.Errorf("meta-info of version %d of %s: %w", v.Number, v.URL, err)
	}
	return m, nil
}

// Links returns the links of a version, in document order. The index keeps a copy of those in the
// metadata record, because every 304 asks for them: it answers 20 times faster than reading, inflating
// and parsing the record, and front-coded a page of 88 takes some 1 KB.
func (s *Store) Links(v Version) ([]string, error) {
	if err := s.users.enter(); err != nil {
		return nil, err
	}
	defer s.users.Leave()
	links, ok, err := get(s, linksKey(v.Seq), decodeLinks)
	if err == nil && (!ok || s.holds.isGoing(v.key())) {
		err = ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("links of version %d of %s: %w", v.Number, v.URL, err)
	}
	return links, nil
}
