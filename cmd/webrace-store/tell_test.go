package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/xmlschema"
)

func tellCommand(ts *testscript.TestScript, _ bool, args []string) {
	count, err := strconv.Atoi(args[2])
	ts.Check(err)
	withDir(ts, args[0], func(dir *storage.Dir) error { return tell(dir, args[1], count) })
}

// tell stores annotations for an owner, in one group, the last of them the most relevant.
func tell(dir *storage.Dir, owner string, count int) error {
	store, err := dir.Control()
	if err != nil {
		return err
	}
	var acis []*xmlschema.ACI
	for n := range count {
		acis = append(acis, &xmlschema.ACI{
			ID: fmt.Sprintf("%s%d", owner, n), URD: "u", Owner: owner, URI: fmt.Sprintf("%s%d", site, n), Title: fmt.Sprintf("Page %d", n),
			Format: xmlschema.FormatHTML, Relevance: n + 1, UpdateTime: fetchedAt, Urgency: 1,
		})
	}
	_, err = store.PutACIs(context.Background(), acis)
	return err
}
