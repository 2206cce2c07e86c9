package chunk

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/objects"
)

// withdraw tells that all pieces of a document are gone, if that holds for what is known of it, and forgets it: those
// of one that comes back are new.
func (s *stage) withdraw(ctx context.Context, it *pipeline.Item, out pipeline.Emitter, name string, holds func(name string, last known) (bool, error)) error {
	defer s.lock(name)()
	last, err := s.known(name)
	if err != nil || last.Options == (Options{}) { // nothing is known of it
		return err
	}
	if is, err := holds(name, last); err != nil || !is {
		return err
	}
	if err := s.noteGoing(ctx, name, last); err != nil {
		return err
	}
	_, url := cutName(name)
	if err := s.emitGone(ctx, it, out, url, last.Version, last.Pieces); err != nil {
		return err
	}
	return s.pieces.Put(it, name, nil)
}

// noteGoing remembers, before anything is told, that the pieces of a document are about to be gone. If the process is
// killed before that is noted as told, and the document has come back by then, its pieces are told as new.
func (s *stage) noteGoing(ctx context.Context, name string, last known) error {
	if last.Going || len(last.Pieces) == 0 {
		return nil
	}
	last.Going = true
	value, err := json.Marshal(last)
	if err != nil {
		return err
	}
	return s.pieces.Keep(ctx, name, value)
}

func always(string, known) (bool, error) { return true, nil }

// withdrawRemoved withdraws all documents of which the object cache has no version any more: those that nothing leads
// to, so that no request finds out whether they are still there.
func (s *stage) withdrawRemoved(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	if s.objects == nil {
		return nil
	}
	return s.pieces.Each(func(name string, _ []byte) error { return s.withdraw(ctx, it, out, name, s.isRemoved) })
}

// isRemoved reports whether no version of a document is stored that was. One that is new may be on its way to the disk
// yet, and can be pinned.
func (s *stage) isRemoved(name string, last known) (bool, error) {
	if last.Version == 0 {
		return false, nil
	}
	secret, url := cutName(name)
	if _, err := s.objects.Latest(objects.View(secret, url)); !errors.Is(err, objects.ErrNotFound) {
		return false, err
	}
	unpin, err := s.objects.Pin(objects.Version{URL: url, Secret: secret, Number: last.Version})
	if err == nil {
		unpin()
		return false, nil
	}
	if errors.Is(err, objects.ErrNotFound) {
		return true, nil
	}
	return false, err
}

func cutName(name string) (secret, url string) {
	if secret, url, both := strings.Cut(name, " "); both {
		return secret, url
	}
	return "", name
}

func (s *stage) emitGone(ctx context.Context, it *pipeline.Item, out pipeline.Emitter, url string, version int, pieces []knownPiece) error {
	for _, p := range pieces {
		s.gone.Add(1)
		gone := pipeline.Record{"id": p.ID, "change": "gone", "url": url, "version": float64(version)}
		if err := out.EmitTo(ctx, portGone, it.With(gone)); err != nil {
			return err
		}
	}
	return nil
}
