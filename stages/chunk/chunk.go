// Package chunk is the stage that cuts documents into pieces for a vector store: of a limited number of words, along
// the headings of the document, each with a name that stays while the piece does. From one version of a document to
// the next it tells which pieces are new and which are gone, so that the store is updated by what changed alone.
package chunk

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/reading"
	"github.com/webrace/webrace/internal/usage"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/objects"
)

// Options of the stage.
type Options struct {
	Words   int `toml:"words" doc:"the most words of a piece, 20 to 10000; of scripts without blanks between words, each character is one"`
	Overlap int `toml:"overlap" doc:"with how many words of the piece before in its section a piece begins; at most half of words"`

	Part      string `toml:"part" doc:"what of a page is cut: its main part, or all of it if it has none; or all of it" enum:"main,all"`
	ObeyUsage bool   `toml:"obey_usage" doc:"cut no pages whose owners state that models must not be given them (ai-input)"`
}

var defaults = Options{Words: 300, Overlap: 30, Part: reading.PartMain, ObeyUsage: true}

const (
	portGone = "gone"
	portSame = "same"
)

// The fields of a piece.
var fields = []string{"id", "change", "url", "version", "title", "language", "heading", "position", "words", "text"}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "chunk",
		Summary: "cuts documents into pieces for a vector store, and tells which are new and which are gone",
		Doc: "A piece is Markdown of at most `words` words. It is of one section, and names in `heading` the headings that this is under; a paragraph, list, table or block of code is cut " +
			"only if it is longer than a piece. Its `id`, a UUID, follows from the URL, the headings and the text, and stays while these do. A piece of the version before that is still there stays as it was, " +
			"so that a paragraph that changes changes the piece that it is in, and, by the overlap, at most the one behind it. What the stage " +
			"remembers of a document is part of the data directory: after a crash, pieces of which the end was not noted are told again, with the same id. A document that came cut off, or without text, makes nothing gone. " +
			"Of one that is told to be gone, by the ports `gone` of `fetch` and `normalize`, all pieces are, and of each that the object cache has no more when `gc` has removed what is old; those of one that comes back are new. " +
			"`new`, `gone` and `same` count pieces, `left_out` those of a document behind its first 10000; `forbidden` counts documents of which `obey_usage` lets none " +
			"be: what they had is gone.",
		In:    pipeline.Kinds(pipeline.KindOf[*webrace.Document](), pipeline.KindOf[*webrace.Gone](), pipeline.KindOf[storage.Collected]()),
		Needs: []pipeline.Part{webrace.PartBody, webrace.PartText},
		Uses:  []pipeline.Part{webrace.PartVersion},
		Out: []pipeline.Port{
			{Kind: pipeline.RecordOf(fields...), Doc: "the pieces that are new: `change` is \"new\""},
			{Name: portGone, Kind: pipeline.RecordOf("id", "change", "url", "version"), Doc: "the pieces that the document had, and has no more: `change` is \"gone\", `version` the one without them, or the last if there is no document any more"},
			{Name: portSame, Kind: pipeline.RecordOf(fields...), Doc: "the pieces that it had and has: `change` is \"same\""},
		},
		Workers: 2,
	}, defaults, newStage)
}

// Validate refuses sizes that make no pieces.
func (o Options) Validate() error {
	const fewest, most = 20, 10_000
	switch {
	case o.Words < fewest || o.Words > most:
		return &pipeline.OptionError{Option: "words", Err: fmt.Errorf("%d is not between %d and %d; a model that makes vectors takes some hundreds", o.Words, fewest, most)}
	case o.Overlap < 0 || o.Overlap > o.Words/2:
		return &pipeline.OptionError{Option: "overlap", Err: fmt.Errorf("%d is not between 0 and %d, half of words", o.Overlap, o.Words/2)}
	}
	return nil
}

type stage struct {
	options Options
	env     *pipeline.Env
	pieces  *pipeline.State
	objects *objects.Store // nil if the program has none
	seed    maphash.Seed
	locks   [64]sync.Mutex // of the documents whose names hash to them

	fresh, gone, same, leftOut, forbidden *atomic.Int64
}

var _ pipeline.Processor = (*stage)(nil)

func newStage(o Options, env *pipeline.Env) (any, error) {
	pieces, err := env.State("pieces")
	if err != nil {
		return nil, err
	}
	var store *objects.Store
	if dir, none := pipeline.Resource[*storage.Dir](env); none == nil {
		if store, err = dir.Objects(); err != nil {
			return nil, err
		}
	}
	return &stage{
		objects: store,
		options: o, env: env, pieces: pieces, seed: maphash.MakeSeed(),
		fresh: env.Counter("new"), gone: env.Counter("gone"), same: env.Counter("same"), leftOut: env.Counter("left_out"),
		forbidden: env.Counter("forbidden"),
	}, nil
}

// known is what is remembered of a document.
type known struct {
	Options Options      `json:"options"` // by which it was cut
	Digest  string       `json:"digest,omitempty"`
	Version int          `json:"version,omitempty"`
	Pieces  []knownPiece `json:"pieces"`

	Forbidden bool `json:"forbidden,omitempty"` // by what it came with when it was sent last
	Going     bool `json:"going,omitempty"`     // its pieces were about to be told as gone: whether they were is not known
}

type knownPiece struct {
	ID     string   `json:"id"`
	Blocks []uint64 `json:"blocks"` // the hashes of its blocks
}

// nameOf is by which name a document is remembered.
func nameOf(secret, url string) string {
	if secret != "" {
		return secret + " " + url // which is no URL
	}
	return url
}

// lock lets nothing else be told of a document until unlock is called.
func (s *stage) lock(name string) (unlock func()) {
	lock := &s.locks[maphash.String(s.seed, name)%uint64(len(s.locks))]
	lock.Lock()
	return lock.Unlock
}

