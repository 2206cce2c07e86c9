package fulltext

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/collector"
	"github.com/blevesearch/bleve/v2/search/facet"
	index "github.com/blevesearch/bleve_index_api"

	"github.com/webrace/webrace/storage/internal/private"
)

// bleveIndex is an index of bleve's scorch, in a directory as bleve makes and opens one. Bleve's own front would bring
// the languages of its queries, its mappings and a second kind of index with three stores, which nothing here uses.
type bleveIndex struct {
	index.Index
	analysts *index.AnalysisQueue // who take the documents of a batch to pieces
}

// metaFile tells in the directory of an index of what kind it is.
const metaFile = "index_meta.json"

// What bleve's front writes for a new index: the kind, with the length of the name of an encryption behind it, of which
// there is none, and a mapping by which nothing of a document is indexed but what a caller has analyzed. That front
// refuses to open an index without them, as earlier releases do.
const (
	bleveMeta    = `{"storage":"scorch","index_type":"scorch"}` + "\x00\x00\x00\x00"
	bleveMapping = `{"default_mapping":{"enabled":false,"dynamic":false},"type_field":"_type","default_type":"_default",` +
		`"default_analyzer":"standard","default_datetime_parser":"dateTimeOptional","default_field":"_all",` +
		`"store_dynamic":false,"index_dynamic":false,"docvalues_dynamic":false,"analysis":{}}`
)

var mappingKey = []byte("_mapping")

// makeBleve makes an index in a directory, "" for one in memory.
func makeBleve(dir string) (*bleveIndex, error) {
	config := map[string]any{"path": ""}
	if dir != "" {
		if err := os.MkdirAll(dir, private.Dir); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, metaFile), []byte(bleveMeta), private.File); err != nil {
			return nil, err
		}
		config = map[string]any{"create_if_missing": true, "error_if_exists": true, "path": filepath.Join(dir, "store")}
	}
	l, err := startBleve(config)
	if err != nil {
		return nil, err
	}
	if err := l.SetInternal(mappingKey, []byte(bleveMapping)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// openBleve opens the index in a directory, with more of the library's configuration.
func openBleve(dir string, config map[string]any) (*bleveIndex, error) {
	text, err := os.ReadFile(filepath.Join(dir, metaFile))
	if err != nil {
		return nil, err
	}
	var meta struct {
		Storage string `json:"storage"`
		Type    string `json:"index_type"`
	}
	if err := json.Unmarshal(text[:jsonLength(text)], &meta); err != nil {
		return nil, fmt.Errorf("%s: %w", metaFile, err)
	}
	if meta.Storage != scorch.Name || meta.Type != scorch.Name {
		return nil, fmt.Errorf("%s names %q and %q, not %q", metaFile, meta.Storage, meta.Type, scorch.Name)
	}
	config["path"] = filepath.Join(dir, "store")
	ix, err := startBleve(config)
	if err != nil {
		return nil, err
	}
	if mapping, err := ix.GetInternal(mappingKey); err != nil || !json.Valid(mapping) { // as in an index whose segments are lost
		return nil, errors.Join(errors.New("it has no mapping"), err, ix.Close())
	}
	return ix, nil
}

// jsonLength returns how long the JSON is that a file begins with: bleve's front writes four zero bytes behind it.
func jsonLength(text []byte) int {
	if i := slices.Index(text, 0); i >= 0 {
		return i
	}
	return len(text)
}

func startBleve(config map[string]any) (*bleveIndex, error) {
	analysts := index.NewAnalysisQueue(4)
	made, err := scorch.NewScorch(scorch.Name, config, analysts)
	if err != nil {
		analysts.Close()
		return nil, err
	}
	l := &bleveIndex{made, analysts}
	if err := l.Open(); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Close ends the analysts, too.
func (l *bleveIndex) Close() error {
	defer l.analysts.Close()
	return l.Index.Close()
}

// GetInternal returns what is kept under a key, nil for nothing.
func (l *bleveIndex) GetInternal(key []byte) (value []byte, err error) {
	err = l.read(func(r index.IndexReader) error {
		value, err = r.GetInternal(key)
		return err
	})
	return value, err
}

// DocCount returns how many documents there are.
func (l *bleveIndex) DocCount() (n uint64, err error) {
	err = l.read(func(r index.IndexReader) error {
		n, err = r.DocCount()
		return err
	})
	return n, err
}

// read runs f on the index as it is now.
func (l *bleveIndex) read(f func(index.IndexReader) error) (err error) {
	reader, err := l.Reader()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	return f(reader)
}

// request is what is looked for.
type request struct {
	find       func(context.Context, index.IndexReader, search.SearcherOptions) (search.Searcher, error)
	size, from int
	order      []string          // names of fields, _id or _score, with a - in front where the last comes first
	after      []string          // values of those behind which the first is; nil for from
	fields     []string          // whose stored values are wanted
	facets     map[string]string // fields whose values are counted, by the names of the facets
	values     map[string]int    // how many of the values of a facet are wanted

	wanted func(*search.DocumentMatch) bool // reports which of the first are; nil: all
}

// found is what was found.
type found struct {
	hits   search.DocumentMatchCollection
	total  uint64
	facets search.FacetResults
}

// search finds documents of one moment.
func (l *bleveIndex) search(ctx context.Context, q request) (result found, err error) {
	err = l.read(func(r index.IndexReader) (err error) {
		searcher, err := q.find(ctx, r, search.SearcherOptions{})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, searcher.Close()) }()
		collected := q.collector(r)
		if err := collected.Collect(ctx, searcher, r); err != nil {
			return err
		}
		result = found{collected.Results(), collected.Total(), collected.FacetResults()}
		if q.wanted != nil {
			result.hits = slices.DeleteFunc(result.hits, func(hit *search.DocumentMatch) bool { return !q.wanted(hit) })
		}
		for _, hit := range result.hits {
			if err := q.load(hit, r); err != nil {
				return err
			}
		}
		return nil
	})
	return result, err
}

func (q request) collector(r index.IndexReader) *collector.TopNCollector {
	order := search.ParseSortOrderStrings(q.order)
	collected := collector.NewTopNCollector(q.size, q.from, order)
	if q.after != nil {
		collected = collector.NewTopNCollectorAfter(q.size, order, q.after)
	}
	if q.facets != nil {
		counts := search.NewFacetsBuilder(r)
		for name, field := range q.facets {
			counts.Add(name, facet.NewTermsFacetBuilder(field, q.values[name]))
		}
		collected.SetFacetsBuilder(counts)
	}
	return collected
}

// load reads the stored values of a document.
func (q request) load(hit *search.DocumentMatch, r index.IndexReader) error {
	document, err := r.Document(hit.ID)
	if err != nil {
		return err
	}
	if document == nil {
		return fmt.Errorf("%w: %q is found, and not there", ErrCorrupt, hit.ID)
	}
	document.VisitFields(func(f index.Field) {
		if !slices.Contains(q.fields, f.Name()) {
			return
		}
		switch value := f.(type) {
		case index.TextField:
			hit.AddFieldValue(f.Name(), value.Text())
		case index.NumericField:
			if n, err := value.Number(); err == nil {
				hit.AddFieldValue(f.Name(), n)
			}
		}
	})
	return nil
}
