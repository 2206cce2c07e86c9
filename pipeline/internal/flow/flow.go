// Package flow reads the flows of pipelines.toml, "a > b.port, c > d", and knows what can be a name in them.
package flow

import (
	"fmt"
	"strings"
)

// The grammar of a flow, in which spaces and line ends may stand anywhere between words and signs:
//
//	chain = group (">" group)+
//	group = ref ("," ref)*
//	ref   = NAME ["." PORT]
//
// All stages of a group lead to all stages of the next. Names and ports consist of letters, digits, "_"
// and "-", and do not begin with "-".

// Ref is a stage, or one of its output ports, where a flow names it.
type Ref struct {
	Stage, Port string
	At, PortAt  int // bytes from the beginning of the flow; PortAt is that of the stage if it names no port
}

func (r Ref) String() string {
	if r.Port == "" {
		return r.Stage
	}
	return r.Stage + "." + r.Port
}

// Chain is a flow that has been read.
type Chain [][]Ref

func (c Chain) String() string {
	groups := make([]string, len(c))
	for i, group := range c {
		refs := make([]string, len(group))
		for j, ref := range group {
			refs[j] = ref.String()
		}
		groups[i] = strings.Join(refs, ", ")
	}
	return strings.Join(groups, " > ")
}

// Links returns what the chain connects, all of each group to all of the next.
func (c Chain) Links() (links [][2]Ref) {
	for i := range len(c) - 1 {
		for _, from := range c[i] {
			for _, to := range c[i+1] {
				links = append(links, [2]Ref{from, to})
			}
		}
	}
	return links
}

// Error is what is wrong with a flow, and where.
type Error struct {
	At, Width int
	Message   string
}

func (e *Error) Error() string { return fmt.Sprintf("character %d: %s", e.At+1, e.Message) }

// Parse reads a flow. The error is nil or a *Error.
func Parse(text string) (Chain, error) {
	p := parser{text: text}
	var chain Chain
	for {
		group, err := p.group()
		if err != nil {
			return nil, err
		}
		chain = append(chain, group)
		p.skipSpace()
		if p.at == len(text) {
			break
		}
		if text[p.at] != '>' {
			return nil, p.unexpected("expected > or , here")
		}
		p.at++
	}
	if len(chain) == 1 {
		return nil, &Error{At: chain[0][0].At, Width: 1, Message: "a flow leads from one stage to another: a > b"}
	}
	for _, ref := range chain[len(chain)-1] {
		if ref.Port != "" {
			return nil, &Error{ref.PortAt, len(ref.Port), fmt.Sprintf("output port %q leads nowhere at the end of a flow", ref.Port)}
		}
	}
	return chain, nil
}

type parser struct {
	text string
	at   int
}

func (p *parser) group() ([]Ref, error) {
	var group []Ref
	for {
		ref, err := p.ref()
		if err != nil {
			return nil, err
		}
		group = append(group, ref)
		p.skipSpace()
		if p.at == len(p.text) || p.text[p.at] != ',' {
			return group, nil
		}
		p.at++
	}
}

func (p *parser) ref() (Ref, error) {
	p.skipSpace()
	ref := Ref{At: p.at, PortAt: p.at}
	if ref.Stage = p.name(); ref.Stage == "" {
		return ref, p.unexpected("expected the name of a stage here")
	}
	if p.at == len(p.text) || p.text[p.at] != '.' {
		return ref, nil
	}
	p.at++
	ref.PortAt = p.at
	if ref.Port = p.name(); ref.Port == "" {
		return ref, p.unexpected("expected the name of an output port here")
	}
	return ref, nil
}

func (p *parser) name() string {
	start := p.at
	for p.at < len(p.text) && isNameByte(p.text[p.at], p.at == start) {
		p.at++
	}
	return p.text[start:p.at]
}

func (p *parser) skipSpace() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// unexpected points at the next character, or at the last one if the flow has come to its end.
func (p *parser) unexpected(message string) error {
	return &Error{At: max(0, min(p.at, len(p.text)-1)), Width: 1, Message: message}
}

// IsName reports whether s can name a stage, a port, a pipeline or an option.
func IsName(s string) bool {
	for i := range len(s) {
		if !isNameByte(s[i], i == 0) {
			return false
		}
	}
	return s != ""
}

func isNameByte(c byte, first bool) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' && !first
}
