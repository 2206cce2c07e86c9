package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/stages/keywordfilter/explain"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

// Desk runs tools over an open data directory, in the name of an owner.
type Desk struct {
	Owner   string // empty: the operator, to whom all is shown
	Limits  Limits
	Globals *cli.Globals
	Dir     *storage.Dir
	Queues  func(func(explain.Queues) error) error // runs a function on the queues of all pipelines
	Running bool                                   // pipelines run over the directory
}

// NotStoredError means that a document is not stored, as far as the owner is shown.
type NotStoredError struct{ URL string }

func (e *NotStoredError) Error() string {
	return fmt.Sprintf("%s is not stored: search finds what is, and watch has it fetched from now on", e.URL)
}

// Call is a [Caller].
func (d *Desk) Call(ctx context.Context, name string, arguments json.RawMessage, say func(string)) (answer json.RawMessage, err error) {
	defer recovered(name, &err)
	i := slices.IndexFunc(tools, func(t tool) bool { return t.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no tool %q", name)
	}
	answer, err = tools[i].call(ctx, d, arguments, say)
	if err == nil {
		err = ctx.Err()
	}
	return answer, err
}

// address returns a URL as it is written in the stores.
func address(url string) (string, error) {
	normalized, err := urlnorm.ParseAddress(url)
	if errors.Is(err, urlnorm.ErrScheme) {
		normalized, err = xmlschema.ParseStart(url)
	}
	if err != nil {
		return "", fmt.Errorf("%q is no address of a document: write it in full, as https://example.org/", short(url, 200))
	}
	return normalized, nil
}

// seen is a document as an owner sees it.
type seen struct {
	cache *objects.Store
	urd   *xmlschema.URD // by which they see it; nil: as all do
	all   bool           // whatever it is, it may be seen
	url   string
	view  string
}

// see returns how the owner sees a URL: as all do, or as one of their URDs does.
func (d *Desk) see(ctx context.Context, url, urd string) (s *seen, err error) {
	s = &seen{all: d.Owner == ""}
	if s.url, err = address(url); err != nil {
		return nil, err
	}
	if s.cache, err = d.Dir.Objects(); err != nil {
		return nil, err
	}
	secret := ""
	if urd != "" {
		u, err := d.urd(ctx, urd)
		if err != nil {
			return nil, err
		}
		s.urd = u.URD
		secret, s.url = explain.ViewOf(u, s.url)
	}
	s.view = objects.View(secret, s.cache.Spelling(secret, s.url))
	return s, nil
}

// urd returns one of the owner's URDs; if it asks with credentials, they are the owner's, or granted to them.
func (d *Desk) urd(ctx context.Context, id string) (control.URD, error) {
	store, err := d.Dir.Control()
	if err != nil {
		return control.URD{}, err
	}
	if d.Owner == "" {
		u, err := store.Get(ctx, id)
		return u, noURD(err, id)
	}
	u, err := store.Of(d.Owner).URD(ctx, id)
	if err != nil {
		return u, noURD(err, id)
	}
	names := u.Secrets()
	for secret, err := range store.Of(d.Owner).Secrets(ctx) {
		if err != nil {
			return u, err
		}
		names = slices.DeleteFunc(names, func(name string) bool { return name == secret.Name })
	}
	if len(names) > 0 {
		return u, &control.ForbiddenSecretError{Names: names}
	}
	return u, nil
}

func noURD(err error, id string) error {
	if errors.Is(err, control.ErrNotFound) {
		return fmt.Errorf("you have no watch %q: watch with action list shows those that you have", short(id, 100))
	}
	return err
}

// mayBeSeen reports whether the owner is shown a version.
func (s *seen) mayBeSeen(v objects.Version) bool { return s.all || explain.IsShown(s.urd, v) }

// version returns one of the document, the latest for 0.
func (s *seen) version(number int) (objects.Version, error) {
	if number < 0 {
		return objects.Version{}, fmt.Errorf("version %d: versions are numbered from 1", number)
	}
	v, err := s.cache.Get(s.view, number)
	if err == nil && !s.mayBeSeen(v) {
		err = objects.ErrNotFound
	}
	if !errors.Is(err, objects.ErrNotFound) {
		return v, err
	}
	there, err := s.history()
	if err != nil {
		return v, err
	}
	return v, fmt.Errorf("there is no version %d of %s: those that are stored are %d to %d", number, s.shownURL(), there[0].Number, there[len(there)-1].Number)
}

// history returns the versions that the owner is shown, of which there is one at least, the oldest first.
func (s *seen) history() ([]objects.Version, error) {
	all, err := s.cache.History(s.view)
	if err != nil && !errors.Is(err, objects.ErrNotFound) {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(v objects.Version) bool { return !s.mayBeSeen(v) })
	if len(all) == 0 {
		return nil, &NotStoredError{s.shownURL()}
	}
	return all, nil
}

// shownURL is the address without the mark of a request.
func (s *seen) shownURL() string { return unmarked(s.url) }

func unmarked(address string) string {
	url, _ := urlnorm.CutMark(address)
	return url
}

// owned returns what is an owner's: the one in whose name the desk works, or whom the operator names.
func (d *Desk) owned(named string) (control.Owned, error) {
	store, err := d.Dir.Control()
	switch {
	case err != nil:
		return control.Owned{}, err
	case d.Owner != "" && named != "" && named != d.Owner:
		return control.Owned{}, fmt.Errorf("you act as %s, and have nothing of others: leave owner out", d.Owner)
	case d.Owner != "":
		return store.Of(d.Owner), nil
	case named == "":
		return control.Owned{}, errors.New("you act as the operator: name the owner that is meant, as owner")
	}
	return store.Of(named), nil
}
