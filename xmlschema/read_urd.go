package xmlschema

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"time"
	"unicode/utf8"

	"github.com/webrace/webrace/xmlschema/cron"
)

// maxURI is the most characters of a URI, and maxKey of a keyword.
const (
	maxURI = 8192
	maxKey = 1024
)

// plugin is the name of a protocol that is not built in.
var plugin = regexp.MustCompile(`^x:[a-z][a-z0-9-]{0,31}$`)

func bindURD(b *binding) *URD {
	before := len(b.d.errs)
	u := NewURD(b.token("owner"), "")
	u.ID = b.token("id")
	b.d.claimID(b, u.ID)
	u.Remember = b.integer("remember", 0, 1, MostRemembered)
	bindMarks(b, u)
	if kid := b.child("type"); kid != nil {
		bindType(kid, u)
	}
	if kid := b.mustChild("uri"); kid != nil {
		bindSource(kid, u)
	}
	if kid := b.child("request"); kid != nil {
		u.Request = bindRequest(kid)
		if fault := u.requestFault(); fault != "" {
			kid.problem(fault)
		}
	}
	if kid := b.child("keywords"); kid != nil {
		u.Keywords = bindKeywords(kid)
	}
	if kid := b.child("selection"); kid != nil {
		bindSelection(kid, u)
	}
	if kid := b.child("ask"); kid != nil {
		u.Ask = bindAsk(kid)
	}
	if kid := b.child("depth"); kid != nil {
		u.Depth = kid.integer("level", DefaultDepth, 0, math.MaxInt32)
		u.Scope = kid.enum("scope", ScopeHost, ScopeDomain, ScopePrefix, ScopeAny)
		kid.empty()
	}
	u.Urgency = bindUrgency(b)
	b.done()

	if len(b.d.errs) > before {
		return u
	}
	for _, a := range advise(u) {
		b.fault(a)
	}
	if b.d.check != nil {
		for _, f := range b.d.check(u) {
			b.fault(f)
		}
	}
	return u
}

func bindType(b *binding, u *URD) {
	u.Protocol = bindProtocol(b)
	u.Method = b.enum("method", MethodPull, MethodPush)
	u.ProcessType = b.enum("processtype", ProcessFilter, ProcessNonFilter)
	u.Change = b.enum("change", ChangeAdded, ChangePage, ChangeFirst)
	b.empty()
}

func bindProtocol(b *binding) string {
	known := []string{ProtocolHTTP, ProtocolPOP3, ProtocolIMAP, ProtocolNNTP, ProtocolFeed, ProtocolDB}
	a := b.attr("protocol")
	switch {
	case a == nil:
		return ProtocolHTTP
	case plugin.MatchString(trim(a.value)):
		return trim(a.value)
	case b.d.legacy && trim(a.value) == "rmi":
		return "x:rmi"
	}
	return b.enum("protocol", known...)
}

func bindSource(b *binding, u *URD) {
	u.Timing = b.duration("timing")
	u.At = bindTimes(b, u.Timing)
	u.LastCheck = b.instant("lastcheck")
	u.Port = b.integer("port", 0, 1, 65535)
	u.Login = b.str("login")
	u.Secret = b.token("secret")
	u.Group = b.str("group")
	bindPassword(b)
	u.URI = bindURI(b)
	if fault := uriFault(u.Protocol, u.URI); fault != "" && u.URI != "" {
		b.problem(fmt.Sprintf("uri %q %s", u.URI, fault))
	}
}

// bindTimes reads the times at which a source is asked.
func bindTimes(b *binding, timing time.Duration) string {
	a := b.attr("at")
	if a == nil {
		return ""
	}
	s := cron.Normal(a.value)
	_, err := cron.Parse(s)
	var problem *cron.Error
	switch {
	case s == "":
		b.at(a, "at is empty", "")
	case utf8.RuneCountInString(s) > cron.MaxLength:
		b.at(a, fmt.Sprintf("at is longer than %d characters", cron.MaxLength), "")
	case errors.As(err, &problem):
		b.at(a, fmt.Sprintf("at %q names no times: %s", s, problem.Message), problem.Hint)
	case timing > 0:
		b.at(a, "at and timing are both given: at says at which times the source is asked, timing how often; leave one of them out, or make "+
			"two URDs of it, which are asked for together", "")
	}
	return s
}

// bindPassword drops the password that the papers have in clear.
func bindPassword(b *binding) {
	const advice = "keep it in the secret store and name it with secret"
	for i := range b.n.attrs {
		a := &b.n.attrs[i]
		switch {
		case a.name != "password":
			continue
		case b.d.legacy:
			b.d.warning(b.n, a.at, "/@password", "the password is dropped: "+advice, "")
		default:
			b.at(a, "a password cannot be given here: "+advice, "")
		}
		a.seen = true
	}
}

func bindURI(b *binding) string {
	uri := b.word()
	if utf8.RuneCountInString(uri) > maxURI {
		b.problem(fmt.Sprintf("<%s> is longer than %d characters", b.n.name, maxURI))
	}
	return uri
}

func bindUrgency(b *binding) int {
	kid := b.child("urgency")
	if kid == nil {
		return DefaultUrgency
	}
	defer kid.empty()
	return kid.integer("urgent", DefaultUrgency, 1, 3)
}

func bindKeywords(b *binding) Keywords {
	k := Keywords{Threshold: b.integer("threshold", DefaultThreshold, 0, 100)}
	g := bindGroup(b)
	k.Match, k.Keywords, k.Groups = g.Match, g.Keywords, g.Groups
	return k
}

func bindGroup(b *binding) Group {
	g := Group{Match: b.enum("match", MatchAny, MatchAll, MatchNone)}
	for _, kid := range b.children("keyword") {
		g.Keywords = append(g.Keywords, bindKeyword(kid))
	}
	for _, kid := range b.children("group") {
		g.Groups = append(g.Groups, bindGroup(kid))
	}
	if len(g.Keywords)+len(g.Groups) == 0 {
		b.problem(fmt.Sprintf("<%s> has no <keyword>", b.n.name))
	}
	b.done()
	return g
}

func bindKeyword(b *binding) Keyword {
	k := Keyword{
		Key:    b.key(),
		Weight: b.integer("weight", DefaultWeight, 1, 5),
		Exact:  b.boolean("exact"),
		Match:  b.enum("match", MatchWord, MatchSubstring),
	}
	b.empty()
	return k
}

// key returns the key attribute, which every keyword has.
func (b *binding) key() string {
	a := b.attr("key")
	switch {
	case a == nil:
		b.lacks("key")
		return ""
	case trim(a.value) == "":
		b.at(a, "key is empty", "")
	case utf8.RuneCountInString(a.value) > maxKey:
		b.at(a, fmt.Sprintf("key is longer than %d characters", maxKey), "")
	}
	return a.value
}

// claimID refuses an id that an earlier item of the document has.
func (d *Decoder) claimID(b *binding, id string) {
	if id == "" {
		return
	}
	if line, taken := d.ids[id]; taken {
		b.at(b.attr("id"), fmt.Sprintf("id %q is already that of line %d", id, line), "")
		return
	}
	d.ids[id] = b.n.at.line
}
