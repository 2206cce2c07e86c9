package xmlschema

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/beevik/etree"
)

// settings escape what a reader would normalize away: line ends, and white space in attributes.
var settings = etree.WriteSettings{CanonicalText: true, CanonicalAttrVal: true}

// Canonical returns the request in the one form in which it is stored: the default namespace, no white
// space between elements, attributes in a fixed order. The papers' attributes are written even where they
// have their default, so that they can be asked for; those that were added since are not. Characters that
// XML cannot carry become U+FFFD; Validate tells.
func (u *URD) Canonical() []byte { return document(u.element()) }

// Canonical returns the annotation in the form in which it is stored, as for a URD.
func (a *ACI) Canonical() []byte { return document(a.element()) }

// Canonical returns the meta-information in the form in which it is stored, as for a URD.
func (m *Meta) Canonical() []byte {
	if m.plain() {
		return m.encode()
	}
	return document(m.element())
}

// WriteTo writes the canonical form.
func (u *URD) WriteTo(w io.Writer) (int64, error) { return write(w, u.Canonical()) }

// WriteTo writes the canonical form.
func (a *ACI) WriteTo(w io.Writer) (int64, error) { return write(w, a.Canonical()) }

// WriteTo writes the canonical form.
func (m *Meta) WriteTo(w io.Writer) (int64, error) { return write(w, m.Canonical()) }

func write(w io.Writer, b []byte) (int64, error) {
	n, err := w.Write(b)
	return int64(n), err
}

// URDs is a list of requests as a document.
type URDs []*URD

// ACIs is a list of annotations as a document.
type ACIs []*ACI

// Canonical returns the list with one request a line.
func (us URDs) Canonical() []byte { return listed(us.WriteTo) }

// Canonical returns the list with one annotation a line.
func (as ACIs) Canonical() []byte { return listed(as.WriteTo) }

// WriteTo writes the list with one request a line.
func (us URDs) WriteTo(w io.Writer) (int64, error) { return WriteURDs(w, slices.Values(us)) }

// WriteTo writes the list with one annotation a line.
func (as ACIs) WriteTo(w io.Writer) (int64, error) { return WriteACIs(w, slices.Values(as)) }

// WriteURDs writes requests as they come, one a line, as one <urds> document.
func WriteURDs(w io.Writer, urds iter.Seq[*URD]) (int64, error) {
	return writeList(w, "urds", urds, (*URD).element)
}

// WriteACIs writes annotations as they come, one a line, as one <acis> document.
func WriteACIs(w io.Writer, acis iter.Seq[*ACI]) (int64, error) {
	return writeList(w, "acis", acis, (*ACI).element)
}

func writeList[T any](w io.Writer, name string, items iter.Seq[T], element func(T) *etree.Element) (int64, error) {
	count := &countingWriter{w: w}
	out := bufio.NewWriter(count)
	out.WriteString("<" + name + ` xmlns="` + Namespace + "\">\n")
	for item := range items {
		element(item).WriteTo(out, &settings)
		if err := out.WriteByte('\n'); err != nil {
			return count.n, err
		}
	}
	out.WriteString("</" + name + ">\n")
	err := out.Flush()
	return count.n, err
}

func listed(writeTo func(io.Writer) (int64, error)) []byte {
	var b bytes.Buffer
	writeTo(&b) // a buffer does not fail
	return b.Bytes()
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

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
	optional(e, "title", u.Title)
	optional(e, "labels", u.labels())
	optional(e, "state", u.state())

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
	optionalText(e, "ask", u.Ask)
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

	uri := e.CreateElement("uri")
	optional(uri, "thread", a.Thread)
	text(uri, a.URI)
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
	if a.Judgement != nil {
		a.Judgement.addTo(e)
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

// writePrint writes a fingerprint as [binding.fingerprint] reads it.
func writePrint(fingerprint uint64) string { return fmt.Sprintf("%016x", fingerprint) }

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
