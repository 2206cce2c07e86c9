// Package robots answers what a host's robots.txt (RFC 9309) allows. A file is parsed once, with all the
// typing errors that the large search engines forgive, and compiled for one crawler into [Rules], which
// are immutable, small, and safe for concurrent use. Nothing here touches a network: who fetches the file
// decides what an absent ([AllowAll]) or unreachable ([DisallowAll]) one means.
//
// It guarantees: the rule whose pattern is longest wins, and an allowing one wins a tie; the groups that
// name a crawler are merged, and replace those for "*"; octets compare equal however they are escaped
// (section 2.2.2), so that neither side's spelling opens or closes a page; /robots.txt is always allowed;
// matching takes time linear in pattern and path, whatever a file contains.
//
// It is held against two other programs, over generated files: against grobotstxt, which parses the files for this
// package, and is Google's parser translated to Go, in all that people write; and against Protego, which shares no
// code with either, in files as the standard's grammar has them. They agree in each decision that the standard makes;
// the tests tell what is left out.
package robots

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/jimsmart/grobotstxt"
)

// MaxBytes is how much of a file counts; section 2.5 asks for 500 KiB at least.
const MaxBytes = 500 << 10

// maxDelay is the longest delay reported: longer than any run, and it fits any arithmetic.
const maxDelay = 365 * 24 * time.Hour

// File is a parsed robots.txt.
type File struct {
	groups   []group
	sitemaps []string
	licenses []Usage
}

// group is a run of user-agent lines and the rules that follow them.
type group struct {
	agents []string // lower-case product tokens; "*" for every crawler
	rules  []rule
	delays []time.Duration // by how many agents are named above them, less one: a delay binds these
	closed bool            // a rule was seen: the next user-agent line begins another group
	usages []usageRule

	usageFrom, usageTo int // the agents that the last of usages binds
}

// Parse reads the first [MaxBytes] of a robots.txt. There is no malformed file: a line that makes no sense
// is skipped.
func Parse(body []byte) *File {
	if len(body) > MaxBytes {
		body = body[:MaxBytes]
		// Half a rule forbids or allows more than the whole one.
		body = body[:bytes.LastIndexAny(body, "\r\n")+1]
	}
	c := &collector{file: &File{}, sitemaps: make(map[string]bool)}
	grobotstxt.Parse(string(body), c)
	return c.file
}

// Agent compiles the rules of the file for a crawler, given its User-Agent header or the product token it
// begins with.
func (f *File) Agent(userAgent string) *Rules {
	token := productToken(userAgent)
	names := func(g group) bool { return slices.Contains(g.agents, token) }
	if token == "" || !slices.ContainsFunc(f.groups, names) {
		token = "*"
	}
	r := &Rules{sitemaps: f.sitemaps, licenses: f.licenses}
	for _, g := range f.groups {
		if names(g) {
			r.rules = append(r.rules, g.rules...)
			r.delay = max(r.delay, g.delayOf(token))
			r.usages = append(r.usages, g.usagesOf(token)...)
		}
	}
	slices.SortStableFunc(r.rules, func(a, b rule) int {
		switch {
		case a.octets != b.octets:
			return b.octets - a.octets
		case a.allow == b.allow:
			return a.line - b.line
		case a.allow:
			return -1
		}
		return 1
	})
	slices.SortStableFunc(r.usages, func(a, b usageRule) int { return b.octets - a.octets })
	return r
}

// delayOf returns the longest delay that binds an agent of the group.
func (g group) delayOf(agent string) (longest time.Duration) {
	if first := slices.Index(g.agents, agent); first < len(g.delays) {
		longest = slices.Max(g.delays[first:])
	}
	return longest
}

// Rules is what a robots.txt holds for one crawler.
type Rules struct {
	rules    []rule // the first that matches decides
	delay    time.Duration
	sitemaps []string
	usages   []usageRule // those with the longest path first
	licenses []Usage
}

// AllowAll stands for a robots.txt that does not exist.
var AllowAll = &Rules{}

// DisallowAll stands for a robots.txt that could not be had.
var DisallowAll = Parse([]byte("User-agent: *\nDisallow: /")).Agent("*")

