package nntp

import (
	"encoding/json"
	"fmt"
)

// state is what is known of a group after a visit.
type state struct {
	Next int64  `json:"next"`           // from this number on, articles are new; 0 before the first visit
	Last int64  `json:"last,omitempty"` // the number of the last article that was read
	ID   string `json:"id,omitempty"`   // and its Message-ID, by which a group that was numbered anew is known
}

func (s state) write() []byte {
	text, _ := json.Marshal(s) // two numbers and a text
	return text
}

// readState reads what write wrote; that of a first visit is zero.
func readState(text []byte) (s state, err error) {
	if text == nil {
		return state{}, nil
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return state{}, fmt.Errorf("what is known of the newsgroup: %w", err)
	}
	return s, nil
}
