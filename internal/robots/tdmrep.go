package robots

import (
	"encoding/json"
	"strings"
)

// TDMRepPath is where a host has its file of the TDM Reservation Protocol.
const TDMRepPath = "/.well-known/tdmrep.json"

// TDMRep is a parsed tdmrep.json: rules with the patterns of robots.txt. It is immutable, and safe for concurrent use.
type TDMRep struct{ rules []tdmRule }

type tdmRule struct {
	rule
	reserved, policy string
}

// ParseTDMRep reads a file of at most [MaxBytes]. What is no list of rules states nothing, and neither does a rule
// without a location or with another reservation than 0 and 1.
func ParseTDMRep(body []byte) *TDMRep {
	var list []json.RawMessage
	if len(body) > MaxBytes || json.Unmarshal(body, &list) != nil {
		return &TDMRep{}
	}
	t := &TDMRep{}
	for i, text := range list {
		var r struct {
			Location    string          `json:"location"`
			Reservation json.RawMessage `json:"tdm-reservation"`
			Policy      string          `json:"tdm-policy"`
		}
		if json.Unmarshal(text, &r) != nil || !strings.HasPrefix(r.Location, "/") && !strings.HasPrefix(r.Location, "*") {
			continue
		}
		reserved := strings.Trim(string(r.Reservation), `"`)
		if reserved != "0" && reserved != "1" {
			continue
		}
		if len(r.Policy) > longestUsage || strings.ContainsFunc(r.Policy, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
			r.Policy = ""
		}
		t.rules = append(t.rules, tdmRule{rule: compile(i+1, r.Location, true), reserved: reserved, policy: r.Policy})
	}
	return t
}

// Usage returns what the first rule that matches a path, with its query, states, as fields of a header would; Line is
// the number of the rule, from 1.
func (t *TDMRep) Usage(path string) []Usage {
	if len(t.rules) == 0 {
		return nil
	}
	at := locate(path)
	for i := range t.rules {
		r := &t.rules[i]
		if !r.matches(at) {
			continue
		}
		stated := []Usage{{r.line, "tdm-reservation: " + r.reserved}}
		if r.policy != "" {
			stated = append(stated, Usage{r.line, "tdm-policy: " + r.policy})
		}
		return stated
	}
	return nil
}
