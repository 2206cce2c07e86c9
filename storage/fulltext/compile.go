package fulltext

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/searcher"
	index "github.com/blevesearch/bleve_index_api"
)

// compiled is a query as the library asks for one.
type compiled struct {
	root    node
	filters []node // that every document must meet in addition
	now     time.Time
	history bool // superseded versions too
	relaxed bool // any of the words will do

	given *Statistics // by which is ranked; nil: by those of the index
	noted *Statistics // what the index has is noted here; nil: nowhere
}

// Searcher builds what finds the documents of one moment.
func (c *compiled) Searcher(ctx context.Context, reader index.IndexReader, o search.SearcherOptions) (search.Searcher, error) {
	documents, err := reader.DocCount()
	if err != nil {
		return nil, err
	}
	if c.given != nil {
		documents = c.given.Documents
	}
	b := &builder{ctx: ctx, reader: reader, options: o, query: c, documents: documents}
	s, err := b.whole()
	if err != nil {
		for _, opened := range b.opened {
			err = errors.Join(err, opened.Close())
		}
		return nil, err
	}
	return s, nil
}

// builder builds the searcher of a query from those of its parts.
type builder struct {
	ctx       context.Context
	reader    index.IndexReader
	options   search.SearcherOptions
	query     *compiled
	documents uint64            // that there are, of all that are searched
	opened    []search.Searcher // that belong to no other searcher yet
}

// keep notes what must be closed if the whole cannot be built.
func (b *builder) keep(s search.Searcher, err error) (search.Searcher, error) {
	if err != nil {
		return nil, err
	}
	b.opened = append(b.opened, s)
	return s, nil
}

// parts are the searchers of what is asked for, welcome, and not wanted.
type parts struct{ all, welcome, none []search.Searcher }

func (b *builder) whole() (search.Searcher, error) {
	root := b.query.root
	if all, ok := root.(allOf); ok && b.query.relaxed && !all.explicit {
		root = relax(all)
	}
	var p parts
	if err := b.add(&p.all, root); err != nil {
		return nil, err
	}
	for _, f := range b.query.filters {
		if err := b.add(&p.all, f); err != nil {
			return nil, err
		}
	}
	if !b.query.history {
		old, err := b.keep(searcher.NewTermSearcher(b.ctx, b.reader, isSuperseded, fieldSuperseded, 1, b.unranked()))
		if err != nil {
			return nil, err
		}
		if old.Count() > 0 {
			p.none = append(p.none, old)
		}
	}
	return b.combine(p)
}

// relax gives up that all words are to be found together. Whatever must be, or must not, stays so.
func relax(all allOf) node {
	var any anyOf
	rest := allOf{explicit: true}
	for _, n := range all.nodes {
		switch n.(type) {
		case must, not, filter:
			rest.nodes = append(rest.nodes, n)
		default:
			any.nodes = append(any.nodes, n)
		}
	}
	if len(any.nodes) == 0 {
		return all
	}
	rest.nodes = append(rest.nodes, must{any})
	return rest
}

// add appends the searcher of a node.
func (b *builder) add(to *[]search.Searcher, n node) error {
	s, err := b.node(n)
	if err == nil {
		*to = append(*to, s)
	}
	return err
}

func (b *builder) node(n node) (search.Searcher, error) {
	switch n := n.(type) {
	case allOf:
		return b.all(n)
	case anyOf:
		return b.any(n.nodes)
	case not:
		return b.all(allOf{nodes: []node{n}})
	case must:
		return b.node(n.node)
	case every:
		return b.keep(b.everything())
	case text:
		return b.text(n)
	case filter:
		return b.filter(n)
	}
	return nil, fmt.Errorf("search: %T is no part of a query", n)
}

// all asks for what stands side by side. Stop words are welcome as long as there is something else: bodies
// are indexed without them.
func (b *builder) all(all allOf) (search.Searcher, error) {
	var p parts
	marked := false
	for _, n := range all.nodes {
		_, ok := n.(must)
		marked = marked || ok
	}
	var common []node
	for _, n := range all.nodes {
		to := &p.all
		switch n := n.(type) {
		case not:
			if err := b.add(&p.none, n.node); err != nil {
				return nil, err
			}
			continue
		case text:
			if !all.explicit && n.isCommon() {
				common = append(common, n)
				continue
			}
			if marked {
				to = &p.welcome
			}
		case anyOf, allOf:
			if marked {
				to = &p.welcome
			}
		}
		if err := b.add(to, n); err != nil {
			return nil, err
		}
	}
	to := &p.welcome
	if len(p.all)+len(p.welcome) == 0 {
		to = &p.all
	}
	for _, n := range common {
		if err := b.add(to, n); err != nil {
			return nil, err
		}
	}
	if near, err := b.near(all); err != nil {
		return nil, err
	} else if near != nil {
		p.welcome = append(p.welcome, near)
	}
	return b.combine(p)
}

