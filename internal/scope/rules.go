package scope

import (
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
)

// Rules is an ordered list of rules: the first one that matches a URL decides, and a URL that none
// matches is allowed. A nil *Rules allows everything.
type Rules struct {
	rules []rule
}

// Hit is a rule, as it was written, and how many URLs it has decided.
type Hit struct {
	Rule  string
	Count int64
}

type rule struct {
	text  string
	allow bool
	match func(url) bool
	hits  atomic.Int64
}

// url is a URL cut once for all rules.
type url struct{ full, host, path string }

// ParseRules reads rules of the form "allow KIND PATTERN" or "deny KIND PATTERN":
//
//	deny  host      ads.example.org      the host, with its port if it is not the default
//	allow domain    example.org          the domain and everything under it
//	deny  path      /calendar/           paths that begin so, on any host
//	deny  extension pdf                  paths whose last segment ends in ".pdf", in either case
//	deny  regexp    [?&]session=         anywhere in the URL (RE2)
func ParseRules(lines []string) (*Rules, error) {
	rs := &Rules{rules: make([]rule, len(lines))}
	for i, line := range lines {
		if err := rs.rules[i].parse(line); err != nil {
			return nil, fmt.Errorf("rule %d, %q: %w", i+1, line, err)
		}
	}
	return rs, nil
}

func (r *rule) parse(line string) error {
	verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	kind, pattern, _ := strings.Cut(strings.TrimSpace(rest), " ")
	pattern = strings.TrimSpace(pattern)
	switch verb {
	case "allow":
		r.allow = true
	case "deny":
	default:
		return fmt.Errorf("begins with %q (want allow or deny)", verb)
	}
	if pattern == "" {
		return fmt.Errorf("has no pattern (want %s KIND PATTERN)", verb)
	}
	match, err := matcher(kind, pattern)
	if err != nil {
		return err
	}
	r.text, r.match = verb+" "+kind+" "+pattern, match
	return nil
}

func matcher(kind, pattern string) (func(url) bool, error) {
	switch kind {
	case "host":
		pattern = strings.ToLower(pattern)
		return func(u url) bool { return u.host == pattern }, nil
	case "domain":
		pattern = strings.ToLower(strings.TrimPrefix(pattern, "."))
		return func(u url) bool { return under(hostname(u.host), pattern) }, nil
	case "path":
		if pattern[0] != '/' {
			return nil, fmt.Errorf("path %q does not begin with a slash", pattern)
		}
		return func(u url) bool { return strings.HasPrefix(u.path, pattern) }, nil
	case "extension":
		suffix := "." + strings.TrimPrefix(pattern, ".")
		return func(u url) bool { return hasExtension(u.path, suffix) }, nil
	case "regexp":
		re, err := regexp.Compile(pattern)
		if err != nil {
			return nil, err
		}
		return func(u url) bool { return re.MatchString(u.full) }, nil
	}
	return nil, fmt.Errorf("unknown kind %q (host, domain, path, extension or regexp)", kind)
}

// hasExtension reports whether the last segment of path has something before suffix and ends in it.
func hasExtension(path, suffix string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	cut := len(name) - len(suffix)
	return cut > 0 && strings.EqualFold(name[cut:], suffix)
}

// Allow reports whether the rules let address pass, and counts a hit for the rule that decided.
func (rs *Rules) Allow(address string) bool {
	r := rs.find(address)
	if r == nil {
		return true
	}
	r.hits.Add(1)
	return r.allow
}

// Explain returns the rule that decides about address, as it was written, and whether it allows it. The
// rule is empty when none matches. It counts nothing.
func (rs *Rules) Explain(address string) (rule string, allowed bool) {
	r := rs.find(address)
	if r == nil {
		return "", true
	}
	return r.text, r.allow
}

func (rs *Rules) find(address string) *rule {
	if rs == nil || len(rs.rules) == 0 {
		return nil
	}
	rest, _ := afterScheme(address)
	u := url{full: address, host: authority(rest), path: pathOnly(rest)}
	for i := range rs.rules {
		if rs.rules[i].match(u) {
			return &rs.rules[i]
		}
	}
	return nil
}

// Hits returns every rule in order, with the URLs it has decided so far.
func (rs *Rules) Hits() []Hit {
	if rs == nil {
		return nil
	}
	hits := make([]Hit, len(rs.rules))
	for i := range rs.rules {
		hits[i] = Hit{rs.rules[i].text, rs.rules[i].hits.Load()}
	}
	return hits
}
