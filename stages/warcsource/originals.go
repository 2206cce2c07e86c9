package warcsource

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/webrace/webrace/storage/objects/warc"
)

// originals finds the records whose bodies revisits repeat. The files are read for it when the first revisit
// comes, so archives without any cost nothing; then some 100 bytes are kept for each document.
type originals struct {
	files  []string
	places map[uint64]recordPlace // by id and by payload digest, as hashes
	file   *os.File               // the one that was read last
	open   int                    // its index
	reader *warc.Reader
}

// recordPlace is where a record is.
type recordPlace struct {
	file int
	warc.Place
}

// of returns the response that a revisit refers to; nil if it is in none of the files.
func (o *originals) of(revisit *warc.Record, limit int) (*warc.Response, error) {
	if o.places == nil {
		if err := o.scan(); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{revisit.RefersTo(), revisit.Field("WARC-Payload-Digest")} {
		at, ok := o.places[hashOf(name)]
		if !ok || name == "" {
			continue
		}
		r, err := o.read(at, name, limit)
		if r != nil || err != nil {
			return r, err
		}
	}
	return nil, nil
}

func hashOf(name string) uint64 { return xxhash.Sum64String(strings.ToLower(name)) }

// scan notes where every document with a body is.
func (o *originals) scan() error {
	o.places = make(map[uint64]recordPlace)
	for i := range o.files {
		if err := o.use(i); err != nil {
			return err
		}
		for {
			rec, err := o.reader.Next()
			var broken *warc.BrokenError
			if err == io.EOF {
				break
			}
			if errors.As(err, &broken) {
				continue // it is reported when its turn comes
			}
			if err != nil {
				return fmt.Errorf("read %s: %w", o.files[i], err)
			}
			o.note(recordPlace{i, rec.Place}, rec)
		}
	}
	return nil
}

// note keeps the first record of each name.
func (o *originals) note(at recordPlace, rec *warc.Record) {
	if rec.Type != warc.TypeResponse && rec.Type != warc.TypeResource {
		return
	}
	for _, name := range []string{rec.ID(), rec.Field("WARC-Payload-Digest")} {
		if _, known := o.places[hashOf(name)]; name != "" && !known {
			o.places[hashOf(name)] = at
		}
	}
}

// read returns the response at a place; nil if what is there does not have the name, which then only has the
// same hash.
func (o *originals) read(at recordPlace, name string, limit int) (*warc.Response, error) {
	if err := o.use(at.file); err != nil {
		return nil, err
	}
	if err := o.reader.Seek(at.Place); err != nil {
		return nil, fmt.Errorf("read %s: %w", o.files[at.file], err)
	}
	rec, err := o.reader.Next()
	if err != nil {
		return nil, &warc.DamagedError{Reason: "what it refers to: " + err.Error()}
	}
	if !strings.EqualFold(rec.ID(), name) && !strings.EqualFold(rec.Field("WARC-Payload-Digest"), name) {
		return nil, nil
	}
	if rec.Type == warc.TypeResource {
		return rec.Resource(limit)
	}
	return rec.Response(limit)
}

// use opens a file, unless it is open.
func (o *originals) use(index int) error {
	if o.file != nil && o.open == index {
		return nil
	}
	o.close()
	file, err := os.Open(o.files[index])
	if err != nil {
		return err
	}
	o.file, o.open = file, index
	if o.reader, err = warc.NewReader(file); err != nil {
		return fmt.Errorf("read %s: %w", o.files[index], err)
	}
	return nil
}

func (o *originals) close() {
	if o.file != nil {
		o.file.Close()
		o.file = nil
	}
}
