package xmlschema

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/xpath"
)

// StoredURD reads a request from the table of its canonical form, ten times as fast as from that form
// itself. A table of anything else gives an error or some request: only what [URD.Validate] accepted is to be
// stored so.
func StoredURD(tableBytes []byte) (u *URD, err error) {
	t, err := openTable(tableBytes)
	if err != nil {
		return nil, fmt.Errorf("read stored URD: %w", err)
	}
	defer func() {
		if r := recover(); r != nil { // a damaged table points beyond itself
			u, err = nil, fmt.Errorf("read stored URD: %w: %v", errTable, r)
		}
	}()
	r := tableReader{t: &t}
	root := t.node(0, cellFirst)
	if root == 0 || r.name(root) != "urd" {
		return nil, fmt.Errorf("read stored URD: %w of a URD", errTable)
	}
	if u = r.urd(root); r.err != nil {
		return nil, fmt.Errorf("read stored URD: %w", r.err)
	}
	return u, nil
}

// tableReader takes the elements of a table apart.
type tableReader struct {
	t     *table
	steps int
	err   error // the first
}

// name returns the local name of an element; a name that is not of the vocabulary has none.
func (r *tableReader) name(node int) string {
	if r.t.node(node, cellKind) != int(xpath.Element) {
		return ""
	}
	return word(r.t.node(node, cellName))
}

// next follows a node to another, which happens twice to each at most, so that no damage leads in circles.
func (r *tableReader) next(node, cell int) int {
	if r.steps++; r.steps > 4*r.t.attrs/nodeCells {
		panic("its nodes go in circles")
	}
	return r.t.node(node, cell)
}

func word(name int) string {
	if name < len(vocabulary) {
		return vocabulary[name]
	}
	return ""
}

// attributes calls back with every attribute of an element.
func (r *tableReader) attributes(node int, back func(name string, value []byte)) {
	first := r.t.node(node, cellAttr)
	for a := first; a < first+r.t.node(node, cellAttrs); a++ {
		back(word(r.t.attr(a, 0)), r.t.slice(r.t.attr(a, 1), r.t.attr(a, 2)))
	}
}

// integer reads a number as the canonical form has it.
func (r *tableReader) integer(value []byte) int {
	n, err := strconv.Atoi(string(value))
	if err != nil && r.err == nil {
		r.err = err
	}
	return n
}

// one returns a string without allocating when it is the usual one.
func one(value []byte, usual ...string) string {
	for _, s := range usual {
		if string(value) == s {
			return s
		}
	}
	return string(value)
}

func (r *tableReader) urd(root int) *URD {
	u := NewURD("", "")
	r.attributes(root, func(name string, value []byte) {
		switch name {
		case "id":
			u.ID = string(value)
		case "owner":
			u.Owner = string(value)
		case "remember":
			u.Remember = r.integer(value)
		case "title":
			u.Title = string(value)
		case "labels":
			u.Labels = strings.Fields(string(value))
		case "state":
			u.Paused = string(value) == statePaused
		}
	})
	for kid := r.next(root, cellFirst); kid != 0; kid = r.next(kid, cellNext) {
		switch r.name(kid) {
		case "uri":
			r.source(kid, u)
		case "type":
			r.kind(kid, u)
		case "request":
			u.Request = r.request(kid)
		case "keywords":
			u.Keywords = r.keywords(kid)
		case "selection":
			r.rules(kid, u)
		case "ask":
			u.Ask = r.text(kid)
		case "depth":
			r.attributes(kid, func(name string, value []byte) {
				if name == "level" {
					u.Depth = r.integer(value)
				} else {
					u.Scope = one(value, ScopeHost, ScopeDomain, ScopePrefix, ScopeAny)
				}
			})
		case "urgency":
			r.attributes(kid, func(_ string, value []byte) { u.Urgency = r.integer(value) })
		}
	}
	return u
}

func (r *tableReader) source(node int, u *URD) {
	var err error
	r.attributes(node, func(name string, value []byte) {
		switch name {
		case "timing":
			u.Timing, err = time.ParseDuration(string(value))
		case "at":
			u.At = string(value)
		case "lastcheck":
			u.LastCheck, err = time.Parse(time.RFC3339, string(value))
			u.LastCheck = u.LastCheck.UTC()
		case "port":
			u.Port = r.integer(value)
		case "login":
			u.Login = string(value)
		case "secret":
			u.Secret = string(value)
		case "group":
			u.Group = string(value)
		}
		if err != nil && r.err == nil {
			r.err = err
		}
	})
	u.URI = r.text(node)
}

// text returns the text of an element that has nothing else.
func (r *tableReader) text(node int) string {
	text := r.t.node(node, cellFirst)
	if text == 0 {
		return ""
	}
	return string(r.t.slice(r.t.node(text, cellText), r.t.node(text, cellTextLen)))
}

func (r *tableReader) kind(node int, u *URD) {
	r.attributes(node, func(name string, value []byte) {
		switch name {
		case "protocol":
			u.Protocol = one(value, ProtocolHTTP, ProtocolFeed)
		case "method":
			u.Method = one(value, MethodPull, MethodPush)
		case "processtype":
			u.ProcessType = one(value, ProcessFilter, ProcessNonFilter)
		case "change":
			u.Change = one(value, ChangePage, ChangeFirst)
		}
	})
}

func (r *tableReader) keywords(node int) Keywords {
	k := Keywords{Threshold: DefaultThreshold}
	r.attributes(node, func(name string, value []byte) {
		if name == "threshold" {
			k.Threshold = r.integer(value)
		}
	})
	g := r.group(node)
	k.Match, k.Keywords, k.Groups = g.Match, g.Keywords, g.Groups
	return k
}

func (r *tableReader) group(node int) Group {
	g := Group{Match: MatchAny}
	r.attributes(node, func(name string, value []byte) {
		if name == "match" {
			g.Match = one(value, MatchAny, MatchAll, MatchNone)
		}
	})
	count := 0
	for kid := r.next(node, cellFirst); kid != 0; kid = r.next(kid, cellNext) {
		count++
	}
	for kid := r.next(node, cellFirst); kid != 0; kid = r.next(kid, cellNext) {
		switch r.name(kid) {
		case "keyword":
			if g.Keywords == nil {
				g.Keywords = make([]Keyword, 0, count)
			}
			g.Keywords = append(g.Keywords, r.keyword(kid))
		case "group":
			g.Groups = append(g.Groups, r.group(kid))
		}
	}
	return g
}

func (r *tableReader) keyword(node int) Keyword {
	k := Keyword{Weight: DefaultWeight, Match: MatchWord}
	r.attributes(node, func(name string, value []byte) {
		switch name {
		case "key":
			k.Key = string(value)
		case "weight":
			k.Weight = r.integer(value)
		case "exact":
			k.Exact = true
		case "match":
			k.Match = one(value, MatchSubstring)
		}
	})
	return k
}
