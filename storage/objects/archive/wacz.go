package archive

import (
	"archive/zip"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/storage/internal/pebbledb"
	"github.com/webrace/webrace/storage/objects"
)

const (
	waczVersion = "1.1.1"
	waczRecords = "data.warc.gz" // the WARC file in a WACZ
)

// WriteWACZ writes versions as a WACZ file (Web Archive Collection Zipped, 1.1.1): a WARC file with an
// index of its records and a list of its pages, which players of archives open at once. The index is
// sorted in the empty directory scratch, and so does not have to fit into memory. WriteWACZ returns how
// many versions there were; the file is not whole when there is an error.
func WriteWACZ(ctx context.Context, store *objects.Store, out io.Writer, scratch string, s Selection) (n int, err error) {
	lines, err := pebbledb.Open(scratch, pebbledb.Options{
		Name: "index of a WACZ file", WithoutLog: true, Logger: slog.New(slog.DiscardHandler), // its errors are returned
	})
	if err != nil {
		return 0, fmt.Errorf("write WACZ file: sort its index: %w", err)
	}
	defer func() { err = errors.Join(err, lines.Close()) }()
	w := &wacz{zip: zip.NewWriter(out), lines: lines}
	if n, err = w.records(ctx, store, s); err != nil {
		return n, fmt.Errorf("write WACZ file: %w", err)
	}
	for _, step := range []func() error{w.index, w.pages, w.describe, w.zip.Close} {
		if err := step(); err != nil {
			return n, fmt.Errorf("write WACZ file: %w", err)
		}
	}
	return n, nil
}

type wacz struct {
	zip       *zip.Writer
	lines     pebbledb.DB // c and the key of a line of the index, p and the number of a page
	resources []waczResource
	number    uint64
}

type waczResource struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Hash  string `json:"hash"`
	Bytes int64  `json:"bytes"`
}

// hashed writes a file of the zip, and knows its digest.
type hashed struct {
	io.Writer
	hash hash.Hash
	size int64
}

func (h *hashed) Write(p []byte) (int, error) {
	n, err := h.Writer.Write(p)
	h.hash.Write(p[:n])
	h.size += int64(n)
	return n, err
}

// file adds a file to the zip; those that are compressed already are stored as they are, so that players
// can read records in place.
func (w *wacz) file(dir, name string, method uint16, write func(io.Writer) error) error {
	path := name
	if dir != "" {
		path = dir + "/" + name
	}
	out, err := w.zip.CreateHeader(&zip.FileHeader{Name: path, Method: method, Modified: time.Now().UTC()})
	if err != nil {
		return err
	}
	h := &hashed{Writer: out, hash: sha256.New()}
	if err := write(h); err != nil {
		return err
	}
	w.resources = append(w.resources, waczResource{name, path, "sha256:" + hex.EncodeToString(h.hash.Sum(nil)), h.size})
	return nil
}

func (w *wacz) records(ctx context.Context, store *objects.Store, s Selection) (n int, err error) {
	err = w.file("archive", waczRecords, zip.Store, func(out io.Writer) error {
		n, err = s.write(ctx, store, out, waczRecords, w.note, w.noteAnswer)
		return err
	})
	return n, err
}

// note keeps a version's lines of the index, and that of the list of pages where it is one.
func (w *wacz) note(v objects.Version, e objects.Exported) error {
	w.number++
	mediaType := v.MediaType
	if e.Revisit {
		mediaType = "warc/revisit"
	}
	if err := w.noteRecord(surt(v.URL), v.FetchedAt, indexLine{
		URL: v.URL, Mime: mediaType, Status: strconv.Itoa(cmp.Or(v.Status, http.StatusOK)), Digest: e.Digest, Length: e.Length, Offset: e.Offset,
	}); err != nil {
		return err
	}
	if s := e.Screenshot; s != nil { // found by its own URI, as browsertrix has it
		if err := w.noteRecord(s.URI, v.FetchedAt, indexLine{
			URL: s.URI, Mime: "image/png", Status: "200", Digest: s.Digest, Length: s.Length, Offset: s.Offset,
		}); err != nil {
			return err
		}
	}
	if v.MediaType != "text/html" && v.MediaType != "application/xhtml+xml" {
		return nil
	}
	return w.notePage(v, e)
}

