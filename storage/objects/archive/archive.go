// Package archive exchanges documents with other programs: it reads the WARC files of other crawlers into
// an object cache, and writes object caches as WARC and WACZ files.
//
// What it guarantees of an import:
//   - What a file holds whole goes in, what is damaged is reported, with its place and the reason.
//   - Documents go in as if they had been crawled when they were: decoded, with the text's charset, the
//     links that a crawl would have followed, and versions in the order of their dates. What a crawl does
//     not keep is left out: answers without a document, and pages that ask not to be indexed.
//   - To import something again adds nothing.
//   - Memory does not depend on the size of records: some 80 bytes are kept for each document of the files
//     that are imported together.
//
// And of an export: the file stands alone, since every body is in it before anything that refers to it,
// and none is there before it is complete.
package archive

import (
	"cmp"

	"github.com/webrace/webrace/internal/extract"
)

// maxBody is how much of a body is imported unless [Options] sets another limit.
const maxBody = 64 << 20

// Options of an import; the zero value is ready to use.
type Options struct {
	Extract      extract.Options // as the crawl would have extracted the documents
	IgnoreRobots bool            // take pages that ask not to be indexed, and links that ask not to be followed
	MaxBody      int             // what is longer is cut, and marked as truncated; 64 MiB when 0
	// Skipped is told of everything that should have been imported, and could not be.
	Skipped func(Skipped)
	// Progress is told from time to time how much of the files was read, which happens twice.
	Progress func(done, total int64)
}

func (o Options) withDefaults() Options {
	o.MaxBody = cmp.Or(o.MaxBody, maxBody)
	if o.Skipped == nil {
		o.Skipped = func(Skipped) {}
	}
	if o.Progress == nil {
		o.Progress = func(int64, int64) {}
	}
	return o
}

// Skipped is a record, or what lies in place of one, that was not imported.
type Skipped struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"`        // of the record, or of the gzip member that holds it
	URL    string `json:"url,omitempty"` // empty where none could be read
	Reason string `json:"reason"`
}

// Refused is a file of which nothing was imported, because it cannot be read or is no WARC file.
type Refused struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

// Imported counts what became of the records of files.
type Imported struct {
	Documents int            `json:"documents"` // documents read
	Versions  int            `json:"versions"`  // of these, new versions
	Known     int            `json:"known"`     // of these, known already, or equal to the version before
	Skipped   int            `json:"skipped"`   // what should have been imported, and could not be
	Left      map[string]int `json:"left"`      // what is not to be imported, by what it is
	Refused   []Refused      `json:"refused,omitempty"`
}
