package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/stages/keywordfilter/explain"
	"github.com/webrace/webrace/storage/fulltext"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

type searchIn struct {
	Query    string   `json:"query" jsonschema:"words, or more: \"a phrase\", OR, -word, title:word, host:example.org, lang:en, type:pdf, after:2026-01-31, after:7d"`
	Hosts    []string `json:"hosts,omitempty" jsonschema:"on any of these hosts alone"`
	Language string   `json:"language,omitempty" jsonschema:"in this language alone, as en"`
	Type     string   `json:"type,omitempty" jsonschema:"of this media type alone, as html or application/pdf"`
	Versions bool     `json:"versions,omitempty" jsonschema:"superseded versions, too"`
	Sort     string   `json:"sort,omitempty" jsonschema:"relevance (the default), date (the oldest first), -date, url or host"`
	Page     int      `json:"page,omitempty" jsonschema:"which page of hits, from 1"`
	Limit    int      `json:"limit,omitempty" jsonschema:"how many hits on a page: 1 to 20, else 10"`
	URD      string   `json:"urd,omitempty" jsonschema:"the id of a watch of yours: search what its credentials show, and nothing else"`
}

type searchOut struct {
	Notice     string `json:"notice"`
	Hits       []hit  `json:"hits"`
	Total      uint64 `json:"total" jsonschema:"documents that match"`
	Page       int    `json:"page"`
	More       bool   `json:"more" jsonschema:"the next page has hits"`
	Relaxed    bool   `json:"relaxed,omitempty" jsonschema:"none has all the words: these have some"`
	DidYouMean string `json:"did_you_mean,omitempty"`
	Withheld   int    `json:"withheld,omitempty" jsonschema:"documents that are left out here, because their owners state that no model is to be given them"`
	Remark     string `json:"remark,omitempty"`
}

type hit struct {
	URL        string   `json:"url"`
	Title      string   `json:"title"`
	Version    int      `json:"version"`
	Superseded bool     `json:"superseded,omitempty"`
	Date       string   `json:"date,omitempty" jsonschema:"when the version was first seen"`
	Language   string   `json:"language,omitempty"`
	Type       string   `json:"type,omitempty"`
	Fragments  []string `json:"fragments" jsonschema:"parts of the text, with what was found in «»"`
}

var searchTool = define("search", "Find stored documents in full text, the best first, with the parts of each that answer. Read one with read.",
	looks, true, nil, search)

const (
	mostHits      = 20
	hitsOnPage    = 10
	fragmentsEach = 2
	longestQuery  = 2000
)

func search(ctx context.Context, d *Desk, in searchIn, say func(string)) (*searchOut, error) {
	q, page, err := in.query()
	if err != nil {
		return nil, err
	}
	index, urd, done, err := d.index(ctx, in.URD, say)
	if err != nil {
		return nil, err
	}
	defer done()
	results, err := index.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	cache, err := d.Dir.Objects()
	if err != nil {
		return nil, err
	}
	out := &searchOut{Notice: notice, Hits: []hit{}, Total: results.Total, Page: page, Relaxed: results.Relaxed}
	out.More = uint64(q.From+len(results.Hits)) < results.Total
	highlighter := fulltext.NewHighlighter(q.Text)
	secret := ""
	if urd != nil {
		secret = urd.Secret
	}
	for _, h := range results.Hits {
		if !d.isShown(urd, objects.Version{URL: h.URL, Secret: secret}) {
			out.Total--
			continue
		}
		found, err := d.fragmentsOf(ctx, cache, secret, highlighter, h)
		if errors.As(err, new(*withheldError)) {
			out.Withheld++
			continue
		}
		if err != nil {
			return nil, err
		}
		out.Hits = append(out.Hits, found)
	}
	return out, d.remark(ctx, index, in, out)
}

