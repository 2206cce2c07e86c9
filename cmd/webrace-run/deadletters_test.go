package main

import (
	"encoding/json"
	"testing"

	"github.com/webrace/webrace/pipeline"
)

// Sessions that share a store bury their items there together, and each gets its own back.
func TestDeadLettersComeBackToTheirSession(t *testing.T) {
	t.Parallel()
	store, closeStore := openControl(t, t.TempDir())
	defer closeStore()
	sessions := map[string]deadLetters{"": {store: store}, "03": {store, "03"}, "07": {store, "07"}}
	for name, letters := range sessions {
		value, err := json.Marshal("of session " + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := letters.Put(t.Context(), pipeline.DeadLetterRecord{Pipeline: "p", Stage: "s", Errors: []string{"no"}, Attempts: 1, Kind: "text", Value: value}); err != nil {
			t.Fatal(err)
		}
	}
	for letter, err := range store.DeadLetters(t.Context()) {
		if err == nil {
			err = store.MarkReplay(t.Context(), letter.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, letters := range sessions {
		replays, err := letters.Replays(t.Context(), "p")
		if err != nil || len(replays) != 1 || string(replays[0].Value) != `"of session `+name+`"` {
			t.Errorf("session %q gets back %+v, %v", name, replays, err)
		}
	}
}
