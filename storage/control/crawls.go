package control

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/xmlschema"
	"github.com/webrace/webrace/xmlschema/httprequest"
)

// CrawlOf returns the crawl that a URD starts, as if it were the only one to want it; false when it starts
// none, because it is paused, its URI is a prefix, or the source comes to us by itself. An error tells why it could
// start none, paused or not.
func CrawlOf(u *xmlschema.URD) (webrace.Crawl, bool, error) {
	crawl, starts, err := crawlWhenActive(u)
	if u.Paused {
		return webrace.Crawl{}, false, err
	}
	return crawl, starts, err
}

// crawlWhenActive returns the crawl that a URD starts when it is not paused.
//
// The id is a hash of the start, the scope and the credentials, so URDs that agree on these share a crawl. How the
// start is asked, if not by a plain GET, is part of it, as its mark ([urlnorm.Marked]).
func crawlWhenActive(u *xmlschema.URD) (webrace.Crawl, bool, error) {
	if _, prefix := u.Prefix(); prefix || u.Method == xmlschema.MethodPush {
		return webrace.Crawl{}, false, nil
	}
	start, err := startOf(u)
	if err != nil {
		return webrace.Crawl{}, false, fmt.Errorf("start: %w", err)
	}
	start = urlnorm.Marked(start, u.Request.Mark())
	crawl := crawlOf(u, "", start)
	crawl.ID = crawlID(u.Protocol, start, string(crawl.Scope), u.Login, u.Secret, u.Group)
	return crawl, true, nil
}

// StartOf returns the URL at which a crawl begins, or [ErrNotFound] when no URD wants it any more.
func (s *Store) StartOf(ctx context.Context, crawl string) (string, error) {
	return one(rows(ctx, s, "read the start of crawl "+crawl, func(r *sql.Rows) (start string, err error) {
		err = r.Scan(&start)
		return start, err
	}, "SELECT CASE start WHEN '' THEN uri ELSE start END FROM urd WHERE crawl = ? LIMIT 1", crawl), "crawl "+crawl)
}

// crawlOf returns the crawl that a URD starts there, under an id.
func crawlOf(u *xmlschema.URD, id, start string) webrace.Crawl {
	return webrace.Crawl{
		ID:      id,
		Start:   start,
		Scope:   webrace.Scope(cmp.Or(u.Scope, xmlschema.ScopeHost)),
		Secret:  secretOf(u),
		Levels:  u.Depth,
		Urgency: u.Urgency,
		Timing:  u.Timing,
	}
}

// secretOf names the credentials that a URD's documents are of: those of the source, or else the first that its request
// names.
func secretOf(u *xmlschema.URD) string {
	if named := u.Request.Secrets(); u.Secret == "" && len(named) > 0 {
		return named[0]
	}
	return u.Secret
}

// RequestOf returns how the start of a crawl is asked, nil by a plain GET; or [ErrNotFound] when no URD wants the
// crawl any more.
func (s *Store) RequestOf(ctx context.Context, crawl string) (*httprequest.Request, error) {
	u, err := s.wanting(ctx, crawl)
	if err != nil {
		return nil, err
	}
	return u.Request, nil
}

// SourceOf returns the URL at which a crawl begins, and the credentials that it is asked for with; or [ErrNotFound]
// when no URD wants it any more.
func (s *Store) SourceOf(ctx context.Context, crawl string) (start, secret string, err error) {
	u, err := s.wanting(ctx, crawl)
	if err != nil {
		return "", "", err
	}
	c, _, err := CrawlOf(u)
	return c.Start, c.Secret, err
}

// wanting returns a URD that wants a crawl.
func (s *Store) wanting(ctx context.Context, crawl string) (*xmlschema.URD, error) {
	return one(rows(ctx, s, "read a URD of crawl "+crawl, func(r *sql.Rows) (*xmlschema.URD, error) {
		var nodes []byte
		if err := r.Scan(&nodes); err != nil {
			return nil, err
		}
		return xmlschema.StoredURD(nodes)
	}, "SELECT nodes FROM urd WHERE crawl = ? LIMIT 1", crawl), "crawl "+crawl)
}

// crawlID hashes the fields, each with its length, so that no two lists of fields run together.
func crawlID(fields ...string) string {
	h := sha256.New()
	for _, f := range fields {
		fmt.Fprintf(h, "%d:%s", len(f), f)
	}
	return "c" + hex.EncodeToString(h.Sum(nil)[:10])
}

// startOf is the address that a URD's crawl begins at. What is no source of its protocol was stored by a release that
// did not look: it stays as it is.
func startOf(u *xmlschema.URD) (string, error) {
	start, err := u.Start()
	if err != nil && !u.OfTheWeb() {
		return u.URI, nil
	}
	return start, err
}

// Crawls merges the crawls of URDs into one for each id, sorted by it: as deep as the deepest asks, as
// urgent as the most urgent, and visited as often as the most frequent. URDs that start none are left out.
func Crawls(urds []URD) []webrace.Crawl {
	merged := make(map[string]webrace.Crawl)
	for _, u := range urds {
		if u.Crawl.ID == "" {
			continue
		}
		if other, shared := merged[u.Crawl.ID]; shared {
			merged[u.Crawl.ID] = merge(other, u.Crawl)
		} else {
			merged[u.Crawl.ID] = u.Crawl
		}
	}
	return slices.SortedFunc(maps.Values(merged), func(a, b webrace.Crawl) int { return cmp.Compare(a.ID, b.ID) })
}

func merge(a, b webrace.Crawl) webrace.Crawl {
	if a.Levels == 0 || b.Levels == 0 {
		a.Levels = 0
	} else {
		a.Levels = max(a.Levels, b.Levels)
	}
	a.Urgency = max(a.Urgency, b.Urgency)
	a.Timing = shortest(a.Timing, b.Timing)
	return a
}

// shortest is the shorter of two intervals; 0 is none.
func shortest(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
