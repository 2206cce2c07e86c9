package imap

import (
	"encoding/json"
	"fmt"
	"slices"
)

// state is what is known of a mailbox after a visit.
type state struct {
	Validity uint32 `json:"uidvalidity"` // under which the UIDs hold
	Next     uint32 `json:"next"`        // from this UID on, messages are new
}

func (s state) write() []byte {
	text, _ := json.Marshal(s) // two numbers
	return text
}

// readState reads what write wrote; that of a first visit is zero.
func readState(text []byte) (s state, err error) {
	if text == nil {
		return state{}, nil
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return state{}, fmt.Errorf("what is known of the mailbox: %w", err)
	}
	return s, nil
}

// sorted are the UIDs in ascending order, each once.
func sorted(uids []uint32) []uint32 {
	slices.Sort(uids)
	return slices.Compact(uids)
}
