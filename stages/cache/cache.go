// Package cache is the stage that keeps every version of every document in the object cache, and answers
// from it where nothing had to be fetched.
//
// A document that passes is durable before its request is acknowledged, and its version is not removed
// before. The stage aci-emit waits for it as well: whatever an annotation points to is there when the
// annotation is. For one that was not modified, or is still fresh, the links of the stored version go out
// instead of those of a page that was not sent.
//
// A document that a limit cut is never taken for complete. It is kept, and marked so, only while there is
// nothing better: over a complete version, that one goes on in its stead, unchanged and with its links. In
// either case the next visit asks for all of it again.
package cache

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/objects"
)

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "cache",
		Single:  true,
		Summary: "keeps every version of every document, and the links of those that did not change",
		Doc: "Documents that were not fetched anew go on with what is stored of them: always their links, and their body and text where a " +
			"stage behind it makes use of these. What it reads for that, the counter `recalled` says.",
		In:    pipeline.Kinds(pipeline.KindOf[*webrace.Document]()),
		Needs: pipeline.NoParts,
		Out: []pipeline.Port{
			{
				Kind: pipeline.KindOf[*webrace.Document](), Doc: "every document, with its digest and version",
				Adds: []pipeline.Addition{
					{Parts: []pipeline.Part{webrace.PartVersion}},
					{
						Parts: []pipeline.Part{webrace.PartBody, webrace.PartText, webrace.PartLinks},
						In:    []string{string(webrace.NotModified), string(webrace.Fresh)},
					},
				},
			},
			{Name: "links", Kind: pipeline.KindOf[*webrace.Links](), Doc: "the stored links of documents that were not fetched anew"},
		},
		Workers: 2,
	}, Options{Archive: "gzip"}, newStage)
}

// Options of the stage.
type Options struct {
	Archive string `toml:"archive" doc:"how records are compressed that are stored from now on, in segments named .warc.gz or .warc.zst: zstd takes less room, and fewer programs read it; exports are gzip in any case. It is for the whole data directory" enum:"gzip,zstd"`
}

type stage struct {
	env     *pipeline.Env
	objects *objects.Store
}

var _ pipeline.Processor = (*stage)(nil)

func newStage(o Options, env *pipeline.Env) (any, error) {
	dir, err := pipeline.Resource[*storage.Dir](env)
	if err != nil {
		return nil, err
	}
	store, err := dir.Objects()
	if err != nil {
		return nil, err
	}
	compression, err := objects.ParseCompression(o.Archive)
	if err == nil {
		err = store.Compress(compression)
	}
	if err != nil {
		return nil, err
	}
	return &stage{env: env, objects: store}, nil
}

func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	d, err := pipeline.ValueOf[*webrace.Document](it)
	if err != nil {
		return err
	}
	if d.Outcome == webrace.Fetched {
		return s.store(ctx, it, d, out)
	}
	return s.recall(ctx, it, d, out)
}

// store keeps a fetched document, and holds its request until it is durable.
func (s *stage) store(ctx context.Context, it *pipeline.Item, d *webrace.Document, out pipeline.Emitter) error {
	durable, written := it.Hold(), make(chan error, 1)
	version, err := s.objects.Put(d, func(err error) {
		written <- err
		durable(err)
	})
	if err != nil {
		durable(nil) // the error of this call decides
		if errors.Is(err, objects.ErrIncomplete) {
			s.env.Counter("truncated_ignored").Add(1)
			it.Learn(webrace.Learned((*webrace.Visit).ForgetValidators))
			return s.recall(ctx, it, instead(d), out)
		}
		return fmt.Errorf("store %s: %w", d.URL, err)
	}
	if version.Changed {
		s.env.Counter("versions").Add(1)
	}
	if err := s.pin(it, version); err != nil {
		if <-written != nil {
			return nil // it is lost, and the request is told why by what holds it
		}
		return pipeline.Retry(fmt.Errorf("store %s: %w", d.URL, err), time.Now()) // it was removed at once
	}
	truncated := d.Truncated // what is learned may be kept for longer than the document, and must not keep it
	it.Learn(webrace.Learned(func(v *webrace.Visit) {
		v.Digest, v.Version = version.Digest, version.Number
		if truncated {
			v.ForgetValidators()
		}
	}))
	return out.Emit(ctx, it.With(stored(d, version)))
}

