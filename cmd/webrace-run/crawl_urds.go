package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// ofCommand is what the ids of URDs are derived from that a command makes, instead of their interests: the same command
// with other keywords changes them.
const ofCommand = "webrace-run crawl"

// commandURDs are the URDs of a command, each known by its start and its owner.
type commandURDs struct {
	urds   []*xmlschema.URD
	before map[string][]*xmlschema.URD // by id, what each replaces, as it was stored before the command
}

// subscribe stores the URDs, and reports to w which of them replace what the same command asked for before.
func (u *commandURDs) subscribe(ctx context.Context, dir *storage.Dir, w io.Writer) error {
	store, err := dir.Control()
	if err != nil {
		return err
	}
	w = cli.Prose(w)
	before := make(map[string][]*xmlschema.URD)
	for _, urd := range u.urds {
		replaced, err := replacedBy(ctx, store, urd, w)
		if err != nil {
			return err
		}
		before[urd.ID] = replaced
	}
	if _, err = importURDs(ctx, dir, u.urds); err != nil {
		return err
	}
	u.before = before
	for id, replaced := range before {
		for _, old := range replaced {
			if old.ID != id {
				err = errors.Join(err, store.Delete(ctx, old.ID))
			}
		}
	}
	return err
}

// replacedBy gives a URD of the command its id, and returns what it replaces.
func replacedBy(ctx context.Context, store *control.Store, urd *xmlschema.URD, w io.Writer) (replaced []*xmlschema.URD, err error) {
	own, same := xmlschema.DeriveID(urd.Owner, urd.Source(), ofCommand), xmlschema.DeriveID(urd.Owner, urd.Source(), urd.InterestHash())
	urd.ID = own
	var earlier []*xmlschema.URD
	for stored, err := range store.ByOwner(ctx, urd.Owner) {
		switch {
		case err != nil:
			return nil, err
		case stored.ID == same: // by an earlier release, or a file: it is the same
			urd.ID = same
			replaced = append(replaced, stored.URD)
		case stored.ID == own:
			replaced = append(replaced, stored.URD)
		case isOfEarlierRelease(stored.URD, urd):
			earlier = append(earlier, stored.URD)
		}
	}
	if len(replaced) == 0 && len(earlier) == 1 { // several are rather those of a file
		replaced = earlier
	}
	for _, old := range replaced {
		if old.InterestHash() != urd.InterestHash() {
			fmt.Fprintf(w, "%s is told at %s of %s from now on, and not of %s any more\n", urd.Owner, urd.URI, cli.Interest(urd), cli.Interest(old))
		}
	}
	return replaced, nil
}

// isOfEarlierRelease reports whether a stored URD is one that the command stored before it knew its URDs by their
// starts: its id follows from its interest, and but for depth, scope and keywords it is as the command makes them.
func isOfEarlierRelease(stored, urd *xmlschema.URD) bool {
	if stored.URI != urd.URI || stored.ID != xmlschema.DeriveID(stored.Owner, stored.Source(), stored.InterestHash()) {
		return false
	}
	made := *urd
	made.ID, made.Depth, made.Scope = stored.ID, stored.Depth, stored.Scope
	made.Keywords = xmlschema.NewKeywords(slices.Collect(stored.Keywords.Positive())...)
	made.Keywords.Threshold = stored.Keywords.Threshold
	return bytes.Equal(made.Canonical(), stored.Canonical())
}

// takeBack undoes what the command stored, where that has failed before anything came, and reports why: the corrected
// command is another one, and would be told of the same pages besides.
func (u *commandURDs) takeBack(ctx context.Context, dir *storage.Dir, w io.Writer, why string, failed func(*xmlschema.URD) bool) error {
	store, err := dir.Control()
	if err != nil {
		return err
	}
	w = cli.Prose(w)
	for _, urd := range u.urds {
		before, stored := u.before[urd.ID]
		if !stored || !failed(urd) {
			continue
		}
		if err := restore(ctx, store, dir, urd, before); err != nil {
			return err
		}
		delete(u.before, urd.ID) // of a start that was given twice
		if len(before) == 0 {
			fmt.Fprintf(w, "%s is not told of %s further on, because %s\n", urd.Owner, urd.URI, why)
		}
		for _, old := range before {
			if old.InterestHash() != urd.InterestHash() {
				fmt.Fprintf(w, "%s is told at %s of %s as before, because %s\n", urd.Owner, urd.URI, cli.Interest(old), why)
			}
		}
	}
	return nil
}

// restore stores what was there before a URD instead of it.
func restore(ctx context.Context, store *control.Store, dir *storage.Dir, urd *xmlschema.URD, before []*xmlschema.URD) error {
	if !slices.ContainsFunc(before, func(old *xmlschema.URD) bool { return old.ID == urd.ID }) {
		if err := store.Delete(ctx, urd.ID); err != nil {
			return err
		}
	}
	_, err := importURDs(ctx, dir, before)
	return err
}
