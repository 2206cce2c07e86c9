package xmlschema

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/beevik/etree"

	"github.com/webrace/webrace/xmlschema/httprequest"
)

// What documents are, written from trees of etree, which know XML and are in no hurry: it is compared with what is
// written straight.

// fromTree returns the canonical form of a document.
func fromTree(d writable) []byte {
	switch d := d.(type) {
	case *URD:
		return document(d.element())
	case *ACI:
		return document(d.element())
	default:
		return document(d.(*Meta).element())
	}
}

// settings escape what a reader would normalize away: line ends, and white space in attributes.
var settings = etree.WriteSettings{CanonicalText: true, CanonicalAttrVal: true}

func document(root *etree.Element) []byte {
	root.Attr = slices.Insert(root.Attr, 0, etree.Attr{Key: "xmlns", Value: Namespace})
	var b bytes.Buffer
	root.WriteTo(&b, &settings)
	return b.Bytes()
}

func (u *URD) element() *etree.Element {
	e := etree.NewElement("urd")
	optional(e, "id", u.ID)
	optional(e, "owner", u.Owner)
	optionalInt(e, "remember", u.Remember)

	uri := e.CreateElement("uri")
	if u.Timing > 0 {
		uri.CreateAttr("timing", formatDuration(u.Timing))
	}
	optional(uri, "at", u.At)
	if !u.LastCheck.IsZero() {
		uri.CreateAttr("lastcheck", formatTime(u.LastCheck))
	}
	optionalInt(uri, "port", u.Port)
	optional(uri, "login", u.Login)
	optional(uri, "secret", u.Secret)
	optional(uri, "group", u.Group)
	text(uri, u.URI)

	addRequest(e, u.Request)
	kind := e.CreateElement("type")
	kind.CreateAttr("protocol", orElse(u.Protocol, ProtocolHTTP))
	kind.CreateAttr("method", orElse(u.Method, MethodPull))
	kind.CreateAttr("processtype", orElse(u.ProcessType, ProcessFilter))
	unless(kind, "change", u.Change, ChangeAdded)

	if !u.Keywords.empty() {
		k := e.CreateElement("keywords")
		k.CreateAttr("match", orElse(u.Keywords.Match, MatchAny))
		k.CreateAttr("threshold", strconv.Itoa(u.Keywords.Threshold))
		addGroup(k, u.Keywords.top())
	}
	addRules(e, u)
	depth := e.CreateElement("depth")
	depth.CreateAttr("level", strconv.Itoa(u.Depth))
	unless(depth, "scope", u.Scope, ScopeHost)
	addUrgency(e, u.Urgency)
	return e
}

func addGroup(parent *etree.Element, g Group) {
	for _, k := range g.Keywords {
		e := parent.CreateElement("keyword")
		e.CreateAttr("key", k.Key)
		e.CreateAttr("weight", strconv.Itoa(k.Weight))
		if k.Exact {
			e.CreateAttr("exact", "true")
		}
		unless(e, "match", k.Match, MatchWord)
	}
	for _, inner := range g.Groups {
		e := parent.CreateElement("group")
		e.CreateAttr("match", orElse(inner.Match, MatchAny))
		addGroup(e, inner)
	}
}

func addUrgency(parent *etree.Element, urgency int) {
	if urgency == 0 {
		urgency = DefaultUrgency
	}
	parent.CreateElement("urgency").CreateAttr("urgent", strconv.Itoa(urgency))
}

func (a *ACI) element() *etree.Element {
	e := etree.NewElement("aci")
	optional(e, "id", a.ID)
	optional(e, "urd", a.URD)
	optional(e, "owner", a.Owner)
	optional(e, "extension", a.Extension)
	e.CreateAttr("format", orElse(a.Format, FormatUnknown))
	e.CreateAttr("relevance", strconv.Itoa(a.Relevance))
	if !a.UpdateTime.IsZero() {
		e.CreateAttr("updatetime", formatTime(a.UpdateTime))
	}
	e.CreateAttr("filesize", strconv.Itoa(a.FileSize))

	text(e.CreateElement("uri"), a.URI)
	optionalText(e, "title", a.Title)
	addUrgency(e, a.Urgency)
	if a.Docbase != (Docbase{}) {
		d := e.CreateElement("docbase")
		optional(d, "digest", a.Docbase.Digest)
		optionalInt(d, "version", a.Docbase.Version)
		optionalInt(d, "since", a.Docbase.Since)
		optional(d, "secret", a.Docbase.Secret)
		optionalPrint(d, "likeness", a.Docbase.Likeness)
		optionalPrint(d, "shown", a.Docbase.Shown)
		optionalPrint(d, "matched", a.Docbase.Matched)
		text(d, a.Docbase.Name)
	}
	e.CreateElement("expired").CreateAttr("expir", strconv.FormatBool(a.Expired))
	optionalText(e, "summary", a.Summary)
	if a.Explain != nil {
		addExplain(e, a.Explain)
	}
	if a.Also.Count != 0 || len(a.Also.Documents) > 0 {
		also := e.CreateElement("also")
		also.CreateAttr("count", strconv.Itoa(a.Also.Count))
		for _, m := range a.Also.Documents {
			uri := also.CreateElement("uri")
			optionalInt(uri, "version", m.Version)
			text(uri, m.URI)
		}
	}
	if len(a.Values) > 0 {
		values := e.CreateElement("values")
		for _, name := range slices.Sorted(maps.Keys(a.Values)) {
			value := values.CreateElement("value")
			value.CreateAttr("name", name)
			text(value, a.Values[name])
		}
	}
	return e
}