// Allowed reports whether a path, with its query if there is one, may be fetched, and which rule decides it:
// "Disallow: /private (line 3)", or nothing when none speaks of it.
func (r *Rules) Allowed(path string) (allowed bool, because string) {
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	if path == "/robots.txt" {
		return true, ""
	}
	at := locate(path)
	for i := range r.rules {
		if r.rules[i].matches(at) {
			return r.rules[i].allow, r.rules[i].String()
		}
	}
	return true, ""
}

// Delay is the time to leave between two requests, 0 when the file names none. It is as the host wrote
// it: whether it can be served is the caller's decision.
func (r *Rules) Delay() time.Duration { return r.delay }

// Sitemaps returns the addresses of the host's sitemaps as written, each once. The slice is shared.
func (r *Rules) Sitemaps() []string { return r.sitemaps }

// collector gathers a file's groups from the parser's events.
type collector struct {
	file     *File
	sitemaps map[string]bool // that are in the file
}

var _ grobotstxt.ParseHandler = (*collector)(nil)

func (c *collector) HandleRobotsStart() {}
func (c *collector) HandleRobotsEnd()   {}

func (c *collector) HandleUserAgent(_ int, value string) {
	agent := productToken(value)
	if strings.HasPrefix(value, "*") && (len(value) == 1 || unicode.IsSpace(rune(value[1]))) {
		agent = "*"
	}
	if g := c.group(); g == nil || g.closed {
		c.file.groups = append(c.file.groups, group{})
	}
	g := c.group()
	g.agents = append(g.agents, strings.Clone(agent))
}

func (c *collector) HandleAllow(line int, value string) {
	c.add(line, value, true)
	// "Allow: /dir/index.html" means the directory, too: hosts serve both as one page.
	if slash := strings.LastIndexByte(value, '/'); slash >= 0 && strings.HasPrefix(value[slash:], "/index.htm") {
		c.add(line, value[:slash+1]+"$", true)
	}
}

func (c *collector) HandleDisallow(line int, value string) { c.add(line, value, false) }

func (c *collector) HandleSitemap(_ int, value string) {
	if value != "" && !c.sitemaps[value] {
		value = strings.Clone(value)
		c.sitemaps[value] = true
		c.file.sitemaps = append(c.file.sitemaps, value)
	}
}

func (c *collector) HandleUnknownAction(line int, action, value string) {
	if isUsage(action) {
		c.addUsage(line, action, value)
		return
	}
	g := c.group()
	if g == nil || !strings.EqualFold(action, "crawl-delay") {
		return
	}
	g.delays = append(g.delays, make([]time.Duration, len(g.agents)-len(g.delays))...)
	last := len(g.delays) - 1
	g.delays[last] = max(g.delays[last], parseDelay(value))
}

func isUsage(action string) bool {
	return strings.EqualFold(action, "content-usage") || strings.EqualFold(action, "content-signal") || strings.EqualFold(action, "license")
}

func (c *collector) group() *group {
	if len(c.file.groups) == 0 {
		return nil
	}
	return &c.file.groups[len(c.file.groups)-1]
}

func (c *collector) add(line int, pattern string, allow bool) {
	g := c.group()
	if g == nil {
		return
	}
	g.closed = true
	if pattern != "" { // an empty pattern ends the list of agents, and means nothing else
		g.rules = append(g.rules, compile(line, strings.Clone(mendEscapes(pattern)), allow))
	}
}

func parseDelay(value string) time.Duration {
	seconds, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil || !(seconds > 0): // the latter is true of a NaN, too
		return 0
	case seconds >= maxDelay.Seconds():
		return maxDelay
	}
	return time.Duration(seconds * float64(time.Second))
}

// productToken returns what of a user agent counts, in lower case: what stands before the first octet that no product
// token has. So webrace* and webrace/2.0 are webrace. RFC 9309, section 2.2.1, has letters, "_" and "-" alone; but
// robots are called "008" and "k2.bot" too, and a group for webrace2 is no group for webrace: digits and dots count as
// well.
func productToken(userAgent string) string {
	end := strings.IndexFunc(userAgent, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_' || r == '.')
	})
	if end >= 0 {
		userAgent = userAgent[:end]
	}
	return strings.ToLower(userAgent)
}
