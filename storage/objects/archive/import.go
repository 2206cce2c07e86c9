package archive

import (
	"context"
	"fmt"

	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/storage/objects/warc"
)

// Import reads WARC files into an object cache. A file that cannot be read, or holds no record at all, is refused, and
// the others are imported. What was stored stays, also when the import is broken off.
func Import(ctx context.Context, store *objects.Store, files []string, o Options) (Imported, error) {
	im := &importer{ctx: ctx, options: o.withDefaults(), files: files, left: map[string]int{}}
	im.writer = newWriter(store)
	err := im.run()
	if settleErr := im.writer.settle(); err == nil {
		err = settleErr
	}
	if err != nil {
		err = fmt.Errorf("import WARC files: %w", err)
	}
	return Imported{im.documents, im.writer.versions, im.writer.known, im.skipped, im.left, im.refused}, err
}

// importer is one import.
type importer struct {
	ctx     context.Context
	options Options
	files   []string
	writer  *writer

	captures    []capture
	screenshots []screenshot // until it is known of which captures they are
	originals   originals
	shown       map[int]screenshot // of captures
	main        source             // reads the files from the beginning to the end
	side        source             // reads what is out of order, and what revisits refer to

	starts    []int64 // of the files, if they were one behind the other
	size      int64   // of all files
	documents int
	skipped   int
	left      map[string]int
	refused   []Refused
	untold    []Skipped
}

func (im *importer) run() error {
	im.main.files, im.side = im.files, source{files: im.files, seeks: true}
	defer im.main.close()
	defer im.side.close()
	if err := im.scan(); err != nil {
		return err
	}
	im.originals = findOriginals(im.captures)
	im.pairScreenshots()
	for slot, index := range inOrder(im.captures) {
		if err := im.ctx.Err(); err != nil {
			return err
		}
		if err := im.take(slot, index); err != nil {
			return err
		}
	}
	return nil
}

// skip notes what is skipped of a file. It is told once that is known to be a WARC file.
func (im *importer) skip(file int, rec *warc.Record, offset int64, reason string) {
	s := Skipped{File: im.files[file], Offset: offset, Reason: reason}
	if rec != nil {
		s.URL = rec.URL()
	}
	im.untold = append(im.untold, s)
}

func (im *importer) tell() {
	for _, s := range im.untold {
		im.skipped++
		im.options.Skipped(s)
	}
	im.untold = im.untold[:0]
}

// take imports a capture in the place of another.
func (im *importer) take(slot, index int) error {
	c := im.captures[index]
	from := &im.main
	if slot != index {
		from = &im.side
	}
	rec, err := from.record(c)
	if err != nil {
		return err
	}
	if slot == index && slot%progressEvery == 0 {
		im.options.Progress(im.size+im.starts[c.file]+rec.Offset, 2*im.size)
	}
	d, reason, err := im.document(rec, c)
	switch {
	case err != nil:
		return err
	case d != nil:
		im.documents++
		if d.Screenshot, err = im.screenshotOf(index); err != nil {
			return err
		}
		if reason, err = im.writer.put(d); err != nil {
			return err
		}
	}
	if reason != "" {
		im.skip(int(c.file), rec, rec.Offset, reason)
		im.tell()
	}
	return nil
}

// progressEvery is how many records lie between two reports of progress.
const progressEvery = 256