// recall completes a document that was not fetched with what is stored of it.
func (s *stage) recall(ctx context.Context, it *pipeline.Item, d *webrace.Document, out pipeline.Emitter) error {
	version, err := s.validate(it, d)
	if err == nil {
		err = s.pin(it, version)
	}
	if errors.Is(err, objects.ErrNotFound) {
		return s.forget(d)
	}
	if err != nil {
		return fmt.Errorf("recall %s: %w", d.URL, err)
	}
	links, err := s.objects.Links(version)
	if err != nil {
		return fmt.Errorf("recall the links of %s: %w", d.URL, err)
	}
	it.Learn(recalled(version, d))
	whole := stored(d, version)
	if len(links) > 0 {
		whole.Links = links
	}
	if err := s.complete(whole, version); err != nil {
		return fmt.Errorf("recall %s: %w", d.URL, err)
	}
	if len(links) > 0 {
		set := &webrace.Links{From: d.URL, Reach: d.Reach, Via: webrace.ViaLink, URLs: links}
		if err := out.EmitTo(ctx, "links", it.With(set)); err != nil {
			return err
		}
	}
	return out.Emit(ctx, it.With(whole))
}

// recalled makes the next visit know what is stored. If that is another version than the last visit knew,
// because a request died between storing it and being done, what was confirmed is not what is stored:
// then the next visit fetches the document anew.
func recalled(version objects.Version, d *webrace.Document) webrace.Learned {
	known := d.Version
	return func(v *webrace.Visit) {
		v.Digest, v.Version = version.Digest, version.Number
		if version.Number != known {
			v.ForgetValidators()
		}
	}
}

// instead is what a document that was cut is replaced by: one that was not fetched, so that its stored version
// answers. That the server was asked does not validate it.
func instead(d *webrace.Document) *webrace.Document {
	return &webrace.Document{
		URL: d.URL, Reach: d.Reach, From: d.From, Visit: d.Visit, Outcome: webrace.Fresh, Origin: d.Origin, At: d.At, Took: d.Took,
		Secret: d.Secret, Redirects: d.Redirects,
	}
}

// pin keeps a version from being removed until its request is done. By then the owner who waits for the
// version has an annotation of it.
func (s *stage) pin(it *pipeline.Item, v objects.Version) error {
	unpin, err := s.objects.Pin(v)
	if err != nil {
		return err
	}
	it.OnEnd(unpin)
	return nil
}

// validate returns the stored version, and records that the server confirmed it. It is the latest that is
// durable, whose links can be read: another pipeline may be storing the next one.
func (s *stage) validate(it *pipeline.Item, d *webrace.Document) (objects.Version, error) {
	version, err := s.objects.Latest(objects.View(d.Secret, d.URL))
	if err != nil || d.Outcome != webrace.NotModified {
		return version, err
	}
	durable := it.Hold()
	if _, err := s.objects.Touch(objects.View(d.Secret, d.URL), d.At, durable); err != nil {
		durable(nil) // the error of this call decides
		return version, err
	}
	return version, nil
}

// forget sends the request of a document whose stored version is gone back, to be fetched as if it had never
// been.
func (s *stage) forget(d *webrace.Document) error {
	s.env.Counter("missing").Add(1)
	return pipeline.Retry(fmt.Errorf("%s: %w", d.URL, webrace.ErrNotStored), time.Now())
}

func stored(d *webrace.Document, v objects.Version) *webrace.Document {
	copied := *d
	copied.Digest, copied.Version, copied.Changed = v.Digest, v.Number, v.Changed
	copied.Screenshot = nil // it is stored, and takes room
	return &copied
}
