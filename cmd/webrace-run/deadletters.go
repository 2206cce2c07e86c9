package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/control"
)

// deadLetters keeps the items that pipelines failed on in the control store.
type deadLetters struct {
	store   *control.Store
	session string // whose they are; sessions may share the store
}

// stored is how an item is written.
type stored struct {
	Value json.RawMessage   `json:"value"`
	Meta  map[string]string `json:"meta,omitempty"`
	Key   string            `json:"key,omitempty"`

	Session string `json:"session,omitempty"` // to which it comes back
}

func (d deadLetters) Put(ctx context.Context, r pipeline.DeadLetterRecord) error {
	item, err := json.Marshal(stored{r.Value, r.Meta, r.Key, d.session})
	if err != nil {
		return err
	}
	_, err = d.store.PutDeadLetter(ctx, control.DeadLetter{
		Time: r.Time, Pipeline: r.Pipeline, Stage: r.Stage, Error: strings.Join(r.Errors, "\n"),
		Attempts: r.Attempts, Kind: r.Kind, Item: item,
	})
	return err
}

func (d deadLetters) Replays(ctx context.Context, name string) ([]pipeline.DeadLetterRecord, error) {
	var records []pipeline.DeadLetterRecord
	for letter, err := range d.store.Replays(ctx, name) {
		if err != nil {
			return nil, err
		}
		var item stored
		if err := json.Unmarshal(letter.Item, &item); err != nil {
			return nil, fmt.Errorf("dead letter %s: %w", letter.ID, err)
		}
		if item.Session != d.session {
			continue
		}
		records = append(records, pipeline.DeadLetterRecord{
			ID: letter.ID, Time: letter.Time, Pipeline: letter.Pipeline, Stage: letter.Stage,
			Errors: strings.Split(letter.Error, "\n"), Attempts: letter.Attempts, Kind: letter.Kind,
			Value: item.Value, Meta: item.Meta, Key: item.Key,
		})
	}
	return records, nil
}

func (d deadLetters) Replayed(ctx context.Context, id string) error {
	return d.store.DeleteDeadLetter(ctx, id)
}