func addExplain(parent *etree.Element, x *Explain) {
	e := parent.CreateElement("explain")
	e.CreateAttr("relevance", strconv.Itoa(x.Relevance))
	e.CreateAttr("threshold", strconv.Itoa(x.Threshold))
	for _, k := range x.Keywords {
		share := e.CreateElement("keyword")
		share.CreateAttr("key", k.Key)
		share.CreateAttr("weight", strconv.Itoa(k.Weight))
		optionalInt(share, "title", k.Title)
		optionalInt(share, "heading", k.Heading)
		optionalInt(share, "body", k.Body)
		optionalInt(share, "navigation", k.Navigation)
		share.CreateAttr("saturation", strconv.FormatFloat(k.Saturation, 'f', -1, 64))
		share.CreateAttr("share", strconv.FormatFloat(k.Share, 'f', -1, 64))
	}
}

func (m *Meta) element() *etree.Element {
	e := etree.NewElement("meta")
	optionalInt(e, "status", m.Status)
	e.CreateAttr("size", strconv.Itoa(m.Size))
	optional(e, "etag", m.ETag)
	optional(e, "lastmodified", m.LastModified)
	if !m.Fetched.IsZero() {
		e.CreateAttr("fetched", formatTime(m.Fetched))
	}
	text(e.CreateElement("url"), m.URL)
	optionalText(e, "ip", m.IP)
	for _, h := range m.Header {
		field := e.CreateElement("header")
		field.CreateAttr("name", h.Name)
		text(field, h.Value)
	}
	for _, link := range m.Links {
		e.CreateElement("link").CreateAttr("href", link)
	}
	return e
}

func optional(e *etree.Element, name, value string) { unless(e, name, value, "") }

// unless writes an attribute that has another value than its default.
func unless(e *etree.Element, name, value, otherwise string) {
	if value != "" && value != otherwise {
		e.CreateAttr(name, value)
	}
}

func optionalPrint(e *etree.Element, name string, fingerprint uint64) {
	if fingerprint != 0 {
		e.CreateAttr(name, writePrint(fingerprint))
	}
}

func optionalInt(e *etree.Element, name string, value int) {
	if value != 0 {
		e.CreateAttr(name, strconv.Itoa(value))
	}
}

func optionalText(parent *etree.Element, name, value string) {
	if value != "" {
		text(parent.CreateElement(name), value)
	}
}

func text(e *etree.Element, value string) {
	if value != "" {
		e.AddChild(etree.NewText(value))
	}
}

func addRules(parent *etree.Element, u *URD) {
	if !u.selects() {
		return
	}
	e := parent.CreateElement("selection")
	for _, r := range u.Select {
		rule := e.CreateElement("select")
		rule.CreateAttr(orElse(r.Language, RuleCSS), r.Text)
		if r.When != "" {
			rule.CreateAttr("when", r.When)
		}
	}
	for _, r := range u.Ignore {
		e.CreateElement("ignore").CreateAttr(orElse(r.Language, RuleCSS), r.Text)
	}
}

func addRequest(parent *etree.Element, r *httprequest.Request) {
	if r == nil {
		return
	}
	e := parent.CreateElement("request")
	e.CreateAttr("method", orElse(r.Method, http.MethodGet))
	optional(e, "type", r.Type)
	for _, f := range r.Header {
		field := e.CreateElement("header")
		field.CreateAttr("name", f.Name)
		text(field, f.Value)
	}
	optionalText(e, "body", r.Body)
}
