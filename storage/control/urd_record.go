package control

import "github.com/webrace/webrace/xmlschema"

// URDRecord is a URD as JSON, with what the store knows of it.
type URDRecord struct {
	ID          string          `json:"id"`
	Owner       string          `json:"owner"`
	Title       string          `json:"title,omitempty"`
	Labels      []string        `json:"labels,omitempty"`
	State       string          `json:"state,omitempty"` // paused
	URI         string          `json:"uri"`
	Protocol    string          `json:"protocol"`
	ProcessType string          `json:"processtype"`
	Change      string          `json:"change"`
	Remember    int             `json:"remember,omitempty"`
	Depth       int             `json:"depth"`
	Scope       string          `json:"scope"`
	Urgency     int             `json:"urgency"`
	Timing      string          `json:"timing,omitempty"`
	At          string          `json:"at,omitempty"`
	Threshold   int             `json:"threshold"`
	Match       string          `json:"match,omitempty"`
	Keywords    []KeywordRecord `json:"keywords"`
	Crawl       string          `json:"crawl,omitempty"`
	Revision    int64           `json:"revision"`
	Select      []RuleRecord    `json:"select,omitempty"`
	Ignore      []RuleRecord    `json:"ignore,omitempty"`
}

// KeywordRecord is a keyword of a [URDRecord].
type KeywordRecord struct {
	Key    string `json:"key"`
	Weight int    `json:"weight"`
}

// RuleRecord is a rule of a [URDRecord].
type RuleRecord struct {
	Language string `json:"language"`
	Rule     string `json:"rule"`
	When     string `json:"when,omitempty"` // the condition on its number
}

// Record is the URD as JSON.
func (u URD) Record() URDRecord {
	r := URDRecord{
		ID: u.ID, Owner: u.Owner, Title: u.Title, Labels: u.Labels, URI: u.URI, Protocol: u.Protocol, ProcessType: u.ProcessType, Change: u.Change, Remember: u.Remember,
		Depth: u.Depth, Scope: u.Scope, Urgency: u.Urgency, At: u.At, Threshold: u.Keywords.Threshold, Match: u.Keywords.Match,
		Keywords: []KeywordRecord{}, Crawl: u.Crawl.ID, Revision: u.Revision, Select: ruleRecords(u.Select), Ignore: ruleRecords(u.Ignore),
	}
	if u.Paused {
		r.State = "paused"
	}
	if u.Timing > 0 {
		r.Timing = u.Timing.String()
	}
	for k := range u.Keywords.All() {
		r.Keywords = append(r.Keywords, KeywordRecord{k.Key, k.Weight})
	}
	return r
}

func ruleRecords(rules []xmlschema.Rule) (all []RuleRecord) {
	for _, r := range rules {
		all = append(all, RuleRecord{r.Language, r.Text, r.When})
	}
	return all
}
