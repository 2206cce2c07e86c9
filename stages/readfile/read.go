package readfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/webrace/webrace/pipeline"
)

// entry is one of a file.
type entry struct {
	at, end mark // where it begins, and what has been read with it
	value   any
	meta    map[string]string
	bad     *badRecord
}

// step is what a goroutine that reads hands over: some entries, and with the last of them how the file ended.
type step struct {
	entries []entry
	end     *ending
}

// ending is how the reading of a file has ended, for now.
type ending struct {
	at         mark
	in         *content // nil if it could not be opened
	header     []string
	unfinished bool  // a last line waits for its end
	held       *held // it stays open
	err        error
}

// mostAtOnce is how many entries the goroutine that reads hands over at once: one by one that costs more than to read
// them. None waits for one that has not come.
const mostAtOnce = 64

// follow emits what a goroutine reads, which is not waited for: nothing interrupts the opening of a pipe that
// no process writes to, nor a read of a terminal.
func (s *stage) follow(ctx context.Context, t *target, out pipeline.Emitter) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	steps := make(chan step)
	from := s.startOf(t)
	if id := t.id(); id != "" {
		t.place = "file " + id
	}
	send := func(next step) bool {
		select {
		case steps <- next:
			return true
		case <-ctx.Done():
			return false
		}
	}
	go func() {
		var end *ending
		if err := s.env.Try(func() (err error) {
			end, err = s.read(t, from, func(some []entry) bool { return send(step{entries: some}) })
			return err
		}); err != nil {
			end = &ending{err: err}
		}
		if !send(step{end: end}) {
			end.held.close()
		}
	}()
	for {
		select {
		case next := <-steps:
			for _, e := range next.entries {
				if err := s.emit(ctx, t, e, out); err != nil {
					return err
				}
			}
			if next.end != nil {
				return s.ended(ctx, t, next.end, out)
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// read reads a file; take is called for the entries, some at a time, until it asks to stop.
func (s *stage) read(t *target, from start, take func([]entry) bool) (*ending, error) {
	c, o, err := s.open(t, from)
	if err != nil {
		return nil, err
	}
	defer o.close()
	next := s.options.reader(c, o, s.options.waits() && !t.leaving)
	var meta map[string]string // of all entries
	var some []entry
	for {
		e := entry{at: c.mark}
		e.value, err = next()
		if err != nil && !errors.As(err, &e.bad) {
			break
		}
		if meta == nil && o.header != nil {
			meta = map[string]string{"columns": rowOf(o.header)}
			s.tellRenamed(t, o.renamed)
		}
		e.meta = meta
		c.Records++
		if e.end = c.mark; c.Records <= o.skip {
			continue
		}
		if some = append(some, e); len(some) < mostAtOnce && s.options.more(c) {
			continue
		}
		if !take(some) {
			return &ending{err: context.Canceled}, nil
		}
		some = nil
	}
	if len(some) > 0 && !take(some) {
		return &ending{err: context.Canceled}, nil
	}
	end := &ending{at: c.mark, in: c, header: o.header}
	switch {
	case errors.Is(err, errUnfinished):
		end.unfinished = true
	case !errors.Is(err, errEnd):
		end.err = err
	case c.Records < o.skip:
		end.err = errReplaced // by a shorter one
	}
	if end.err == nil && !c.zipped && len(c.passed) > 0 { // an empty file may become a compressed one
		end.held, o.stays = o.held, true
		end.held.tail = bytes.Clone(c.passed[max(0, len(c.passed)-tailBytes):])
	}
	return end, nil
}

// tellRenamed logs, once a file, which columns are renamed.
func (s *stage) tellRenamed(t *target, columns []string) {
	const most = 20
	if len(columns) == 0 {
		return
	}
	s.env.Logger.Warn("columns have the names of others, and are renamed", "file", t.path, "renamed", len(columns), "to", rowOf(columns[:min(len(columns), most)]))
}

// start is where the reading of a file goes on, for the goroutine that reads: what is known may be changed by others.
type start struct {
	known   bool
	at      mark
	begins  beginning
	header  []string
	held    *held
	mayHold bool
}

func (s *stage) startOf(t *target) start {
	k := t.known
	if k == nil {
		return start{}
	}
	return start{true, k.read, k.Begins, k.header, k.held, s.mayHold(k)}
}

// opened is a file that is about to be read.
type opened struct {
	held    *held
	stays   bool // open, when this reading has ended
	header  []string
	renamed []string // columns of these whose names others have, too
	skip    uint64   // entries to pass over, which have been dealt with
}

func (o *opened) close() {
	if !o.stays {
		o.held.close()
	}
}

// open opens a file where its reading is to go on.
func (s *stage) open(t *target, from start) (*content, *opened, error) {
	if from.held != nil {
		c, err := from.held.goOn(from)
		if err != nil {
			from.held.close()
		}
		return c, &opened{held: from.held, header: from.header}, err
	}
	file, err := os.Stdin, error(nil)
	switch {
	case from.known:
		file, err = t.open()
	case t.path != "-":
		file, err = os.Open(t.path)
	}
	if err != nil {
		return nil, nil, err
	}
	o := &opened{held: &held{file: file}}
	c, err := s.goTo(t, from, file, o)
	if err != nil {
		o.close()
	}
	return c, o, err
}

// goTo returns the content of a file from where its reading goes on.
func (s *stage) goTo(t *target, from start, file *os.File, o *opened) (*content, error) {
	c, err := contentOf(steadily(file))
	if err != nil {
		if from.at.Offset > 0 {
			err = asReplaced(err)
		}
		return nil, err
	}
	c.noting = from.mayHold
	isXML := s.options.Format == "xml"
	if isXML {
		c.decode()
	}
	switch {
	case !from.known:
		return c, nil
	case from.at.Offset < from.begins.Offset && !c.begins(from.begins):
		return nil, errReplaced
	case from.at.Records == 0 && from.at.Lines == 0: // nothing that matters has been read of it
		o.skip = s.positions.earlierOf(t.path, c)
		return c, nil
	case isXML: // whose elements have to be known from the root on
		if err := c.advance(from.at); err != nil {
			return nil, err
		}
		o.skip = from.at.Records
		if c, err = contentOf(steadily(file)); err == nil {
			c.decode()
		}
		return c, err
	case s.options.Format == "csv":
		if o.header, err = s.options.headerOf(c); err != nil {
			return nil, err
		}
	}
	return c, c.advance(from.at)
}

// emit passes on an entry. It comes from its offset in the file, whatever that is called, and from what is in the file
// up to its end: what is written in place of that is something else.
func (s *stage) emit(ctx context.Context, t *target, e entry, out pipeline.Emitter) error {
	it := &pipeline.Item{Value: e.value, Meta: e.meta}
	if e.bad != nil {
		it.Value = s.rejected(t, e.bad)
	}
	if k := t.known; k != nil {
		number := s.positions.begin(k, e.at, e.end)
		it = pipeline.NewItem(it.Value, func(o pipeline.Outcome) { s.saved(s.positions.end(k, number, o.Err == nil)) })
		it.Meta = e.meta
	}
	if t.place != "" {
		it.From(t.place, uint64(e.at.Offset)^uint64(e.end.Sum)<<32)
	}
	if e.bad == nil {
		return out.Emit(ctx, it)
	}
	s.env.Counter("bad_records").Add(1)
	return pipeline.Reject(ctx, out, it, fmt.Errorf("%s, %s: %w", t.path, s.lineAndColumn(e.bad.at, e.bad.error), e.bad.error))
}

// rejected is what is known of an entry that cannot be taken.
func (s *stage) rejected(t *target, bad *badRecord) pipeline.Record {
	r := pipeline.Record{"file": t.path, "line": float64(bad.at.Lines + 1)}
	if s.options.Format != "xml" { // which may be in another encoding
		r["byte"], r["text"] = float64(bad.at.Offset), bad.text
	}
	return r
}

// lineAndColumn returns where an error is: within a line if it knows that, else where its entry begins; bytes are
// counted from 0.
func (s *stage) lineAndColumn(at mark, err error) string {
	if within := new(columnError); errors.As(err, &within) {
		return fmt.Sprintf("line %d, column %d", within.line, within.column)
	}
	if s.options.Format == "xml" {
		return fmt.Sprintf("line %d", at.Lines+1)
	}
	return fmt.Sprintf("line %d, byte %d", at.Lines+1, at.Offset)
}

func (s *stage) saved(err error) {
	if err != nil {
		s.env.Logger.Error("positions not saved; records will be read again", "error", err)
	}
}

// ended notes how far a file has been read. One that cannot be read on is told and passed.
func (s *stage) ended(ctx context.Context, t *target, end *ending, out pipeline.Emitter) error {
	k := t.known
	var unreadable *fs.PathError
	switch {
	case errors.Is(end.err, context.Canceled):
		return nil
	case errors.Is(end.err, errMoved):
		return end.err
	case errors.Is(end.err, errReplaced) && t.gone:
		k.letGo()
		return nil
	case errors.Is(end.err, errReplaced) && k != nil:
		return s.readAnew(ctx, t, out)
	case errors.As(end.err, &unreadable) && !s.following():
		return end.err
	}
	if end.in != nil {
		s.count("invalid_text", end.in.invalid)
		s.count("duplicate_names", end.in.duplicates)
	}
	if k != nil {
		k.header, k.held = end.header, end.held
		s.positions.ended(k, end, stateOf(t.info, t.looked))
	}
	switch {
	case end.unfinished && !s.following():
		s.env.Counter("unfinished").Add(1)
		s.env.Logger.Warn(`a last line waits for its end; unfinished = "take" takes it as it is`, "file", t.path, "line", end.at.Lines+1)
		return nil
	case end.err == nil, s.following() && errors.Is(end.err, io.ErrUnexpectedEOF): // which is being written
		return nil
	}
	where := " at " + s.lineAndColumn(end.at, end.err)
	if s.options.Format == "xml" { // whose errors say it better
		where = ""
	}
	err := fmt.Errorf("%s cannot be read on%s: %w", t.path, where, end.err)
	if s.told[t.path] == err.Error() {
		return nil
	}
	s.told[t.path] = err.Error()
	return pipeline.Reject(ctx, out, &pipeline.Item{Value: s.rejected(t, &badRecord{at: end.at})}, err)
}

func (s *stage) count(name string, n int64) {
	if n > 0 {
		s.env.Counter(name).Add(n)
	}
}

// readAnew reads a file that holds something else than what has been read of it.
func (s *stage) readAnew(ctx context.Context, t *target, out pipeline.Emitter) error {
	s.env.Logger.Info("another file has taken its place, and is read from its beginning", "file", t.path)
	s.positions.forget(t.path)
	if t.known.fingerprint().Offset > 0 {
		s.replaced(t)
		return errMoved // what it holds may be another one's, whose inode is a third one's by now: all are compared
	}
	return s.follow(ctx, t, out)
}
