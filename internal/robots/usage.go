package robots

import (
	"slices"
	"strings"

	"github.com/webrace/webrace/internal/usage"
)

// Limits of what is kept of a file's statements on usage. What is beyond them is not read.
const (
	mostUsages   = 8    // of each name that are told of one path
	longestUsage = 1000 // bytes of a line
)

// Usage is a line that states what pages may be used for, as "Content-Usage: /ai-ok/ train-ai=y".
type Usage struct {
	Line int
	Text string // its name and value, without a comment
}

// usageRule is such a line of a group.
type usageRule struct {
	rule
	signal bool // Content-Signal, not Content-Usage
	first  int  // which of the group's agents is the first that it binds
	last   int  // and the one behind the last
	text   string
}

// Usage returns the lines that state what a path, with its query, may be used for, in the order of the file. Of
// Content-Usage, and likewise of Content-Signal, these are those with the longest path that matches, without one
// those that have none (draft-ietf-aipref-attach, section 3.1); License (RSL) speaks of all paths, whatever group it
// stands in.
func (r *Rules) Usage(path string) []Usage {
	if len(r.usages) == 0 {
		return r.licenses
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	at := locate(path)
	told := slices.Clone(r.licenses)
	longest, count := [2]int{}, [2]int{}
	for _, u := range r.usages { // the longest first
		kind := 0
		if u.signal {
			kind = 1
		}
		if count[kind] == mostUsages || u.octets < longest[kind] || !u.matches(at) {
			continue
		}
		longest[kind] = u.octets
		count[kind]++
		told = append(told, Usage{u.line, u.text})
	}
	slices.SortStableFunc(told, func(a, b Usage) int { return a.Line - b.Line })
	return told
}

// addUsage keeps a line that states what pages may be used for. To those of a group, the agents are bound that stand
// between the last such line and it, as the draft has it: to RFC 9309 it is an unknown line, which parts no agents,
// and so it stays for what may be fetched.
func (c *collector) addUsage(line int, action, value string) {
	text := action + ": " + mendEscapes(value)
	if value == "" || len(text) > longestUsage {
		return
	}
	text = strings.Clone(text)
	if strings.EqualFold(action, "license") {
		if len(c.file.licenses) < mostUsages && !slices.ContainsFunc(c.file.licenses, func(u Usage) bool { return strings.EqualFold(u.Text, text) }) {
			c.file.licenses = append(c.file.licenses, Usage{line, text})
		}
		return
	}
	g := c.group()
	if g == nil {
		return
	}
	if g.usageTo < len(g.agents) {
		g.usageFrom, g.usageTo = g.usageTo, len(g.agents)
	}
	pattern, _ := usage.CutPath(text[len(action)+len(": "):])
	g.usages = append(g.usages, usageRule{
		rule: compile(line, pattern, true), signal: strings.EqualFold(action, "content-signal"), first: g.usageFrom, last: g.usageTo, text: text,
	})
}

// usagesOf returns those that bind an agent of the group.
func (g group) usagesOf(agent string) (bound []usageRule) {
	for _, u := range g.usages {
		if slices.Contains(g.agents[u.first:u.last], agent) {
			bound = append(bound, u)
		}
	}
	return bound
}
