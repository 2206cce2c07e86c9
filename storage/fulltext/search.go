package fulltext

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/blevesearch/bleve/v2/search"
)

const (
	defaultSize = 10
	maxReach    = 10_000 // hits that can be paged through; each costs memory in every search before it
	maxFacets   = 1000
)

// Sort is the order of hits. Those that are equal in it come in the order of their URLs and versions.
type Sort string

const (
	ByRelevance Sort = "relevance" // the best first
	ByDate      Sort = "date"      // the oldest first
	ByNewest    Sort = "-date"     // the newest first
	ByURL       Sort = "url"
	ByHost      Sort = "host"
)

// Sorts are all orders.
var Sorts = []Sort{ByRelevance, ByDate, ByNewest, ByURL, ByHost}

// Query asks for documents.
type Query struct {
	Text      string    // in the language of the package comment
	Hosts     []string  // any of these, as in host:; all when empty
	Languages []string  // as in lang:
	Types     []string  // as in type:
	History   bool      // superseded versions too
	Sort      Sort      // by relevance when empty
	Size      int       // how many hits; 10 when 0
	From      int       // how many hits to leave out before them
	Facets    int       // how many values to count of each facet; none when 0
	Now       time.Time // what after:7d counts from; the time of the search when zero
}

// Results answer a query.
type Results struct {
	Total   uint64 // documents that match
	Relaxed bool   // none has all words: these have some of them
	Hits    []Hit
	Took    time.Duration
	Facets  map[string]Facet // by name: host, language, type and date
}

// Hit is a document that matches.
type Hit struct {
	URL        string
	Version    int
	Superseded bool // a later version is indexed
	Title      string
	Language   string
	Type       string
	Date       time.Time
	Score      float64
	Partition  int `json:",omitempty"` // whose index has it, where those of several are searched as one; whoever asks them says so
}

// Facet is how many of the matching documents have which value, the commonest first; of dates, the latest
// first.
type Facet struct {
	Counts []Count
	Others int // documents that have further values
}

// Count is how many of the matching documents have a value.
type Count struct {
	Value string
	Count int
}

// Search returns the documents that match a query. If none has all its words, it returns those that have
// some of them. What is no query is a [QueryError], or an [ErrQuery] that concerns no place in the text.
func (s *Store) Search(ctx context.Context, q Query) (Results, error) {
	c, err := q.compile()
	if err != nil {
		return Results{}, err
	}
	r, err := s.search(ctx, q, c, nil)
	if all, ok := c.root.(allOf); err == nil && r.Total == 0 && ok && !all.explicit {
		c.relaxed = true
		if r, err = s.search(ctx, q, c, nil); r.Total > 0 {
			r.Relaxed = true
		}
	}
	if err != nil {
		return Results{}, fmt.Errorf("search %q: %w", q.Text, err)
	}
	return r, nil
}

func (q *Query) compile() (*compiled, error) {
	q.Size = cmp.Or(q.Size, defaultSize)
	switch {
	case q.Size < 0 || q.From < 0 || q.Size > maxReach || q.From > maxReach-q.Size:
		return nil, fmt.Errorf("%w: only the first %d hits can be looked at", ErrQuery, maxReach)
	case q.Facets < 0 || q.Facets > maxFacets:
		return nil, fmt.Errorf("%w: at most %d values of a facet can be counted", ErrQuery, maxFacets)
	case q.Sort != "" && !slices.Contains(Sorts, q.Sort):
		return nil, fmt.Errorf("%w: there is no order %q: it is relevance, date, -date, url or host", ErrQuery, q.Sort)
	}
	root, err := parse(q.Text)
	if err != nil {
		return nil, err
	}
	c := &compiled{root: root, now: q.Now, history: q.History}
	if c.now.IsZero() {
		c.now = time.Now()
	}
	for name, values := range map[string][]string{"host": q.Hosts, "lang": q.Languages, "type": q.Types} {
		var any []node
		for _, value := range values {
			if !fields[name].conforms(value) {
				return nil, fmt.Errorf("%w: %q is no %s: write %s", ErrQuery, value, name, fields[name].example)
			}
			any = append(any, filter{fields[name].name, value})
		}
		if len(any) > 0 {
			c.filters = append(c.filters, anyOf{any})
		}
	}
	return c, nil
}

