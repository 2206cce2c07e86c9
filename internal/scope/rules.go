package scope

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/webrace/webrace/internal/urlnorm"
)

// Rules is an ordered list of rules: the first one that matches a URL decides, and a URL that none
// matches is allowed. A nil *Rules allows everything.
type Rules struct {
	rules []*Rule
}

// Rule is one of them. It counts what it decides, in whichever lists it stands.
type Rule struct {
	text    string
	comment string
	verdict Verdict
	match   func(url) bool
	hits    atomic.Int64
}

// Verdict is what rules decide on a URL.
type Verdict uint8

const (
	Allowed Verdict = iota
	Denied
	Trusted // allowed, and held against no list, type or trap
)

var verbs = map[string]Verdict{"allow": Allowed, "deny": Denied, "trust": Trusted}

// url is a URL cut once for all rules: full is as it is spelled, the rest of its identity.
type url struct{ full, rest, host, path, query string }

func cut(address string) url {
	_, rest, _ := urlnorm.CutScheme(address)
	rest, _, _ = strings.Cut(rest, "#")
	rest = urlnorm.Identity(rest)
	u := url{full: address, rest: rest}
	u.host, u.path = urlnorm.CutHost(rest)
	u.path, u.query, _ = strings.Cut(u.path, "?")
	return u
}

// ParseRules reads rules of the form "VERB KIND PATTERN", where the verb is allow, deny or trust:
//
//	deny  host      ads.example.org      the host, with its port if it is not the default
//	allow domain    example.org          the domain and everything under it
//	deny  url       http://a.org/x?y=1   this URL, by http or https
//	deny  prefix    http://a.org/old/    URLs that begin so, by http or https
//	trust path      /calendar/           paths that begin so, on any host
//	deny  extension pdf                  paths whose last segment ends in ".pdf", in either case
//	deny  query     sort                 URLs with a parameter of that name; sort=asc: of that value, too
//	deny  regexp    [?&]session=         anywhere in the URL (RE2)
//	deny  all                            every URL
//
// What follows " #" is a comment; lines that are empty or begin with # mean nothing.
func ParseRules(lines []string) (*Rules, error) {
	rs := &Rules{}
	for i, line := range lines {
		r, err := ParseRule(line)
		if err != nil {
			return nil, fmt.Errorf("rule %d, %q: %w", i+1, line, err)
		}
		if r != nil {
			rs.rules = append(rs.rules, r)
		}
	}
	return rs, nil
}

// ParseRule reads one rule; nil where the line holds none.
func ParseRule(line string) (*Rule, error) {
	text, comment := line, ""
	for i := range len(line) {
		if line[i] == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			text, comment = line[:i], strings.TrimSpace(line[i+1:])
			break
		}
	}
	verb, rest := word(text)
	if verb == "" {
		return nil, nil
	}
	verdict, ok := verbs[verb]
	if !ok {
		return nil, fmt.Errorf("begins with %q (want allow, deny or trust)", verb)
	}
	kind, pattern := word(rest)
	if kind == "all" && pattern == "" {
		return &Rule{text: verb + " all", comment: comment, verdict: verdict, match: func(url) bool { return true }}, nil
	}
	if pattern == "" {
		return nil, fmt.Errorf("has no pattern (want %s KIND PATTERN)", verb)
	}
	match, err := matcher(kind, pattern)
	if err != nil {
		return nil, err
	}
	return &Rule{text: verb + " " + kind + " " + pattern, comment: comment, verdict: verdict, match: match}, nil
}

// word cuts the first word off a text.
func word(text string) (first, rest string) {
	text = strings.TrimSpace(text)
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		return text[:i], strings.TrimSpace(text[i:])
	}
	return text, ""
}

