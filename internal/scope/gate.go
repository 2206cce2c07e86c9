package scope

import (
	"strings"

	"github.com/webrace/webrace/internal/pointer"
	"github.com/webrace/webrace/internal/urlnorm"
)

// Gate is what every URL is held against, whichever crawls come to it. Rules and lists may change at any
// time. The zero value lets everything pass.
type Gate struct {
	Ignore Extensions // of what is no document
	Traps  Traps

	configured *Rules
	added      pointer.Atomic[Rules]
	rules      pointer.Atomic[Rules] // both: what was added comes first
	domains    pointer.Atomic[Blocklist]
	urls       pointer.Atomic[Blocklist]
}

// Refusal is why the gate refuses a URL.
type Refusal uint8

const (
	Pass          Refusal = iota
	ByRule                // a rule denies it
	BlockedDomain         // its host is listed, or a domain above it
	BlockedURL            // it is listed
	IgnoredType           // its extension is of what is no document

	// It looks like one of a trap: see [Traps].
	TooLong
	TooDeep
	Repeating
	ManyParameters
	ManyQueries
	ManyDates
	ManyFarDates
)

// NewGate returns a gate with the rules of a configuration.
func NewGate(configured *Rules) *Gate {
	g := &Gate{configured: configured}
	pointer.Store(&g.rules, configured)
	return g
}

// Add puts these rules before those of the configuration, instead of the ones that were added before.
func (g *Gate) Add(added *Rules) {
	pointer.Store(&g.added, added)
	pointer.Store(&g.rules, Join(added, g.configured))
}

// Rules returns all rules in the order in which they are asked.
func (g *Gate) Rules() *Rules { return pointer.Load(&g.rules) }

// Added returns those of them that were added.
func (g *Gate) Added() *Rules { return pointer.Load(&g.added) }

// Block replaces the lists of domains and of URLs that are refused; nil is an empty one.
func (g *Gate) Block(domains, urls *Blocklist) {
	pointer.Store(&g.domains, domains)
	pointer.Store(&g.urls, urls)
}

// Admit holds a URL against the rules and the lists, and returns the rule that decides, nil for none. That this is
// a hit of the rule is for the caller to count, when what follows from it is durable. What a rule trusts is to be
// held against nothing else.
func (g *Gate) Admit(address string) (why Refusal, by *Rule) {
	by, _ = pointer.Load(&g.rules).Find(address)
	if by != nil && by.verdict != Allowed {
		return by.refusal(), by
	}
	return g.blocked(address), by
}

func (g *Gate) blocked(address string) Refusal {
	if _, blocked := pointer.Load(&g.domains).Domain(address); blocked {
		return BlockedDomain
	}
	if pointer.Load(&g.urls).URL(address) {
		return BlockedURL
	}
	return Pass
}

// Still is Admit for a URL that was admitted before: it is a hit only of a rule that denies it by now.
func (g *Gate) Still(address string) (why Refusal, by *Rule) {
	if why, by = g.Admit(address); why != ByRule {
		by = nil
	}
	return why, by
}

// Judge holds a URL that was admitted, and is not trusted, against the extensions to ignore, and looks for
// the traps that show in the URL alone. It allocates nothing.
func (g *Gate) Judge(address string) Refusal {
	path, query := pathAndQuery(address)
	if _, ignored := g.Ignore.of(path); ignored {
		return IgnoredType
	}
	return g.Traps.find(address, path, query)
}

// JudgeLanding is Judge for where the start of a crawl leads to: an owner who starts at a picture wants it.
func (g *Gate) JudgeLanding(address string) Refusal {
	path, query := pathAndQuery(address)
	return g.Traps.find(address, path, query)
}

// pathAndQuery cuts what stands between the host and the fragment.
func pathAndQuery(address string) (path, query string) {
	_, rest, _ := urlnorm.CutScheme(address)
	if i := strings.IndexByte(rest, '#'); i >= 0 {
		rest = rest[:i]
	}
	if i := strings.IndexByte(rest, '?'); i >= 0 {
		rest, query = rest[:i], rest[i+1:]
	}
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		path = rest[i:]
	}
	return path, query
}

// Explanation is what the gate decides of a URL, and why.
type Explanation struct {
	Rule      *Rule // the rule that decides; nil for none
	Number    int   // of the rule, from 1 on
	Refusal   Refusal
	Domain    string // for BlockedDomain: the one that is listed
	Extension string // for IgnoredType
}

// Explain returns what becomes of a URL at the gate. It counts nothing.
func (g *Gate) Explain(address string) (e Explanation) {
	e.Rule, e.Number = pointer.Load(&g.rules).Find(address)
	if e.Rule != nil && e.Rule.verdict == Denied {
		e.Refusal = ByRule
	}
	if e.Rule != nil && e.Rule.verdict != Allowed {
		return e
	}
	if e.Refusal = g.blocked(address); e.Refusal == Pass {
		e.Refusal = g.Judge(address)
	}
	switch e.Refusal {
	case BlockedDomain:
		e.Domain, _ = pointer.Load(&g.domains).Domain(address)
	case IgnoredType:
		path, _ := pathAndQuery(address)
		e.Extension, _ = g.Ignore.of(path)
	}
	return e
}