func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	switch v := it.Value.(type) {
	case *webrace.Gone:
		return s.withdraw(ctx, it, out, nameOf(v.Secret, v.URL), always)
	case storage.Collected:
		return s.withdrawRemoved(ctx, it, out)
	}
	d, err := pipeline.ValueOf[*webrace.Document](it)
	if err != nil {
		return err
	}
	name := nameOf(d.Secret, d.URL)
	defer s.lock(name)()
	last, err := s.known(name)
	if err != nil {
		return err
	}
	if s.isKnown(d, last) {
		return s.noteVersion(it, name, d, last)
	}
	whole := *d
	if s.objects != nil {
		if whole.Header, whole.Body, err = s.objects.AsStored(d); err != nil {
			return err
		}
	}
	page, err := reading.Of(ctx, &whole, reading.Options{All: s.options.Part == reading.PartAll})
	if err != nil {
		return err
	}
	next := known{Options: s.options, Digest: d.Digest.String(), Version: d.Version, Forbidden: s.forbids(page.Usage)}
	var pieces []piece
	switch {
	case next.Forbidden:
		s.forbidden.Add(1)
	case s.forbidsNow(d):
		s.forbidden.Add(1)
		next.Digest = "" // so that it is looked at again when it is next confirmed
	case (len(page.Markdown) == 0 || d.Truncated) && len(last.Pieces) > 0:
		return s.noteVersion(it, name, d, last)
	default:
		pieces = s.cut(name, string(page.Markdown), last)
	}
	if err := s.emit(ctx, it, out, d, pieces, last); err != nil {
		return err
	}
	return s.remember(it, name, next, pieces)
}

// forbids reports whether a document is not to be cut by what is stated of its use.
func (s *stage) forbids(stated usage.Statements) bool {
	allowed, _ := stated.Allows(usage.AIInput)
	return s.options.ObeyUsage && !allowed
}

// forbidsNow reports the same of what came with an answer, which may have confirmed a document that was stored with
// other statements.
func (s *stage) forbidsNow(d *webrace.Document) bool {
	return s.forbids(usage.Of(d.URL, d.Header, nil))
}

// isKnown reports whether nothing is to be told of a document: it came before, or a later version did.
func (s *stage) isKnown(d *webrace.Document, last known) bool {
	switch same := d.Digest != (webrace.Digest{}) && d.Digest.String() == last.Digest; {
	case d.Version > 0 && d.Version < last.Version:
		return true
	case same && last.Forbidden && s.options.ObeyUsage:
		return d.Outcome != webrace.Fetched // a server that confirms a document does not send again what forbade it
	case !same || last.Going || last.Options != s.options || s.env.Leads(portSame) || s.forbidsNow(d):
		return false
	}
	s.same.Add(int64(len(last.Pieces)))
	return true
}

func (s *stage) known(name string) (k known, err error) {
	value, err := s.pieces.Get(name)
	if err != nil || value == nil {
		return k, err
	}
	if err := json.Unmarshal(value, &k); err != nil {
		return k, fmt.Errorf("what is remembered of %s cannot be read: %w", name, err)
	}
	return k, nil
}

// cut returns the pieces of a document, with their names.
func (s *stage) cut(name, text string, last known) []piece {
	var before [][]uint64
	if last.Options == s.options {
		for _, p := range last.Pieces {
			before = append(before, p.Blocks)
		}
	}
	pieces, leftOut := cut(text, s.options, before)
	s.leftOut.Add(int64(leftOut))
	identify(name, pieces)
	return pieces
}

// emit tells which pieces are new, which are the same and which are gone, each in the order of their documents.
func (s *stage) emit(ctx context.Context, it *pipeline.Item, out pipeline.Emitter, d *webrace.Document, pieces []piece, last known) error {
	had := make(map[string]bool, len(last.Pieces))
	for _, p := range last.Pieces {
		had[p.ID] = true
	}
	has := make(map[string]bool, len(pieces))
	for i, p := range pieces {
		has[p.id] = true
		port, change, count := "", "new", s.fresh
		if had[p.id] && !last.Going {
			port, change, count = portSame, "same", s.same
		}
		count.Add(1)
		if err := out.EmitTo(ctx, port, it.With(record(d, p, i+1, change))); err != nil {
			return err
		}
	}
	return s.emitGone(ctx, it, out, d.URL, d.Version, slices.DeleteFunc(last.Pieces, func(p knownPiece) bool { return has[p.ID] }))
}

func record(d *webrace.Document, p piece, position int, change string) pipeline.Record {
	heading := make([]any, len(p.heading))
	for i, h := range p.heading {
		heading[i] = h
	}
	return pipeline.Record{
		"id": p.id, "change": change, "url": d.URL, "version": float64(d.Version), "title": d.Title, "language": d.Language,
		"heading": heading, "position": float64(position), "words": float64(p.words), "text": p.text,
	}
}

// noteVersion remembers that a later version of a document changes nothing: it may be the only one that is stored.
func (s *stage) noteVersion(it *pipeline.Item, name string, d *webrace.Document, last known) error {
	if d.Version <= last.Version {
		return nil
	}
	last.Version = d.Version
	return s.put(it, name, last)
}

func (s *stage) remember(it *pipeline.Item, name string, k known, pieces []piece) error {
	k.Pieces = make([]knownPiece, len(pieces))
	for i, p := range pieces {
		k.Pieces[i] = knownPiece{p.id, p.hashes()}
	}
	return s.put(it, name, k)
}

func (s *stage) put(it *pipeline.Item, name string, k known) error {
	value, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return s.pieces.Put(it, name, value)
}