// order returns the fields that the library sorts by.
func (o Sort) order() []string {
	switch o {
	case ByDate:
		return []string{fieldDate, "_id"}
	case ByNewest:
		return []string{"-" + fieldDate, "_id"}
	case ByURL:
		return []string{"_id"}
	case ByHost:
		return []string{fieldHost, "_id"}
	}
	return []string{"-_score", "_id"}
}

// search returns what is found. Of hits that the last one given comes before it may return none.
func (s *Store) search(ctx context.Context, q Query, c *compiled, last *Hit) (Results, error) {
	started := time.Now()
	wanted := request{find: c.Searcher, size: q.Size, from: q.From, order: q.Sort.order()}
	wanted.fields = []string{fieldTitle, fieldVersion, fieldLanguage, fieldType, fieldDate}
	if q.Facets > 0 {
		wanted.addFacets(q.Facets)
	}
	if last != nil && q.Sort != ByDate && q.Sort != ByNewest { // dates are read with the rest
		wanted.wanted = func(match *search.DocumentMatch) bool { return q.Sort.compare(hitOf(match), *last) <= 0 }
	}
	var found found
	err := s.use(func(ix *bleveIndex) (err error) {
		found, err = ix.search(ctx, wanted)
		return err
	})
	if err != nil {
		return Results{}, err
	}
	r := Results{Total: found.total, Took: time.Since(started)}
	for _, match := range found.hits {
		hit := hitOf(match)
		if version, ok := match.Fields[fieldVersion].(float64); ok {
			hit.Version = int(version)
		}
		hit.Title, _ = match.Fields[fieldTitle].(string)
		hit.Language, _ = match.Fields[fieldLanguage].(string)
		hit.Type, _ = match.Fields[fieldType].(string)
		if date, ok := match.Fields[fieldDate].(string); ok && date != "" {
			if hit.Date, err = time.Parse(dateLayout, date); err != nil {
				return Results{}, errors.Join(ErrCorrupt, err)
			}
		}
		r.Hits = append(r.Hits, hit)
	}
	r.Facets = facetsOf(found.facets, q.Facets)
	return r, nil
}

// hitOf returns what is known of a hit before its document is read.
func hitOf(match *search.DocumentMatch) Hit {
	url, superseded := splitID(match.ID)
	return Hit{URL: url, Version: superseded, Superseded: superseded > 0, Score: match.Score}
}

// Facets are the names of the facets, in the order in which they are shown.
var Facets = []string{"host", "language", "type", "date"}

// everyDay is more than there are days that documents can have: days are counted as they are and added up
// to months and years here.
const everyDay = 1 << 20

func (q *request) addFacets(size int) {
	q.facets, q.values = map[string]string{"date": fieldDay}, map[string]int{"date": everyDay}
	for _, name := range []string{fieldHost, fieldLanguage, fieldType} {
		q.facets[name], q.values[name] = name, size
	}
}

func facetsOf(counted search.FacetResults, size int) map[string]Facet {
	if size == 0 {
		return nil
	}
	facets := make(map[string]Facet, len(Facets))
	for _, name := range Facets {
		var f Facet
		if result := counted[name]; result != nil {
			f.Others = result.Other
			for _, t := range result.Terms.Terms() {
				f.Counts = append(f.Counts, Count{t.Term, t.Count})
			}
		}
		if name == "date" {
			f = spans(f.Counts, size)
		}
		facets[name] = f
	}
	return facets
}

// spans adds days up to months or years, so that there are no more of them than wanted if possible: the
// latest are shown.
func spans(days []Count, size int) (f Facet) {
	for _, length := range []int{len("2006-01-02"), len("2006-01"), len("2006")} {
		sums := map[string]int{}
		for _, day := range days {
			sums[day.Value[:length]] += day.Count
		}
		f.Counts = nil
		for value, n := range sums {
			f.Counts = append(f.Counts, Count{value, n})
		}
		if len(sums) <= size {
			break
		}
	}
	slices.SortFunc(f.Counts, func(a, b Count) int { return strings.Compare(b.Value, a.Value) })
	for len(f.Counts) > size {
		f.Others += f.Counts[len(f.Counts)-1].Count
		f.Counts = f.Counts[:len(f.Counts)-1]
	}
	return f
}
