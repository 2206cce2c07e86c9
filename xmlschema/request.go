package xmlschema

import (
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/beevik/etree"

	"github.com/webrace/webrace/xmlschema/httprequest"
)

// maxMediaType is the most characters of a body's type.
const maxMediaType = 256

// Secrets returns the names of the credentials that the request is made with, sorted, each once: that of the source,
// and those that values of its header and body name.
func (u *URD) Secrets() []string {
	names := u.Request.Secrets()
	if u.Secret != "" {
		names = append(names, u.Secret)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Source tells what is asked for from all else that could be asked for: the URI, and how, if that is not by a plain
// GET.
func (u *URD) Source() string {
	if mark := u.Request.Mark(); mark != "" {
		return u.URI + "#" + mark
	}
	return u.URI
}

func bindRequest(b *binding) *httprequest.Request {
	r := &httprequest.Request{Method: b.enum("method", httprequest.Methods...)}
	if a := b.attr("type"); a != nil {
		r.Type = trim(a.value)
		if fault := mediaTypeFault(r.Type); fault != "" {
			b.at(a, fmt.Sprintf("type \"%s\" %s", r.Type, fault), "")
		}
	}
	kids := b.children("header")
	if len(kids) > httprequest.MaxFields {
		b.problem(fmt.Sprintf("<%s> has more than %d <header>", b.n.name, httprequest.MaxFields))
	}
	for _, kid := range kids {
		r.Header = append(r.Header, bindField(kid, r.Header))
	}
	body := b.child("body")
	if body != nil {
		r.Body = bindBody(body)
	}
	b.inOrder("header", "body")
	switch {
	case body != nil && r.Method == http.MethodGet:
		body.problem("a GET request has no body: method=\"POST\" sends one")
	case body == nil && r.Type != "":
		b.at(b.attr("type"), "type is that of a <body>, and there is none", "")
	case r.Method == http.MethodGet && len(kids) == 0:
		b.problem("the request says nothing that another does not: leave <request> out, or give it a method, a <header> or a <body>")
	}
	b.done()
	return r
}

func bindField(b *binding, before []httprequest.Field) httprequest.Field {
	name := b.mustAttr("name")
	f := httprequest.Field{Name: trim(name), Value: trim(b.text())}
	if trim(name) == "" {
		return f
	}
	if err := httprequest.CheckField(f.Name, f.Value); err != nil {
		b.problem("this cannot be sent: " + err.Error())
	} else if err := httprequest.CheckReferences(f.Value); err != nil {
		b.problem("this cannot be sent: " + err.Error())
	}
	same := func(other httprequest.Field) bool { return strings.EqualFold(f.Name, other.Name) }
	if slices.ContainsFunc(before, same) {
		b.problem(fmt.Sprintf("this cannot be sent: the header field %s is given twice", f.Name))
	}
	return f
}

func bindBody(b *binding) string {
	body := b.text()
	switch {
	case body == "":
		b.problem("<body> is empty: leave it out")
	case utf8.RuneCountInString(body) > httprequest.MaxBody:
		b.problem(fmt.Sprintf("<body> is longer than %d characters", httprequest.MaxBody))
	}
	if err := httprequest.CheckReferences(body); err != nil {
		b.problem("this cannot be sent: " + err.Error())
	}
	return body
}

// mediaTypeFault returns why a text is not the media type of a body; nothing if it is.
func mediaTypeFault(s string) string {
	media, _, err := mime.ParseMediaType(s)
	switch {
	case utf8.RuneCountInString(s) > maxMediaType:
		return fmt.Sprintf("is longer than %d characters", maxMediaType)
	case err != nil, !strings.Contains(media, "/"), httprequest.CheckField("X-Type", s) != nil:
		return "is no media type (as application/json)"
	}
	return ""
}

// requestFault returns why a request cannot be made of this source; nothing if it can.
func (u *URD) requestFault() string {
	_, watches := u.Prefix()
	switch {
	case u.Request == nil:
	case !u.OfTheWeb():
		return fmt.Sprintf("<request> is for http and feed, and the protocol is %s", u.Protocol)
	case watches:
		return "<request> asks for nothing: a URI that ends in * starts no crawl"
	}
	return ""
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

func (r *tableReader) request(node int) *httprequest.Request {
	q := &httprequest.Request{}
	r.attributes(node, func(name string, value []byte) {
		if name == "method" {
			q.Method = one(value, http.MethodGet, http.MethodPost)
		} else {
			q.Type = string(value)
		}
	})
	for kid := r.next(node, cellFirst); kid != 0; kid = r.next(kid, cellNext) {
		text := ""
		if t := r.t.node(kid, cellFirst); t != 0 {
			text = string(r.t.slice(r.t.node(t, cellText), r.t.node(t, cellTextLen)))
		}
		if r.name(kid) == "body" {
			q.Body = text
			continue
		}
		f := httprequest.Field{Value: text}
		r.attributes(kid, func(_ string, value []byte) { f.Name = string(value) })
		q.Header = append(q.Header, f)
	}
	return q
}

func normalRequest(r *httprequest.Request) *httprequest.Request {
	if r == nil {
		return nil
	}
	n := *r
	n.Method = orElse(r.Method, http.MethodGet)
	n.Header = append([]httprequest.Field(nil), r.Header...)
	return &n
}

// openly are fields of which the value is mostly a secret.
var openly = []string{"Authorization", "Cookie", "X-Api-Key"}

// adviseRequest warns of what stands in clear where all can read it who may read the request.
func adviseRequest(r *httprequest.Request, add func(about, format string, args ...any)) {
	if r == nil {
		return
	}
	for _, f := range r.Header {
		names := (&httprequest.Request{Header: []httprequest.Field{f}}).Secrets()
		if slices.Contains(openly, http.CanonicalHeaderKey(f.Name)) && len(names) == 0 {
			add("request/header", "%s holds credentials in clear: keep them in the secret store, and write ${secret:NAME} for them", f.Name)
		}
	}
}
