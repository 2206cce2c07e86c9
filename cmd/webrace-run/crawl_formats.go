package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/reading"
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/storage/objects/archive"
)

// outputFields are what is written of a document as JSON, by the names of docs/kinds.md.
var outputFields = []string{
	"url", "status", "outcome", "at", "took_s", "media_type", "charset", "language", "title", "text", "links", "canonical",
	"digest", "version", "changed", "truncated", "header",
}

// jsonLines writes an object a line.
type jsonLines struct {
	out     *json.Encoder
	options outputOptions
}

func newJSONLines(out io.Writer, _ string, _ *storage.Dir, o outputOptions) (documentWriter, error) {
	return jsonLines{cli.NewEncoder(out), o}, nil
}

func (w jsonLines) write(ctx context.Context, d *webrace.Document) error {
	fields := codec.Fields(d, outputFields...)
	if !w.options.markdown {
		return w.out.Encode(fields)
	}
	page, err := reading.Of(ctx, d, reading.Options{All: w.options.all})
	if err != nil {
		return err
	}
	fields["markdown"] = string(page.Markdown)
	return w.out.Encode(fields)
}
func (w jsonLines) finish() error { return nil }

// outputColumns are those of CSV, in this order.
var outputColumns = []string{
	"url", "status", "outcome", "at", "media_type", "charset", "language", "title", "canonical", "links", "digest", "version", "changed", "truncated",
}

// csvLines writes a row a document, below one of the names.
type csvLines struct{ out *csv.Writer }

func newCSVLines(out io.Writer, _ string, _ *storage.Dir, _ outputOptions) (documentWriter, error) {
	w := csvLines{csv.NewWriter(out)}
	return w, w.out.Write(outputColumns)
}

func (w csvLines) write(_ context.Context, d *webrace.Document) error {
	err := w.out.Write([]string{
		d.URL, strconv.Itoa(d.Status), string(d.Outcome), d.At.UTC().Format(time.RFC3339), d.MediaType, d.Charset, d.Language, d.Title, d.Canonical,
		strconv.Itoa(len(d.Links)), d.Digest.String(), strconv.Itoa(d.Version), strconv.FormatBool(d.Changed), strconv.FormatBool(d.Truncated),
	})
	w.out.Flush()
	return errors.Join(err, w.out.Error())
}

func (w csvLines) finish() error { return nil }

// written is a version that a document of the run is of.
type written struct {
	view    string
	version int
}

// storedVersions yields those that are there. One that is not was removed since, or never became durable, as when its
// request failed.
func storedVersions(store *objects.Store, all []written) iter.Seq2[objects.Version, error] {
	return func(yield func(objects.Version, error) bool) {
		for _, wanted := range all {
			v, err := store.Get(wanted.view, wanted.version)
			if errors.Is(err, objects.ErrNotFound) {
				continue
			}
			if !yield(v, err) {
				return
			}
		}
	}
}

// warcFile writes the stored versions of documents, as they become durable: a little later than they pass.
type warcFile struct {
	store   *objects.Store
	export  *objects.Export
	waiting []written
	answers func() (*archive.Answers, error) // nil: documents alone
	all     []written                        // if there are answers
}

func newWARCFile(out io.Writer, name string, dir *storage.Dir, o outputOptions) (documentWriter, error) {
	store, err := dir.Objects()
	if err != nil {
		return nil, err
	}
	export, err := store.NewExport(out, name)
	w := &warcFile{store: store, export: export}
	if o.all && err == nil {
		w.answers, export.Requests = dir.Answers, true
	}
	return w, err
}

func (w *warcFile) write(_ context.Context, d *webrace.Document) error {
	w.waiting = append(w.waiting, written{objects.View(d.Secret, d.URL), d.Version})
	for len(w.waiting) > 0 {
		if err := w.next(); errors.Is(err, objects.ErrNotFound) {
			return nil // not durable yet
		} else if err != nil {
			return err
		}
	}
	return nil
}

// next writes the version that has waited for longest.
func (w *warcFile) next() error {
	v, err := w.store.Get(w.waiting[0].view, w.waiting[0].version)
	if err != nil {
		return err
	}
	if _, err := w.export.Write(v); err != nil {
		return err
	}
	if w.answers != nil {
		w.all = append(w.all, w.waiting[0])
	}
	w.waiting = w.waiting[1:]
	return nil
}

// finish writes the rest, and then what the documents link to that was none: only now it was asked for.
func (w *warcFile) finish() error {
	for len(w.waiting) > 0 {
		if err := w.next(); errors.Is(err, objects.ErrNotFound) {
			w.waiting = w.waiting[1:]
		} else if err != nil {
			return err
		}
	}
	if w.answers == nil {
		return nil
	}
	answers, err := w.answers()
	if err != nil {
		return err
	}
	return answers.Write(w.store, w.export, storedVersions(w.store, w.all))
}

// waczFile remembers which versions there were: a WACZ has an index, so that it can be written at the end alone.
type waczFile struct {
	store *objects.Store
	out   io.Writer
	all   []written

	answers func() (*archive.Answers, error) // nil: documents alone
}

func newWACZFile(out io.Writer, _ string, dir *storage.Dir, o outputOptions) (documentWriter, error) {
	store, err := dir.Objects()
	w := &waczFile{store: store, out: out}
	if o.all {
		w.answers = dir.Answers
	}
	return w, err
}

func (w *waczFile) write(_ context.Context, d *webrace.Document) error {
	w.all = append(w.all, written{objects.View(d.Secret, d.URL), d.Version})
	return nil
}

func (w *waczFile) finish() error {
	scratch, err := os.MkdirTemp("", "webrace-output-")
	if err != nil {
		return fmt.Errorf("sort the index: %w", err)
	}
	defer os.RemoveAll(scratch)
	selection := archive.Selection{Versions: storedVersions(w.store, w.all)}
	if w.answers != nil {
		if selection.Answers, err = w.answers(); err != nil {
			return err
		}
	}
	_, err = archive.WriteWACZ(context.Background(), w.store, w.out, scratch, selection)
	return err
}