// noteAnswer keeps the line of the index of an answer without a document.
func (w *wacz) noteAnswer(a objects.Answer, e objects.Exported) error {
	w.number++
	return w.noteRecord(surt(a.URL), a.At, indexLine{
		URL: a.URL, Mime: "unk", Status: strconv.Itoa(a.Status), Digest: e.Digest, Length: e.Length, Offset: e.Offset,
	})
}

// indexLine is what a line of the index holds of a record.
type indexLine struct {
	URL      string `json:"url"`
	Mime     string `json:"mime,omitempty"`
	Status   string `json:"status"`
	Digest   string `json:"digest"`
	Length   int64  `json:"length,string"`
	Offset   int64  `json:"offset,string"`
	Filename string `json:"filename"`
}

func (w *wacz) noteRecord(key string, at time.Time, l indexLine) error {
	l.Filename = waczRecords
	line, err := json.Marshal(l)
	if err != nil {
		return err
	}
	key += " " + at.UTC().Format("20060102150405")
	unique := binary.BigEndian.AppendUint64(append([]byte("c"+key), 0), w.number)
	return w.lines.Set(unique, []byte(key+" "+string(line)+"\n"), pebbledb.NoSync)
}

func (w *wacz) notePage(v objects.Version, e objects.Exported) error {
	r, err := extract.Text(e.Body, e.Header, v.MediaType, v.URL)
	if err != nil {
		return err
	}
	line, err := json.Marshal(struct {
		ID    string `json:"id"`
		URL   string `json:"url"`
		Time  string `json:"ts"`
		Title string `json:"title,omitempty"`
	}{strconv.FormatUint(w.number, 10), v.URL, v.FetchedAt.UTC().Format(time.RFC3339), r.Title})
	if err != nil {
		return err
	}
	return w.lines.Set(binary.BigEndian.AppendUint64([]byte("p"), w.number), append(line, '\n'), pebbledb.NoSync)
}

func (w *wacz) index() error {
	return w.file("indexes", "index.cdxj", zip.Deflate, func(out io.Writer) error { return w.copyLines(out, "c", "d") })
}

func (w *wacz) pages() error {
	return w.file("pages", "pages.jsonl", zip.Deflate, func(out io.Writer) error {
		if _, err := io.WriteString(out, `{"format":"json-pages-1.0","id":"pages","title":"All Pages"}`+"\n"); err != nil {
			return err
		}
		return w.copyLines(out, "p", "q")
	})
}

func (w *wacz) copyLines(out io.Writer, from, to string) error {
	it, err := w.lines.NewIter(pebbledb.IterOptions{LowerBound: []byte(from), UpperBound: []byte(to)})
	if err != nil {
		return err
	}
	defer it.Close()
	for it.First(); it.Valid(); it.Next() {
		if _, err := out.Write(it.Value()); err != nil {
			return err
		}
	}
	return it.Error()
}

// describe writes what is in the file, with the digest of each part, and the digest of that.
func (w *wacz) describe() error {
	description, err := json.MarshalIndent(struct {
		Profile   string         `json:"profile"`
		Version   string         `json:"wacz_version"`
		Created   string         `json:"created"`
		Software  string         `json:"software"`
		Resources []waczResource `json:"resources"`
	}{"data-package", waczVersion, time.Now().UTC().Format(time.RFC3339), "webrace", w.resources}, "", "  ")
	if err != nil {
		return err
	}
	if err := w.file("", "datapackage.json", zip.Deflate, func(out io.Writer) error { _, err := out.Write(description); return err }); err != nil {
		return err
	}
	digest, err := json.Marshal(map[string]string{"path": "datapackage.json", "hash": w.resources[len(w.resources)-1].Hash})
	if err != nil {
		return err
	}
	return w.file("", "datapackage-digest.json", zip.Deflate, func(out io.Writer) error { _, err := out.Write(digest); return err })
}
