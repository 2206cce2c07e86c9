// Package hostile is a collection of web sites that misbehave: each way is a [Case] with a name, what the
// server does, and what a crawler has to make of it. The sites listen on loopback alone, and note what they
// are asked for, so that it need not be taken from the crawler itself.
//
// Around the misbehaviour each site has good pages, which are always there, always the same, and hold no
// links. Whatever a site does besides, a crawl of it ends, and has asked for each good page exactly once.
package hostile

import (
	"cmp"
	"slices"
)

// Case is a way to misbehave.
type Case struct {
	Name string
	Does string      // what the server does, as "The server …" goes on
	Lay  func(*Site) // puts it on a site

	Depth   int      // levels to crawl; 0 has no limit
	Scope   string   // how far links are followed; empty is the site alone
	Options []string // of the crawl, as STAGE.OPTION=VALUE
	Slow    bool     // the crawl has to wait for a limit of time

	Expect Expect
	Again  *Expect // of a second crawl, which asks for everything again; nil does none
}

// Expect is what a crawl has to come to.
type Expect struct {
	// Counters of the report that are not 0: those of documents by name ("pages", beyond the good ones;
	// "errors"), those of stages after the stage's name ("fetch.truncated"). "pages", "errors" and "deferred"
	// are 0 where they are not named; about others that are not named nothing is said.
	Counters map[string]int64
	// Why has what `webrace-store why` prints of URLs, or a part of that. They may be relative to the site.
	Why map[string]string
	// Asked is how many requests the site gets besides those for good pages and robots.txt; AtMost bounds
	// them instead, where it is not 0.
	Asked, AtMost int
}

// Cases returns all there are, by name. They are made when they are asked for: what the servers send is large, and the
// programs that tests start are the tests' own binary.
func Cases() []Case {
	all := slices.Concat(connections(), lengths(), headers(), codings(), statuses(), redirects(), traps(), links(),
		markup(), charsets(), robotsTxts(), tlsServers(), http2Servers(), dying(), feeds(), documents())
	slices.SortFunc(all, func(a, b Case) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// some is short for counters.
type some = map[string]int64

// says is short for what is said of URLs.
type says = map[string]string

// bad is where most sites misbehave.
const bad = "/bad"
