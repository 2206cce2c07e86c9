package pipeline

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

// flowRef is a stage, or one of its output ports, where a flow names it.
type flowRef struct {
	stage, port string
	at, portAt  int // bytes from the beginning of the flow; portAt is that of the stage if it names no port
}

func (r flowRef) String() string {
	if r.port == "" {
		return r.stage
	}
	return r.stage + "." + r.port
}

// flowChain is a flow that has been read.
type flowChain [][]flowRef

func (c flowChain) String() string {
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

// flowError is what is wrong with a flow, and where.
type flowError struct {
	at, width int
	message   string
}

func (e *flowError) Error() string { return fmt.Sprintf("character %d: %s", e.at+1, e.message) }

// parseFlow reads a flow. The error is nil or a *flowError.
func parseFlow(text string) (flowChain, error) {
	p := flowParser{text: text}
	var chain flowChain
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
		return nil, &flowError{at: chain[0][0].at, width: 1, message: "a flow leads from one stage to another: a > b"}
	}
	for _, ref := range chain[len(chain)-1] {
		if ref.port != "" {
			return nil, &flowError{ref.portAt, len(ref.port), fmt.Sprintf("output port %q leads nowhere at the end of a flow", ref.port)}
		}
	}
	return chain, nil
}

type flowParser struct {
	text string
	at   int
}

func (p *flowParser) group() ([]flowRef, error) {
	var group []flowRef
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

func (p *flowParser) ref() (flowRef, error) {
	p.skipSpace()
	ref := flowRef{at: p.at, portAt: p.at}
	if ref.stage = p.name(); ref.stage == "" {
		return ref, p.unexpected("expected the name of a stage here")
	}
	if p.at == len(p.text) || p.text[p.at] != '.' {
		return ref, nil
	}
	p.at++
	ref.portAt = p.at
	if ref.port = p.name(); ref.port == "" {
		return ref, p.unexpected("expected the name of an output port here")
	}
	return ref, nil
}

func (p *flowParser) name() string {
	start := p.at
	for p.at < len(p.text) && isNameByte(p.text[p.at], p.at == start) {
		p.at++
	}
	return p.text[start:p.at]
}

func (p *flowParser) skipSpace() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// unexpected points at the next character, or at the last one if the flow has come to its end.
func (p *flowParser) unexpected(message string) error {
	return &flowError{at: max(0, min(p.at, len(p.text)-1)), width: 1, message: message}
}

// isName reports whether s can name a stage, a port, a pipeline or an option.
func isName(s string) bool {
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
