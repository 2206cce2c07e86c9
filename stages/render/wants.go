package render

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/scope"
)

// wants reports whether a document is to be rendered: a whole HTML page whose body is there, fetched now or, behind the
// stage cache, as it is stored, if a rule names it or it looks empty.
func (s *stage) wants(d *webrace.Document) bool {
	if len(d.Body) == 0 || d.Truncated || d.Rendered || !isHTML(d) {
		return false
	}
	if rule, _ := s.rules.Find(d.URL); rule != nil {
		return rule.Verdict() == scope.Allowed
	}
	if !s.options.EmptyOnly {
		return true
	}
	if !looksEmpty(d, int(s.options.EmptyText)) {
		return false
	}
	s.count("looked_empty", 1)
	return true
}

func isHTML(d *webrace.Document) bool {
	switch d.MediaType {
	case "text/html", "application/xhtml+xml":
		return true
	case "":
		return strings.HasPrefix(http.DetectContentType(d.Body), "text/html")
	}
	return false
}

// looksEmpty reports whether a page has scripts and less text than little without them, apart from its title and
// navigation. What it shows to those who have no scripts is not counted.
func looksEmpty(d *webrace.Document, little int) bool {
	if !bytes.Contains(d.Body, []byte("<script")) && !bytes.Contains(bytes.ToLower(d.Body), []byte("<script")) {
		return false
	}
	r, err := extract.Document(d.Body, extract.ContentType(d.Header, d.MediaType), d.URL, extract.Options{Scripts: true})
	if err != nil || r.Text == nil {
		return false
	}
	for _, b := range r.Text.Blocks {
		if b.Field == webrace.FieldBody || b.Field == webrace.FieldHeading {
			little -= len(bytes.TrimSpace(r.Text.Slice(b)))
		}
	}
	return little > 0
}
