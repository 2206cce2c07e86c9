package usage

import "strings"

// tdmRepPath is where a host has its file of the TDM Reservation Protocol, as robots has it.
const tdmRepPath = "/.well-known/tdmrep.json"

// reserved is what one place states by the TDM Reservation Protocol (W3C Community Group, 2024).
type reserved struct {
	where  at
	value  string // "1" or "0"; empty if neither is stated
	policy string // the URL of the terms; empty if none is stated
}

// reserve reads a value. Any but 0 and 1 is an error of its owner and states nothing; of both, 1 counts.
func (t *reserved) reserve(value, text string) {
	if value = strings.TrimSpace(value); (value == "1" || value == "0") && t.value != "1" {
		t.value, t.where.text = value, text
	}
}

// reservation adds what is stated by the first place that states something: each supersedes those behind it, by the
// reservation and by the policy, each for itself. Mining is what makes a model, and what a model does with a page; an
// index that leads people to the page is none.
func (r *reader) reservation() {
	var first reserved
	for _, t := range r.tdm {
		if first.value == "" {
			first.value, first.where = t.value, t.where
		}
		if first.policy == "" {
			first.policy = t.policy
		}
	}
	if first.value == "" {
		return
	}
	allowed, policy := first.value == "0", first.policy
	if allowed {
		policy = ""
	}
	r.add(first.where, policy, []preference{{TextAndDataMining, allowed}, {TrainAI, allowed}, {AIInput, allowed}})
}
