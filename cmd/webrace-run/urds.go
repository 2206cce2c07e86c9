package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/xmlschema"
)

// readURDs reads a file of URDs, all or none. Warnings go to w.
func readURDs(w io.Writer, globals *cli.Globals, path, owner string) ([]*xmlschema.URD, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, cli.Wrong(err)
	}
	defer file.Close()
	urds, warnings, err := globals.ReadURDs(file, path, owner)
	for _, warning := range warnings {
		fmt.Fprintln(cli.Prose(w), "warning:", warning)
	}
	return urds, err
}

// importURDs stores URDs and returns their ids.
func importURDs(ctx context.Context, dir *storage.Dir, urds []*xmlschema.URD) ([]string, error) {
	store, err := dir.Control()
	if err != nil {
		return nil, err
	}
	changes, err := store.Put(ctx, urds)
	if err != nil {
		return nil, fmt.Errorf("import URDs: %w", err)
	}
	ids := make([]string, len(changes))
	for i, change := range changes {
		ids[i] = change.ID
	}
	return ids, nil
}
