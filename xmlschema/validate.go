package xmlschema

import (
	"bytes"
	"errors"
	"reflect"
	"time"
)

// Validate reports, as [Problems], why the request cannot be stored: whatever its canonical form would
// be refused for, and text that XML cannot carry. A valid request survives writing and reading with its
// empty fields at their defaults and its times in UTC, and otherwise unchanged.
func (u *URD) Validate() error { return validate(u, (*Decoder).URD) }

// Validate reports, as [Problems], why the annotation cannot be stored, as for a URD.
func (a *ACI) Validate() error { return validate(a, (*Decoder).ACI) }

// Validate reports, as [Problems], why the meta-information cannot be stored, as for a URD.
func (m *Meta) Validate() error { return validate(m, (*Decoder).Meta) }

type writable[T any] interface {
	Canonical() []byte
	normal() T
}

// validate reads what was written: the reader is the only judge of what is valid.
func validate[T writable[T]](value T, read func(*Decoder) (T, error)) error {
	back, err := read(NewDecoder(bytes.NewReader(value.Canonical())))
	var problems Problems
	if errors.As(err, &problems) {
		for i := range problems {
			problems[i].Line, problems[i].Column = 0, 0 // of a document that the caller has not seen
		}
		return problems
	}
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(back, value.normal()) {
		return Problems{{Message: "some text or value cannot be written in XML without changing it"}}
	}
	return nil
}

// normal returns the request as reading what was written gives it.
func (u *URD) normal() *URD {
	n := *u
	n.LastCheck = normalTime(u.LastCheck)
	n.Labels = u.sortedLabels()
	n.Protocol = orElse(u.Protocol, ProtocolHTTP)
	n.Method = orElse(u.Method, MethodPull)
	n.ProcessType = orElse(u.ProcessType, ProcessFilter)
	n.Change = orElse(u.Change, ChangeAdded)
	n.Scope = orElse(u.Scope, ScopeHost)
	if n.Urgency == 0 {
		n.Urgency = DefaultUrgency
	}
	n.Request = normalRequest(u.Request)
	n.Select, n.Ignore = normalRules(u.Select), normalRules(u.Ignore)
	n.Keywords = Keywords{}
	if !u.Keywords.empty() {
		g := u.Keywords.top().normal()
		n.Keywords = Keywords{Threshold: u.Keywords.Threshold, Match: g.Match, Keywords: g.Keywords, Groups: g.Groups}
	}
	return &n
}

func normalRules(rules []Rule) (normal []Rule) {
	for _, r := range rules {
		normal = append(normal, Rule{orElse(r.Language, RuleCSS), r.Text, r.When})
	}
	return normal
}

func (g Group) normal() Group {
	n := Group{Match: orElse(g.Match, MatchAny)}
	for _, k := range g.Keywords {
		k.Match = orElse(k.Match, MatchWord)
		n.Keywords = append(n.Keywords, k)
	}
	for _, inner := range g.Groups {
		n.Groups = append(n.Groups, inner.normal())
	}
	return n
}

func (a *ACI) normal() *ACI {
	n := *a
	n.UpdateTime = normalTime(a.UpdateTime)
	n.Format = orElse(a.Format, FormatUnknown)
	n.Twins, n.Former, n.Judgement = nil, nil, a.Judgement.normal() // XML has none of the first two
	if n.Urgency == 0 {
		n.Urgency = DefaultUrgency
	}
	if a.Explain != nil {
		x := *a.Explain
		x.Keywords = append([]KeywordShare(nil), x.Keywords...)
		n.Explain = &x
	}
	return &n
}

func (m *Meta) normal() *Meta {
	n := *m
	n.Fetched = normalTime(m.Fetched)
	n.Header = append([]HeaderField(nil), m.Header...)
	n.Links = append([]string(nil), m.Links...)
	return &n
}

func normalTime(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Round(0)
}
