package control

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"iter"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/internal/nanos"
	"github.com/webrace/webrace/xmlschema"
)

// URD is a stored URD. It has no LastCheck: when its source was last visited is for the frontier to tell.
type URD struct {
	*xmlschema.URD
	Revision int64 // of the base, when this URD was added or last changed
	// Interest is the revision of the base when last a change made another set of documents, or of annotations, of it;
	// of a change while it was paused, when it was resumed, and 0 until then.
	Interest int64
	Crawl    webrace.Crawl // the crawl it starts; the zero crawl when it starts none, as while it is paused

	CheckAsked time.Time // when a check of its start was last asked for ([Store.CheckNow]); zero for never
}

// Get returns one URD, or [ErrNotFound].
func (s *Store) Get(ctx context.Context, id string) (URD, error) {
	c := condition{where: urdTable.lookUps[xmlschema.FieldID], args: []any{id}, one: true}
	return one(documents(ctx, s, "read URD "+id, urdTable, c, decodeStoredURD), "URD "+id)
}

// All returns every URD, in the order in which they were first added.
func (s *Store) All(ctx context.Context) iter.Seq2[URD, error] {
	return s.urds(ctx, "read URDs", "TRUE")
}

// ByOwner returns an owner's URDs, in the order in which they were first added.
func (s *Store) ByOwner(ctx context.Context, owner string) iter.Seq2[URD, error] {
	return s.urds(ctx, "read URDs of "+owner, "owner = ?", owner)
}

// IDsByCrawl returns the ids of an owner's URDs that share any of these crawls, and of all that start one if none is
// named.
func (s *Store) IDsByCrawl(ctx context.Context, owner string, crawls ...string) (ids []string, err error) {
	query, args := "SELECT id FROM urd INDEXED BY urd_owner WHERE owner = ? AND crawl IN (SELECT value FROM json_each(?))", []any{owner, list(crawls)}
	if len(crawls) == 0 {
		query, args = "SELECT id FROM urd INDEXED BY urd_owner WHERE owner = ? AND crawl <> ''", args[:1]
	}
	for id, err := range rows(ctx, s, "read ids of URDs of "+owner, func(r *sql.Rows) (id string, err error) {
		err = r.Scan(&id)
		return id, err
	}, query, args...) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// ByHost returns the URDs whose start, or whose prefix, is on a host, in the order in which they were first
// added.
func (s *Store) ByHost(ctx context.Context, host string) iter.Seq2[URD, error] {
	return s.urds(ctx, "read URDs of host "+host, "host = ?", host)
}

// ByCrawl returns the URDs that share any of these crawls, in the order in which they were first added.
func (s *Store) ByCrawl(ctx context.Context, ids ...string) iter.Seq2[URD, error] {
	return s.urds(ctx, "read URDs of crawls", "crawl IN (SELECT value FROM json_each(?))", list(ids))
}

// timesCursor is what the cursors begin with that hold since when the times of a URD count.
const timesCursor = "urd/times/"

// TimesSince returns since when the times count at which a URD asks for its source ([xmlschema.URD] At): since it was
// given them. It is zero for a URD that has none.
func (s *Store) TimesSince(ctx context.Context, id string) (time.Time, error) {
	at, err := s.Cursor(ctx, timesCursor+id)
	return nanos.Time(at), err
}

// AllTimesSince returns the same of all URDs that have times, by id.
func (s *Store) AllTimesSince(ctx context.Context) (map[string]time.Time, error) {
	cursors, err := s.Cursors(ctx, timesCursor)
	since := make(map[string]time.Time, len(cursors))
	for id, at := range cursors {
		since[id] = nanos.Time(at)
	}
	return since, err
}

// Query returns the URDs that an XPath expression selects something in, each taken as a document of its
// own, in the order in which they were first added: /urd[@owner='eleni' and keywords/keyword/@key='ibm'].
func (s *Store) Query(ctx context.Context, expression string) iter.Seq2[URD, error] {
	var c condition
	if err := c.matches(expression, urdTable); err != nil {
		return failed[URD](err)
	}
	if !c.indexed {
		return s.scan(ctx, c)
	}
	return documents(ctx, s, "query URDs", urdTable, c, decodeStoredURD)
}

func (s *Store) urds(ctx context.Context, doing, where string, args ...any) iter.Seq2[URD, error] {
	return documents(ctx, s, doing, urdTable, condition{where: where, args: args}, decodeStoredURD)
}

func decodeStoredURD(r record) (u URD, err error) {
	if u.URD, err = xmlschema.StoredURD(r.document); err == nil {
		u.complete(r)
	}
	return u, err
}

// complete adds what is stored beside a URD.
func (u *URD) complete(r record) {
	u.Revision, u.Interest, u.CheckAsked = r.number, r.second, nanos.Time(r.third)
	if r.crawl != "" {
		u.Crawl = crawlOf(u.URD, r.crawl, cmp.Or(r.start, u.URI))
	}
}

// Revision returns the revision of the URD base: 0 when nothing was ever added. A caller that reads it before the
// URDs, and follows [Store.Revised] from there, misses nothing.
func (s *Store) Revision(ctx context.Context) (int64, error) {
	var revision int64
	err := s.readRow(ctx, "read revision", "SELECT value FROM counter WHERE name = 'revision'", nil, &revision)
	return revision, err
}

// Revision is what became of one URD.
type Revision struct {
	Number int64 // each is given once
	ID     string
	URD    *URD // as it is now; nil when it was removed
}

// Revised returns what became of each URD that was added, changed or removed after a revision of the base,
// in the order of the last that happened to it.
func (s *Store) Revised(ctx context.Context, since int64) iter.Seq2[Revision, error] {
	return rows(ctx, s, "read changes of URDs", scanRevision, `
		SELECT revision, id, nodes, interest, check_time, crawl, start FROM urd WHERE revision > ?1
		UNION ALL
		SELECT revision, id, NULL, 0, 0, '', '' FROM removed WHERE revision > ?1
		ORDER BY revision`, since)
}

func scanRevision(r *sql.Rows) (Revision, error) {
	var v Revision
	var stored record
	if err := r.Scan(&v.Number, &v.ID, &stored.document, &stored.second, &stored.third, &stored.crawl, &stored.start); err != nil || stored.document == nil {
		return v, err
	}
	stored.number = v.Number
	u, err := decodeStoredURD(stored)
	v.URD = &u
	return v, err
}

// list writes strings as one argument, for json_each to take apart.
func list[T string | int64](values []T) string {
	text, _ := json.Marshal(append([]T{}, values...)) // they always have a JSON form, and none are a list, too
	return string(text)
}
