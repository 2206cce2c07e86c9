package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/xmlschema"
)

func tellCommand(ts *testscript.TestScript, _ bool, args []string) {
	count, err := strconv.Atoi(args[2])
	ts.Check(err)
	ts.Check(tell(ts.MkAbs(args[0]), args[1], count))
}

// tell stores annotations for an owner, in one group, the last of them the most relevant.
func tell(path, owner string, count int) (err error) {
	dir, err := storage.Open(path, storage.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
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
