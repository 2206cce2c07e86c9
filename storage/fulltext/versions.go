package fulltext

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	index "github.com/blevesearch/bleve_index_api"
)

// DefaultVersions is how many versions of a URL an index keeps unless it is told otherwise. The latest of
// each costs what the index costs; each further version of a page that changed costs as much again.
const DefaultVersions = 5

// groupBytes is how much text is indexed in one write: the library keeps many times that in memory
// meanwhile, however few documents it is.
const groupBytes = 4 << 20

// Cache is the object cache as the index needs it.
type Cache interface {
	// Versions returns the numbers of the stored versions of a URL in ascending order, none if it has none.
	Versions(url string) ([]int, error)
	// Document returns what is to be indexed of a version; false if that is nothing, or cannot be read.
	Document(url string, version int) (Document, bool, error)
}

var versionsKey = []byte("webrace-versions")

// KeepVersions sets how many versions of each URL are kept, 0 for all. It is remembered in the index, and
// holds for a URL from when it next changes, or for all when the index is rebuilt.
func (s *Store) KeepVersions(ctx context.Context, n int) error {
	if n < 0 {
		return fmt.Errorf("keep %d versions: it is 0 for all, or more", n)
	}
	err := s.change(ctx, func(batch *index.Batch) error {
		if s.keep != n {
			batch.SetInternal(versionsKey, strconv.AppendInt(nil, int64(n), 10))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("keep %d versions of each URL in full-text index: %w", n, err)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	s.keep = n
	return nil
}

func versionsKept(ix *bleveIndex) (int, error) {
	value, err := ix.GetInternal(versionsKey)
	if err != nil || value == nil {
		return DefaultVersions, err
	}
	n, err := strconv.Atoi(string(value))
	if err != nil {
		return 0, fmt.Errorf("%w: number of versions: %w", ErrCorrupt, err)
	}
	return n, nil
}

// idOf names a document in the index: the latest version by its URL, a superseded one by its number too. No
// URL has a space.
func idOf(url string, superseded int) string {
	if superseded == 0 {
		return url
	}
	return fmt.Sprintf("%s %010d", url, superseded)
}

// splitID returns what an id was made of.
func splitID(id string) (url string, superseded int) {
	url, digits, ok := strings.Cut(id, " ")
	if !ok {
		return id, 0
	}
	n, err := strconv.Atoi(digits)
	if err != nil {
		return id, 0
	}
	return url, n
}

// held is what the index has of a URL.
type held struct {
	latest     int // -1 for none
	superseded []int
}

// versionsIn returns what the index has of a URL. To look for superseded versions costs as much as to read the page, so
// the caller tells whether there are any at all.
func versionsIn(r index.IndexReader, url string, superseded bool) (h held, err error) {
	if h.latest, err = latestIn(r, url); err != nil || !superseded {
		return h, err
	}
	ids, err := r.FieldDictPrefix("_id", []byte(url+" "))
	if err != nil {
		return h, err
	}
	defer func() { err = errors.Join(err, ids.Close()) }()
	for {
		entry, err := ids.Next()
		if err != nil || entry == nil {
			return h, err
		}
		found, err := r.InternalID(entry.Term)
		if err != nil {
			return h, err
		}
		if _, n := splitID(entry.Term); n > 0 && found != nil && !slices.Contains(h.superseded, n) {
			h.superseded = append(h.superseded, n) // names of what was deleted are still listed for a while
		}
	}
}

// hasSuperseded reports whether the index has a superseded version of any URL.
func hasSuperseded(ctx context.Context, r index.IndexReader) (bool, error) {
	old, err := r.TermFieldReader(ctx, []byte(isSuperseded), fieldSuperseded, false, false, false)
	if err != nil {
		return false, err
	}
	return old.Count() > 0, old.Close()
}

// latestIn returns the version that is indexed as the latest.
func latestIn(r index.IndexReader, url string) (int, error) {
	d, err := r.Document(url)
	if err != nil || d == nil {
		return -1, err
	}
	version := 0
	d.VisitFields(func(f index.Field) {
		if n, ok := f.(index.NumericField); ok && f.Name() == fieldVersion {
			if v, err := n.Number(); err == nil {
				version = int(v)
			}
		}
	})
	return version, nil
}

// all returns the versions in ascending order.
func (h held) all() []int {
	all := slices.Clone(h.superseded)
	if h.latest >= 0 {
		all = append(all, h.latest)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// remove deletes what is held of a URL and is not wanted.
func (h held) remove(batch *index.Batch, url string, wanted map[string]bool) {
	if h.latest >= 0 && !wanted[idOf(url, 0)] {
		batch.Delete(idOf(url, 0))
	}
	for _, n := range h.superseded {
		if id := idOf(url, n); !wanted[id] {
			batch.Delete(id)
		}
	}
}

// settle brings URLs in line with the cache. Documents that are given need not be read from there.
func (s *Store) settle(ctx context.Context, urls []string, given map[string][]*Document) error {
	for len(urls) > 0 {
		settled := 0
		err := s.change(ctx, func(batch *index.Batch) error {
			return s.read(func(r index.IndexReader) (err error) {
				settled, err = s.fill(ctx, batch, r, urls, given)
				return err
			})
		})
		if err != nil {
			return err
		}
		urls = urls[settled:]
	}
	return nil
}

// fill puts what changes for the first URLs into a batch, until that is enough, and returns how many they
// are.
func (s *Store) fill(ctx context.Context, batch *index.Batch, r index.IndexReader, urls []string, given map[string][]*Document) (int, error) {
	superseded, err := hasSuperseded(ctx, r)
	if err != nil {
		return 0, err
	}
	bytes := 0
	for i, u := range urls {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, err := s.fillURL(batch, r, u, superseded, given[u])
		if err != nil {
			return 0, fmt.Errorf("%q: %w", u, err)
		}
		if s.late != nil {
			s.late[u] = true
		}
		if bytes += n; bytes >= groupBytes {
			return i + 1, nil
		}
	}
	return len(urls), nil
}

// fillURL puts what changes for a URL into a batch, and returns how much text that is.
func (s *Store) fillURL(batch *index.Batch, r index.IndexReader, url string, superseded bool, given []*Document) (bytes int, err error) {
	have, err := versionsIn(r, url, superseded)
	if err != nil {
		return 0, err
	}
	wanted, err := s.wanted(url, have, given)
	if err != nil {
		return 0, err
	}
	stays := make(map[string]bool, len(wanted))
	for i, version := range wanted {
		latest := i == len(wanted)-1
		id := idOf(url, version)
		if latest {
			id = idOf(url, 0)
		}
		if latest && version == have.latest || !latest && slices.Contains(have.superseded, version) {
			stays[id] = true
			continue
		}
		d, ok, err := s.document(url, version, given)
		if err != nil {
			return 0, err
		}
		if !ok {
			continue
		}
		batch.Update(d.indexed(!latest, &s.counter))
		stays[id] = true
		bytes += d.bytes()
	}
	have.remove(batch, url, stays)
	return bytes, nil
}

// wanted returns the versions that the index is to have of a URL, in ascending order: those that are stored.
// Where documents are given, so are later ones that are on their way to the cache, or kept nowhere.
func (s *Store) wanted(url string, have held, given []*Document) (versions []int, err error) {
	keep := 1
	if s.options.Cache != nil {
		if versions, err = s.options.Cache.Versions(url); err != nil {
			return nil, err
		}
		keep = s.keep
	}
	if len(given) > 0 || s.options.Cache == nil {
		later := have.all()
		for _, d := range given {
			later = append(later, d.Version)
		}
		stored := len(versions)
		for _, version := range later {
			if stored == 0 || version > versions[stored-1] {
				versions = append(versions, version)
			}
		}
		slices.Sort(versions)
		versions = slices.Compact(versions)
	}
	if keep > 0 && len(versions) > keep {
		versions = versions[len(versions)-keep:]
	}
	return versions, nil
}

// document returns what is to be indexed of a version.
func (s *Store) document(url string, version int, given []*Document) (*Document, bool, error) {
	for _, d := range given {
		if d.Version == version {
			return d, true, nil
		}
	}
	if s.options.Cache == nil {
		return nil, false, nil
	}
	d, ok, err := s.options.Cache.Document(url, version)
	return &d, ok, err
}