// query checks what is asked for.
func (in searchIn) query() (q fulltext.Query, page int, err error) {
	q = fulltext.Query{Text: in.Query, Hosts: in.Hosts, History: in.Versions, Sort: fulltext.Sort(in.Sort), Size: in.Limit}
	page = max(in.Page, 1)
	switch {
	case strings.TrimSpace(in.Query) == "":
		return q, 0, errors.New("query is empty: name the words to look for")
	case len(in.Query) > longestQuery:
		return q, 0, fmt.Errorf("query has %d bytes: %d are the most", len(in.Query), longestQuery)
	case in.Page < 0:
		return q, 0, fmt.Errorf("page %d: pages are counted from 1", in.Page)
	case in.Limit < 0 || in.Limit > mostHits:
		return q, 0, fmt.Errorf("limit %d: it is 1 to %d", in.Limit, mostHits)
	case q.Sort == "":
		q.Sort = fulltext.ByRelevance
	case !slices.Contains(fulltext.Sorts, q.Sort):
		return q, 0, fmt.Errorf("sort %q: it is relevance, date, -date, url or host", short(in.Sort, 50))
	}
	if q.Size == 0 {
		q.Size = hitsOnPage
	}
	if in.Language != "" {
		q.Languages = []string{in.Language}
	}
	if in.Type != "" {
		q.Types = []string{in.Type}
	}
	q.From = (page - 1) * q.Size
	return q, page, nil
}

// index returns what is searched: the index of what is for all, or one of what the credentials of a URD show, which is
// made for this search.
func (d *Desk) index(ctx context.Context, id string, say func(string)) (index *fulltext.Store, urd *xmlschema.URD, done func(), err error) {
	if id != "" {
		u, err := d.urd(ctx, id)
		if err != nil {
			return nil, nil, nil, err
		}
		urd = u.URD
	}
	if urd != nil && urd.Secret != "" {
		say("what its credentials show is indexed")
		if index, err = d.Dir.PrivateFulltext(ctx, urd.Secret); err != nil {
			return nil, nil, nil, err
		}
		return index, urd, func() { index.Close() }, nil // nothing of it was to be kept
	}
	if why, err := d.Dir.FulltextOutdated(); err != nil || why != "" {
		if err == nil {
			err = fmt.Errorf("the index has to be brought up to date first (%s): its operator runs webrace-run search", why)
		}
		return nil, nil, nil, err
	}
	index, err = d.Dir.Fulltext()
	return index, urd, func() {}, err
}

func (d *Desk) isShown(urd *xmlschema.URD, v objects.Version) bool {
	return d.Owner == "" || explain.IsShown(urd, v)
}

// fragmentsOf returns a hit with the parts of its text that answer best. What is gone, or cannot be read, has none.
func (d *Desk) fragmentsOf(ctx context.Context, cache *objects.Store, secret string, highlighter *fulltext.Highlighter, h fulltext.Hit) (hit, error) {
	found := hit{
		URL: h.URL, Title: short(h.Title, 300), Version: h.Version, Superseded: h.Superseded, Date: moment(h.Date), Language: h.Language, Type: h.Type, Fragments: []string{},
	}
	version, err := cache.Get(objects.View(secret, h.URL), h.Version)
	if err != nil {
		return found, ctx.Err()
	}
	stored, err := explain.Read(ctx, cache, version)
	if err != nil {
		return found, ctx.Err()
	}
	if err := d.Limits.allowsUse(h.URL, stored.Usage()); err != nil {
		return found, err
	}
	var text strings.Builder
	for _, block := range stored.Text.Blocks {
		if block.Field != webrace.FieldTitle && block.Field != webrace.FieldNavigation {
			text.WriteString(strings.Join(strings.Fields(string(stored.Text.Slice(block))), " ") + fulltext.BlockEnd)
		}
	}
	for _, fragment := range highlighter.Fragments(text.String(), h.Language, fragmentsEach, fulltext.Guillemets) {
		found.Fragments = append(found.Fragments, short(fragment, 1000))
	}
	return found, nil
}

// remark adds why there is nothing, or what else could be asked for.
func (d *Desk) remark(ctx context.Context, index *fulltext.Store, in searchIn, out *searchOut) error {
	if len(out.Hits) > 0 && !out.Relaxed {
		return nil
	}
	if better, err := index.Suggest(ctx, in.Query); err == nil {
		out.DidYouMean = better
	}
	if len(out.Hits)+out.Withheld > 0 {
		return nil
	}
	n, err := index.Count()
	switch {
	case err != nil:
		return err
	case n == 0:
		out.Remark = "nothing is indexed: the pipeline search fills the index"
	default:
		out.Remark = "nothing on this page"
		if waiting, err := d.Dir.Unsearchable(); err == nil && waiting > 0 && in.URD == "" {
			out.Remark += "; versions are stored that are not indexed yet"
		}
	}
	return nil
}
