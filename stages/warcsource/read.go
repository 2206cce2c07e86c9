package warcsource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/objects/warc"
)

// position is where a record is in its file, as one growing number: the offset at which reading can begin,
// that of its gzip member, and which record it is from there on, counted from 1. So one less than the position of
// a record is where to go on when it, and nothing before it, is to be read again.
type position uint64

// perMember is how many records of one gzip member can be told apart. Files that are compressed as a whole
// have one member; of what lies further back in it, some is read again.
const perMember = 1 << 24

func positionOf(offset int64, n int) position {
	return position(offset)*perMember + position(min(n, perMember-1))
}

func (p position) offset() int64 { return int64(p / perMember) }
func (p position) records() int  { return int(p % perMember) }

// readFile emits what is in one file behind the place up to which it was dealt with.
func (s *stage) readFile(ctx context.Context, name string, first *originals, out pipeline.Emitter) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	records, err := warc.NewReader(file)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	cursor := s.env.Pipeline + "/" + s.env.Stage + "/" + name
	r := &reading{stage: s, name: name, records: records, originals: first, out: out}
	from, err := s.positionOf(cursor, records.Size())
	if err != nil {
		return err
	}
	r.progress = pipeline.NewProgress(uint64(from), 1, s.keeper(cursor))
	if err := r.goTo(from); err != nil {
		return err
	}
	return r.run(ctx)
}

// durably is how often a place is made durable, in documents and in time: so much is read again after a kill.
const (
	durably      = 64
	durablyAfter = time.Second
)

// keeper returns what keeps the places in a file. It is called by one goroutine at a time.
func (s *stage) keeper(cursor string) func(context.Context, uint64) error {
	n, last := 0, time.Now()
	return func(_ context.Context, to uint64) error {
		n++
		sync := n >= durably || time.Since(last) >= durablyAfter
		if sync {
			n, last = 0, time.Now()
		}
		return s.places.SetCursor(cursor, to, sync)
	}
}

// positionOf returns where to go on in a file of that size.
func (s *stage) positionOf(cursor string, size int64) (position, error) {
	if s.options.Restart {
		return 0, nil
	}
	kept, err := s.places.Cursor(cursor)
	if err != nil {
		return 0, err
	}
	if p := position(kept); p.offset() < size {
		return p, nil
	}
	return 0, nil // another file, under the same name
}

// reading is the work on one file.
type reading struct {
	*stage
	name      string
	records   *warc.Reader
	originals *originals
	out       pipeline.Emitter
	progress  *pipeline.Progress

	offset int64 // of the last record
	n      int   // which one it is at that offset
	skip   int   // how many records are to be passed over
}

// goTo goes to a position that was kept.
func (r *reading) goTo(p position) error {
	if p == 0 {
		return nil
	}
	if err := r.records.Seek(r.records.At(p.offset())); err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	r.skip = p.records()
	return nil
}

// run emits the rest of the file.
func (r *reading) run(ctx context.Context) error {
	for ctx.Err() == nil {
		rec, err := r.records.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			if err := r.broken(ctx, err); err != nil {
				return err
			}
			continue
		}
		if rec.Offset != r.offset {
			r.offset, r.n = rec.Offset, 0
		}
		r.n++
		if r.skip > 0 {
			r.skip--
			continue
		}
		if err := r.take(ctx, rec); err != nil {
			return err
		}
	}
	return nil
}

// broken rejects what is broken. Any other error ends reading.
func (r *reading) broken(ctx context.Context, err error) error {
	var broken *warc.BrokenError
	if !errors.As(err, &broken) {
		return fmt.Errorf("read %s: %w", r.name, err)
	}
	r.env.Counter("broken").Add(1)
	return r.reject(ctx, broken.Offset, "", "the record is broken: "+broken.Reason)
}

// reject leaves a record that gives no document to the error policy.
func (r *reading) reject(ctx context.Context, offset int64, url, why string) error {
	where := pipeline.Record{"file": r.name, "byte": float64(offset)}
	if url != "" {
		where["url"] = url
	}
	return pipeline.Reject(ctx, r.out, &pipeline.Item{Value: where}, fmt.Errorf("%s, byte %d: %s", r.name, offset, why))
}

// take emits what a record holds. The record's position counts as dealt with when that is, and at once if it
// holds nothing.
func (r *reading) take(ctx context.Context, rec *warc.Record) error {
	document, reading := r.document(rec)
	if err := rec.Verify(); err != nil {
		return r.broken(ctx, err)
	}
	var damaged *warc.DamagedError
	switch {
	case errors.As(reading, &damaged):
		r.env.Counter("undecodable").Add(1)
		if err := r.reject(ctx, rec.Offset, rec.URL(), "the record holds no document: "+damaged.Reason); err != nil {
			return err
		}
	case reading != nil:
		return fmt.Errorf("read %s: %w", r.name, reading)
	}
	at := uint64(positionOf(r.offset, r.n))
	r.progress.Begin(at)
	if document == nil {
		return r.progress.End(ctx, at, true)
	}
	r.env.Counter("documents").Add(1)
	return r.out.Emit(ctx, pipeline.NewItem(document, func(o pipeline.Outcome) {
		// The place is kept also while the run drains: what is done is done.
		if err := r.progress.End(context.WithoutCancel(ctx), at, o.Err == nil); err != nil {
			r.env.Logger.Error("place not kept; documents will be read again", "file", r.name, "error", err)
		}
	}).From(placeOf(rec)))
}

// placeOf returns where a document comes from: the id of its record, which no other has, and by which it is known in
// each file that it is copied to.
func placeOf(rec *warc.Record) (place string, number uint64) { return "record " + rec.ID(), 0 }
