package urdimport

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/webrace/webrace/xmlschema"
	"github.com/webrace/webrace/xmlschema/httprequest"
)

// asked is how a watch asks for its page.
type asked struct {
	Method  string            `json:"method"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// request makes a request of it, if it is more than a GET. What cannot be said is lost, and named without its value.
func (a asked) request(u *xmlschema.URD) (lost []string) {
	r := &httprequest.Request{Method: cmp.Or(a.Method, http.MethodGet)}
	if !slices.Contains(httprequest.Methods, r.Method) {
		return a.all()
	}
	switch {
	case a.Body == "":
	case r.Method == http.MethodGet, strings.Contains(a.Body, "{{"), strings.Contains(a.Body, "{%"): // a template is filled in there
		return a.all()
	default:
		r.Body = a.Body
	}
	for _, name := range slices.Sorted(maps.Keys(a.Headers)) {
		value := strings.TrimSpace(a.Headers[name])
		if http.CanonicalHeaderKey(name) == "Content-Type" {
			if r.Body != "" {
				r.Type = value
			}
			continue
		}
		same := func(f httprequest.Field) bool { return strings.EqualFold(f.Name, name) }
		if httprequest.CheckField(name, value) != nil || httprequest.CheckReferences(value) != nil || slices.ContainsFunc(r.Header, same) {
			lost = append(lost, "headers."+name)
			continue
		}
		r.Header = append(r.Header, httprequest.Field{Name: name, Value: value})
	}
	if r.Method == http.MethodGet && len(r.Header) == 0 {
		return lost
	}
	u.Request = r
	return lost
}

// all names what a watch specifies of its request.
func (a asked) all() (lost []string) {
	for _, part := range []struct {
		name string
		set  bool
	}{{"method", a.Method != "" && a.Method != http.MethodGet}, {"headers", len(a.Headers) > 0}, {"body", a.Body != ""}} {
		if part.set {
			lost = append(lost, part.name)
		}
	}
	return lost
}
