package main

import (
	"context"
	"errors"
	"fmt"
	"io"

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
	before map[string]*xmlschema.URD // by id, as they were stored before the command; nil of what was not
}

// subscribe stores the URDs, and says to w which of them replace what the same command asked for before.
func (u *commandURDs) subscribe(ctx context.Context, dir *storage.Dir, w io.Writer) error {
	store, err := dir.Control()
	if err != nil {
		return err
	}
	u.before = make(map[string]*xmlschema.URD)
	for _, urd := range u.urds {
		urd.ID = xmlschema.DeriveID(urd.Owner, urd.Source(), urd.InterestHash())
		before, err := storedURD(ctx, store, urd.ID) // by an earlier release, or a file: it is the same
		if err == nil && before == nil {
			urd.ID = xmlschema.DeriveID(urd.Owner, urd.Source(), ofCommand)
			before, err = storedURD(ctx, store, urd.ID)
		}
		if err != nil {
			return err
		}
		u.before[urd.ID] = before
		if before != nil && before.InterestHash() != urd.InterestHash() {
			fmt.Fprintf(cli.Prose(w), "%s is told at %s of %s from now on, and not of %s any more\n", urd.Owner, urd.URI, cli.Interest(urd), cli.Interest(before))
		}
	}
	_, err = importURDs(ctx, dir, u.urds)
	return err
}

// storedURD returns a URD by its id; nil if there is none.
func storedURD(ctx context.Context, store *control.Store, id string) (*xmlschema.URD, error) {
	stored, err := store.Get(ctx, id)
	if errors.Is(err, control.ErrNotFound) {
		return nil, nil
	}
	return stored.URD, err
}

// takeBack undoes what the command stored for starts of which nothing came: the corrected command is another one, and
// would be told of the same pages besides.
func (u *commandURDs) takeBack(ctx context.Context, dir *storage.Dir, w io.Writer) error {
	store, err := dir.Control()
	if err != nil {
		return err
	}
	failed, err := failedStarts(dir, "crawl")
	if err != nil {
		return err
	}
	for _, urd := range u.urds {
		crawl, starts, err := control.CrawlOf(urd)
		if err != nil || !starts || !failed[crawl.ID] {
			continue
		}
		switch before := u.before[urd.ID]; {
		case before == nil:
			err = store.Delete(ctx, urd.ID)
			fmt.Fprintf(cli.Prose(w), "%s is not told of %s further on, because its start gave no answer\n", urd.Owner, urd.URI)
		case before.InterestHash() != urd.InterestHash():
			_, err = importURDs(ctx, dir, []*xmlschema.URD{before})
			fmt.Fprintf(cli.Prose(w), "%s is told at %s of %s as before, because its start gave no answer\n", urd.Owner, urd.URI, cli.Interest(before))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