// combine joins the parts.
func (b *builder) combine(p parts) (search.Searcher, error) {
	if len(p.all) == 0 {
		every, err := b.keep(b.everything())
		if err != nil {
			return nil, err
		}
		p.all = append(p.all, every)
	}
	all := p.all[0]
	if len(p.all) > 1 {
		var err error
		if all, err = b.keep(searcher.NewConjunctionSearcher(b.ctx, b.reader, p.all, b.options)); err != nil {
			return nil, err
		}
	}
	if len(p.welcome)+len(p.none) == 0 {
		return all, nil
	}
	return b.keep(&chosen{all: all, welcome: sourcesOf(p.welcome), none: sourcesOf(p.none)}, nil)
}

func (b *builder) any(nodes []node) (search.Searcher, error) {
	var found []search.Searcher
	for _, n := range nodes {
		if err := b.add(&found, n); err != nil {
			return nil, err
		}
	}
	s, err := searcher.NewDisjunctionSearcher(b.ctx, b.reader, found, 1, b.options)
	if err != nil {
		return nil, err
	}
	return b.keep(exact{s}, nil)
}

// unranked are the options of what is found or not, and makes no answer better.
func (b *builder) unranked() search.SearcherOptions {
	return search.SearcherOptions{Score: "none"}
}

func (b *builder) everything() (search.Searcher, error) {
	return searcher.NewMatchAllSearcher(b.ctx, b.reader, 1, b.unranked())
}

// filter finds the documents that meet a condition.
func (b *builder) filter(f filter) (search.Searcher, error) {
	value := strings.ToLower(f.value)
	exactly := func(field, value string) (search.Searcher, error) {
		return b.keep(searcher.NewTermSearcher(b.ctx, b.reader, value, field, 1, b.unranked()))
	}
	beginning := func(field, value string) (search.Searcher, error) {
		return b.keep(searcher.NewTermPrefixSearcher(b.ctx, b.reader, value, field, 1, b.unranked()))
	}
	switch f.field {
	case fieldHost:
		if domain, ok := strings.CutPrefix(value, "*."); ok {
			return exactly(fieldDomain, domain)
		}
		return exactly(fieldHost, value)
	case fieldURL:
		if !strings.HasPrefix(value, "http://") && !strings.HasPrefix(value, "https://") {
			return b.text(text{field: fieldAddress, words: f.value, phrase: true})
		}
		if start, ok := strings.CutSuffix(f.value, "*"); ok {
			return beginning(fieldURL, start)
		}
		return exactly(fieldURL, f.value)
	case fieldLanguage:
		return b.eitherOf(exactly, beginning, fieldLanguage, value, value+"-")
	case fieldType:
		return b.mediaType(value)
	case fieldDay:
		return beginning(fieldDay, value)
	}
	after, before := "", ""
	if f.field == filterAfter {
		after = firstDay(f.value, b.query.now)
	} else {
		before = firstDay(f.value, b.query.now)
	}
	return b.days(after, before)
}

type finding func(field, value string) (search.Searcher, error)

func (b *builder) eitherOf(first, second finding, field, one, other string) (search.Searcher, error) {
	s, err := first(field, one)
	if err != nil {
		return nil, err
	}
	t, err := second(field, other)
	if err != nil {
		return nil, err
	}
	return b.keep(searcher.NewDisjunctionSearcher(b.ctx, b.reader, []search.Searcher{s, t}, 1, b.unranked()))
}

// mediaType finds a type by its whole name, by the part before the slash with a * behind it, or by the part
// behind it.
func (b *builder) mediaType(value string) (search.Searcher, error) {
	pattern := regexp.QuoteMeta(value)
	if kind, ok := strings.CutSuffix(value, "/*"); ok {
		pattern = regexp.QuoteMeta(kind) + "/.*"
	} else if !strings.Contains(value, "/") {
		pattern = "[^/]*/(x-)?(.*\\+)?" + pattern + "(\\+.*)?"
	}
	return b.keep(searcher.NewRegexpStringSearcher(b.ctx, b.reader, pattern, fieldType, 1, b.unranked()))
}

// days finds documents from a day on, and before a day.
func (b *builder) days(from, before string) (search.Searcher, error) {
	var low, high []byte
	if from != "" {
		low = []byte(from)
	}
	if before != "" {
		high = []byte(before)
	}
	include, exclude := true, false
	return b.keep(searcher.NewTermRangeSearcher(b.ctx, b.reader, low, high, &include, &exclude, fieldDay, 1, b.unranked()))
}