func matcher(kind, pattern string) (func(url) bool, error) {
	switch kind {
	case "host":
		pattern = strings.ToLower(pattern)
		return func(u url) bool { return u.host == pattern }, nil
	case "domain":
		pattern = strings.ToLower(strings.TrimPrefix(pattern, "."))
		return func(u url) bool { return under(hostname(u.host), pattern) }, nil
	case "url", "prefix":
		return addressMatcher(kind, pattern)
	case "path":
		if pattern[0] != '/' {
			return nil, fmt.Errorf("path %q does not begin with a slash", pattern)
		}
		pattern = urlnorm.Identity(pattern)
		return func(u url) bool { return strings.HasPrefix(u.path, pattern) }, nil
	case "extension":
		suffix := "." + strings.TrimPrefix(pattern, ".")
		return func(u url) bool { return hasExtension(u.path, suffix) }, nil
	case "query":
		name, value, valued := strings.Cut(urlnorm.Identity(pattern), "=")
		return func(u url) bool { return hasParameter(u.query, name, value, valued) }, nil
	case "regexp":
		re, err := regexp.Compile(pattern)
		if err != nil {
			return nil, err
		}
		return func(u url) bool { return re.MatchString(u.full) }, nil
	}
	return nil, fmt.Errorf("unknown kind %q (host, domain, url, prefix, path, extension, query, regexp or all)", kind)
}

// addressMatcher compares with the identity of a URL, but for its scheme.
func addressMatcher(kind, pattern string) (func(url) bool, error) {
	normal, err := urlnorm.Parse(pattern)
	if err != nil {
		return nil, err
	}
	_, want, _ := urlnorm.CutScheme(urlnorm.Identity(normal))
	if kind == "prefix" {
		return func(u url) bool { return strings.HasPrefix(u.rest, want) }, nil
	}
	return func(u url) bool { return u.rest == want }, nil
}

// hasParameter reports whether a query has a parameter of that name and, if it matters, that value.
func hasParameter(query, name, value string, valued bool) bool {
	for query != "" {
		var one string
		one, query, _ = strings.Cut(query, "&")
		if n, v, _ := strings.Cut(one, "="); n == name && (!valued || v == value) {
			return true
		}
	}
	return false
}

// hasExtension reports whether the last segment of path has something before suffix and ends in it.
func hasExtension(path, suffix string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	cut := len(name) - len(suffix)
	return cut > 0 && strings.EqualFold(name[cut:], suffix)
}

// Text returns the rule as it is written, without its comment; Comment what is said about it.
func (r *Rule) Text() string    { return r.text }
func (r *Rule) Comment() string { return r.comment }

// Verdict returns what the rule decides of the URLs that it matches.
func (r *Rule) Verdict() Verdict { return r.verdict }

// refusal is what the rule makes of a URL that it denies or trusts.
func (r *Rule) refusal() Refusal {
	if r.verdict == Denied {
		return ByRule
	}
	return Pass
}

// Hits returns how many URLs the rule has decided, Hit adds to that.
func (r *Rule) Hits() int64 { return r.hits.Load() }
func (r *Rule) Hit(n int64) { r.hits.Add(n) }

// Line returns the rule with its comment, as [ParseRule] reads it.
func (r *Rule) Line() string {
	if r.comment == "" {
		return r.text
	}
	return r.text + " # " + r.comment
}

// List returns the rules in order. The list is not to be changed.
func (rs *Rules) List() []*Rule {
	if rs == nil {
		return nil
	}
	return rs.rules
}

// Join returns a list with the rules of several, one after the other. They are the same rules: what they
// decide counts in each list.
func Join(lists ...*Rules) *Rules {
	joined := &Rules{}
	for _, rs := range lists {
		joined.rules = append(joined.rules, rs.List()...)
	}
	return joined
}

// NewRules returns a list of these rules.
func NewRules(rules ...*Rule) *Rules { return &Rules{slices.Clone(rules)} }

// Decide returns what the rules decide on address, and counts a hit for the rule that decided.
func (rs *Rules) Decide(address string) Verdict {
	r, _ := rs.Find(address)
	if r == nil {
		return Allowed
	}
	r.hits.Add(1)
	return r.verdict
}

// Find returns the rule that decides about address, and its number from 1 on; nil and 0 when none matches.
// It counts nothing.
func (rs *Rules) Find(address string) (*Rule, int) {
	if rs == nil || len(rs.rules) == 0 {
		return nil, 0
	}
	u := cut(address)
	for i, r := range rs.rules {
		if r.match(u) {
			return r, i + 1
		}
	}
	return nil, 0
}
