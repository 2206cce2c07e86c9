package archive

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/storage/objects/warc"
)

// kind is what a record holds of a document.
type kind uint8

const (
	whole    kind = iota // an HTTP response
	resource             // a body alone
	revisit              // a reference to another record's body
)

var kinds = map[string]kind{warc.TypeResponse: whole, warc.TypeResource: resource, warc.TypeRevisit: revisit}

// capture is a record that holds a document. Names are kept as hashes: if two of them agree by chance, what
// they are looked up for is still right, since records are compared by name when they are read.
type capture struct {
	place  warc.Place
	date   int64  // nanoseconds since 1970
	url    uint64 // of the target
	digest uint64 // of the payload; 0 when it has none
	id     uint64 // of the record, or of the one that a revisit refers to; 0 for none
	self   uint64 // of the record
	file   int32
	kind   kind
}

func (c capture) time() time.Time { return time.Unix(0, c.date).UTC() }

func hashOf(name string) uint64 {
	if name == "" {
		return 0
	}
	return xxhash.Sum64String(strings.ToLower(name))
}

// scan reads all files, and notes what is whole in them.
func (im *importer) scan() error {
	im.starts = make([]int64, len(im.files))
	whole := make([]bool, len(im.files))
	for i, name := range im.files {
		info, err := os.Stat(name)
		if err == nil && !info.Mode().IsRegular() {
			err = errors.New("it is no regular file: WARC files are read twice")
		}
		im.starts[i] = im.size
		if err != nil {
			im.refuse(i, err)
			continue
		}
		im.size, whole[i] = im.size+info.Size(), true
	}
	for i := range im.files {
		if !whole[i] {
			continue
		}
		noted, left := len(im.captures), maps.Clone(im.left)
		err := im.scanFile(int32(i))
		switch {
		case im.ctx.Err() != nil:
			return im.ctx.Err()
		case err != nil:
			im.captures, im.left, im.untold = im.captures[:noted], left, im.untold[:0]
			im.refuse(i, err)
		}
		im.tell()
	}
	return nil
}

// refuse notes that nothing is imported of a file.
func (im *importer) refuse(index int, err error) {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err // the file is named beside it
	}
	im.refused = append(im.refused, Refused{im.files[index], strings.TrimPrefix(err.Error(), im.files[index]+": ")})
}

// errNoWARC means that a file holds no record.
var errNoWARC = errors.New("this is no WARC file: there is no record in it")

func (im *importer) scanFile(index int32) error {
	if err := im.main.use(index); err != nil {
		return err
	}
	defer im.main.close() // it is read from the beginning again
	records := 0
	for n := 0; ; n++ {
		if err := im.ctx.Err(); err != nil {
			return err
		}
		rec, err := im.main.records.Next()
		if err == io.EOF {
			break
		}
		if n%progressEvery == 0 {
			im.options.Progress(im.starts[index]+im.main.records.Progress(), 2*im.size)
		}
		if err == nil {
			err = rec.Verify()
		}
		var broken *warc.BrokenError
		switch {
		case errors.As(err, &broken):
			im.skip(int(index), rec, broken.Offset, broken.Reason)
		case err != nil:
			return err
		default:
			records++
			im.note(index, rec)
		}
	}
	if records == 0 {
		return errNoWARC
	}
	return nil
}

// note keeps what is needed to find a record that holds a document, and counts others.
func (im *importer) note(file int32, rec *warc.Record) {
	k, holds := kinds[rec.Type]
	if !holds {
		im.left[rec.Type+" records"]++
		return
	}
	if im.noteScreenshot(file, rec) {
		return
	}
	if !urlnorm.HasAddress(rec.URL()) {
		im.left["records of other schemes than http, https, mid and ni"]++
		return
	}
	at, err := rec.Date()
	if err != nil {
		im.skip(int(file), rec, rec.Offset, fmt.Sprintf("its WARC-Date %v", err))
		return
	}
	c := capture{place: rec.Place, date: at.UnixNano(), url: hashOf(rec.URL()), digest: hashOf(rec.Field("WARC-Payload-Digest")), file: file, kind: k}
	c.self = hashOf(rec.ID())
	if c.id = c.self; k == revisit {
		c.id = hashOf(rec.RefersTo())
	}
	im.captures = append(im.captures, c)
}

// inOrder returns which capture is to be imported in the place of each, so that those of a URL come in the
// order of their dates, and the files are read from beginning to end where they are in that order already.
func inOrder(captures []capture) []int {
	sorted := make([]int, len(captures))
	for i := range sorted {
		sorted[i] = i
	}
	slices.SortFunc(sorted, func(a, b int) int {
		return cmp.Or(cmp.Compare(captures[a].url, captures[b].url), cmp.Compare(captures[a].date, captures[b].date), cmp.Compare(a, b))
	})
	order := make([]int, len(captures))
	for len(sorted) > 0 {
		n := 1
		for n < len(sorted) && captures[sorted[n]].url == captures[sorted[0]].url {
			n++
		}
		places := slices.Sorted(slices.Values(sorted[:n]))
		for i, place := range places {
			order[place] = sorted[i]
		}
		sorted = sorted[n:]
	}
	return order
}

// originals are the captures that revisits refer to, by id and by payload digest.
type originals map[uint64]int

func findOriginals(captures []capture) originals {
	wanted := originals{}
	for _, c := range captures {
		if c.kind == revisit {
			wanted[c.id], wanted[c.digest] = -1, -1
		}
	}
	delete(wanted, 0)
	if len(wanted) == 0 {
		return wanted
	}
	for i, c := range captures {
		if c.kind == revisit {
			continue
		}
		for _, name := range []uint64{c.id, c.digest} {
			if at, ok := wanted[name]; ok && at < 0 {
				wanted[name] = i
			}
		}
	}
	return wanted
}

// of returns the capture that a revisit refers to.
func (o originals) of(c capture) (int, bool) {
	for _, name := range []uint64{c.id, c.digest} {
		if at, ok := o[name]; ok && at >= 0 {
			return at, true
		}
	}
	return 0, false
}
