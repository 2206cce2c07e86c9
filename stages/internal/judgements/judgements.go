// Package judgements is where the stage ask keeps by which answers it dropped annotations, for who explains why an
// owner was not told.
package judgements

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/webrace/webrace/storage/states"
	"github.com/webrace/webrace/xmlschema"
)

// State is the name of the state of a stage ask.
const State = "answers"

// Refusal is what is kept of an annotation that was dropped, under [Key].
type Refusal struct {
	Day       int64                      `json:"day"` // since 1970, UTC
	Judgement *xmlschema.RecordJudgement `json:"judgement"`
}

// Key is the key of what is kept of an annotation.
func Key(aci string) string { return "no/" + aci }

// Find returns the judgement by which a stage of some pipeline has dropped an annotation; nil if none has.
func Find(store *states.Store, aci string) (*xmlschema.Judgement, error) {
	names, err := store.Names()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !strings.HasSuffix(name, "/"+State) {
			continue
		}
		value, err := store.Get(name, Key(aci))
		if err != nil {
			return nil, err
		}
		if value == nil {
			continue
		}
		var r Refusal
		if err := json.Unmarshal(value, &r); err != nil {
			return nil, fmt.Errorf("what state %s has of annotation %s is damaged: %w", name, aci, err)
		}
		return (*xmlschema.Judgement)(r.Judgement), nil
	}
	return nil, nil
}
