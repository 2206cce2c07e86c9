package xmlschema

import (
	"slices"

	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/xmlschema/cron"
)

// Encode returns what is stored of the request: its canonical form, and that as the table which [BuildTable] makes
// of it. What Validate refuses is an error. Requests of plain values, as annotations, are written straight into both.
func (u *URD) Encode() (canonical, table []byte, err error) { return encode(u) }

func (u *URD) plain() bool {
	return u.Request == nil && plainString(u.ID, plainToken, false) && plainString(u.Owner, plainToken, false) && u.Remember >= 0 && u.Remember <= MostRemembered &&
		u.plainMarks() && u.plainSource() && u.plainKind() &&
		(u.Keywords.empty() || percent(u.Keywords.Threshold) && u.Keywords.top().plain(1)) && u.plainRules() && u.plainAsk() &&
		natural(u.Depth) && oneOf(u.Scope, ScopeHost, ScopeDomain, ScopePrefix, ScopeAny) && u.Urgency >= 0 && u.Urgency <= 3
}

func (u *URD) plainSource() bool {
	return u.URI != "" && plainString(u.URI, plainValue, false) && uriFault(orElse(u.Protocol, ProtocolHTTP), u.URI) == "" &&
		u.Timing >= 0 && u.plainTimes() && u.LastCheck.IsZero() && u.Port >= 0 && u.Port <= 65535 &&
		plainString(u.Login, plainValue, true) && plainString(u.Secret, plainToken, false) && plainString(u.Group, plainValue, true)
}

func (u *URD) plainTimes() bool {
	if u.At == "" {
		return true
	}
	_, err := cron.Parse(u.At)
	return err == nil && u.Timing == 0 && u.At == cron.Normal(u.At)
}

func (u *URD) plainKind() bool {
	return oneOf(u.Protocol, ProtocolHTTP, ProtocolFeed, ProtocolPOP3, ProtocolIMAP, ProtocolNNTP, ProtocolDB) &&
		oneOf(u.Method, MethodPull, MethodPush) && oneOf(u.ProcessType, ProcessFilter, ProcessNonFilter) &&
		oneOf(u.Change, ChangeAdded, ChangePage, ChangeFirst)
}

// oneOf reports whether a value is one of an enumeration, or left to its default.
func oneOf(value string, values ...string) bool { return value == "" || slices.Contains(values, value) }

// plainDepth is the most levels of plain groups.
const plainDepth = 16

// plain is asked of a group at a depth.
func (g Group) plain(depth int) bool {
	if depth > plainDepth || len(g.Keywords)+len(g.Groups) == 0 || !oneOf(g.Match, MatchAny, MatchAll, MatchNone) {
		return false
	}
	for i := range g.Keywords {
		k := &g.Keywords[i]
		if k.Key == "" || !plainString(k.Key, plainValue, true) || k.Weight < 1 || k.Weight > 5 || !oneOf(k.Match, MatchWord, MatchSubstring) {
			return false
		}
	}
	return !slices.ContainsFunc(g.Groups, func(inner Group) bool { return !inner.plain(depth + 1) })
}

func (u *URD) plainRules() bool {
	if len(u.Select)+len(u.Ignore) > maxRules {
		return false
	}
	conditions := 0
	for _, r := range u.Select {
		if r.When != "" {
			conditions++
			if !plainString(r.When, selection.LongestRule, true) {
				return false
			}
		}
	}
	if conditions > 1 || slices.ContainsFunc(u.Ignore, func(r Rule) bool { return r.When != "" }) {
		return false
	}
	for _, r := range u.Rules() {
		r.Language = selection.Language(orElse(string(r.Language), RuleCSS))
		if r.Text == "" || !plainString(r.Text, selection.LongestRule, true) || !oneOf(string(r.Language), ruleLanguages...) || r.Check() != nil {
			return false
		}
	}
	return true
}

// write writes what [URD.Canonical] does.
func (u *URD) write(f *formWriter) {
	f.root("urd")
	f.optional("id", u.ID)
	f.optional("owner", u.Owner)
	f.optionalInt("remember", u.Remember)
	f.optional("title", u.Title)
	f.optional("labels", u.labels())
	f.optional("state", u.state())
	f.open("uri")
	if u.Timing > 0 {
		f.attr("timing", formatDuration(u.Timing))
	}
	f.optional("at", u.At)
	f.optionalInt("port", u.Port)
	f.optional("login", u.Login)
	f.optional("secret", u.Secret)
	f.optional("group", u.Group)
	f.characters(u.URI)
	f.end()
	f.open("type")
	f.attr("protocol", orElse(u.Protocol, ProtocolHTTP))
	f.attr("method", orElse(u.Method, MethodPull))
	f.attr("processtype", orElse(u.ProcessType, ProcessFilter))
	f.unless("change", u.Change, ChangeAdded)
	f.end()
	if !u.Keywords.empty() {
		f.open("keywords")
		f.attr("match", orElse(u.Keywords.Match, MatchAny))
		f.integer("threshold", u.Keywords.Threshold)
		f.group(u.Keywords.top())
		f.end()
	}
	f.rules(u)
	if u.Ask != "" {
		f.textElement("ask", u.Ask)
	}
	f.open("depth")
	f.integer("level", u.Depth)
	f.unless("scope", u.Scope, ScopeHost)
	f.end()
	f.urgency(u.Urgency)
	f.end()
}

func (f *formWriter) group(g Group) {
	for i := range g.Keywords {
		k := &g.Keywords[i]
		f.open("keyword")
		f.attr("key", k.Key)
		f.integer("weight", k.Weight)
		if k.Exact {
			f.attr("exact", "true")
		}
		f.unless("match", k.Match, MatchWord)
		f.end()
	}
	for _, inner := range g.Groups {
		f.open("group")
		f.attr("match", orElse(inner.Match, MatchAny))
		f.group(inner)
		f.end()
	}
}

func (f *formWriter) rules(u *URD) {
	if !u.selects() {
		return
	}
	f.open("selection")
	for _, r := range u.Select {
		f.open("select")
		f.attr(orElse(r.Language, RuleCSS), r.Text)
		f.optional("when", r.When)
		f.end()
	}
	for _, r := range u.Ignore {
		f.open("ignore")
		f.attr(orElse(r.Language, RuleCSS), r.Text)
		f.end()
	}
	f.end()
}
