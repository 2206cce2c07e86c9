package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/xmlschema"
	"github.com/webrace/webrace/xmlschema/httprequest"
)

// testStores makes a data directory that holds what a test gives: URDs and documents.
func testStores(ctx context.Context, globals cli.Globals, path string, t config.Test) (*pipeline.Resources, func() error, error) {
	urds, err := givenURDs(globals, t)
	if err != nil {
		return nil, nil, err
	}
	dir, err := storage.Open(path, storage.Options{})
	if err != nil {
		return nil, nil, err
	}
	if len(urds) > 0 {
		if _, err := importURDs(ctx, dir, urds); err != nil {
			return nil, nil, errors.Join(err, dir.Close())
		}
	}
	if err := storeGiven(dir, t); err != nil {
		return nil, nil, errors.Join(err, dir.Close())
	}
	resources := new(pipeline.Resources)
	pipeline.Provide(resources, dir)
	pipeline.Provide(resources, pipeline.StatesInMemory())
	pipeline.Provide[credentials.Open](resources, func() (credentials.Source, error) { return dir.Control() })
	pipeline.Provide[httprequest.Open](resources, func() (httprequest.Source, error) { return dir.Control() })
	return resources, dir.Close, nil
}

// givenURDs reads the URDs of a test: XML, or the name of a file beside the test.
func givenURDs(globals cli.Globals, t config.Test) ([]*xmlschema.URD, error) {
	for key := range t.Given {
		if key != "urds" && key != "documents" {
			return nil, fmt.Errorf("nothing reads given.%s: there are urds, XML or a file of it, and documents", key)
		}
	}
	text, ok := t.Given["urds"].(string)
	switch {
	case t.Given["urds"] == nil:
		return nil, nil
	case !ok:
		return nil, errors.New("given.urds is XML, or the name of a file of it")
	case !strings.HasPrefix(strings.TrimSpace(text), "<"):
		path := text
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(t.At.Pos.File), path)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		text = string(content)
	}
	urds, _, err := globals.ReadURDs(strings.NewReader(text), "given.urds", "")
	return urds, err
}

// fetchedPage is what a document of a test is unless the test gives other values.
var fetchedPage = pipeline.Table{"outcome": "fetched", "status": 200, "media_type": "text/html"}

// givenDocuments returns the documents that are stored before a test, as a crawl would have stored them.
func givenDocuments(t config.Test) ([]*webrace.Document, error) {
	if t.Given["documents"] == nil {
		return nil, nil
	}
	list, ok := t.Given["documents"].([]any)
	if !ok {
		return nil, errors.New("given.documents is a list of tables, each with url and body")
	}
	documents := make([]*webrace.Document, len(list))
	for i, entry := range list {
		d, err := givenDocument(entry)
		if err != nil {
			return nil, fmt.Errorf("given.documents, number %d: %w", i+1, err)
		}
		documents[i] = d
	}
	return documents, nil
}

func givenDocument(entry any) (*webrace.Document, error) {
	given, ok := entry.(map[string]any)
	body, isText := given["body"].(string)
	if !ok || !isText || given["url"] == nil {
		return nil, errors.New("it is no table with url and body")
	}
	fields := maps.Clone(map[string]any(fetchedPage))
	maps.Copy(fields, given)
	delete(fields, "body")
	header, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	v, err := codec.Decode("document", header, []byte(body))
	if err != nil {
		return nil, err
	}
	d := v.(*webrace.Document)
	r, err := extract.Document(d.Body, extract.ContentType(d.Header, d.MediaType), d.URL, extract.Options{})
	if err != nil {
		return nil, err
	}
	d.Digest = sha256.Sum256(d.Body)
	d.Charset, d.Language, d.Title, d.Text, d.Links = r.Charset, r.Language, r.Title, r.Text, r.Links
	return d, nil
}

// storeGiven stores them; several of one URL are versions of it.
func storeGiven(dir *storage.Dir, t config.Test) error {
	documents, err := givenDocuments(t)
	if err != nil || len(documents) == 0 {
		return err
	}
	store, err := dir.Objects()
	if err != nil {
		return err
	}
	for _, d := range documents {
		durable := make(chan error, 1)
		if _, err := store.Put(d, func(err error) { durable <- err }); err != nil {
			return fmt.Errorf("given.documents, %s: %w", d.URL, err)
		}
		if err := <-durable; err != nil {
			return fmt.Errorf("given.documents, %s: %w", d.URL, err)
		}
	}
	return nil
}

// completeDocument gives a document that a test calls not modified or fresh the version that is stored of it, and the
// visit that stored it, unless the test gives these.
func completeDocument(t config.Test, v any) (any, error) {
	d, ok := v.(*webrace.Document)
	if !ok || d.Outcome != webrace.NotModified && d.Outcome != webrace.Fresh || d.Visit != nil {
		return v, nil
	}
	documents, err := givenDocuments(t)
	if err != nil {
		return nil, err
	}
	visit := &webrace.Visit{Status: 200}
	for _, given := range documents {
		if given.URL == d.URL && given.Digest != visit.Digest {
			visit.Version, visit.Digest, visit.At = visit.Version+1, given.Digest, given.At
		}
	}
	if visit.Version == 0 {
		return nil, fmt.Errorf("%s is %s, but not stored: give it in given.documents, with its url and body", d.URL, d.Outcome)
	}
	completed := *d
	completed.Visit, completed.Version, completed.Digest = visit, visit.Version, visit.Digest
	if d.Outcome == webrace.NotModified && d.Status == 0 {
		completed.Status = 304
	}
	return &completed, nil
}
