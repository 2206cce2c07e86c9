package transform

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/net/html"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/jsonld"
	"github.com/webrace/webrace/internal/mediatype"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/xmltoken"
)

func (t *transformation) jsonldOptions(base string, told func(error)) jsonld.Options {
	return jsonld.Options{
		Base: base, Blank: strings.TrimPrefix(t.blank, "_:"), Contexts: t.options.Contexts, Escape: true, Lenient: t.options.Lenient,
		Told: func(e *jsonld.Error) { told(e) }, Limits: t.limits.Limits,
	}
}

// jsonLD reads a document of JSON-LD.
func (t *transformation) jsonLD(text []byte) error {
	told := func(e error) { t.problem(e.Error()) }
	for q, err := range jsonld.ToRDF(t.ctx, text, t.jsonldOptions(t.url, told)) {
		if err != nil {
			return err
		}
		if err := t.add(q.Subject, q.Predicate, q.Object); err != nil {
			return err
		}
	}
	return nil
}

// scripts reads the JSON-LD in a page's scripts, each of which stands alone.
func (p *page) scripts() error {
	for _, n := range p.elements {
		if n.Data != "script" {
			continue
		}
		typ, _ := attr(n, "type")
		if mediatype.Of(strings.Trim(typ, white)) != typeJSONLD || n.FirstChild == nil || strings.Trim(n.FirstChild.Data, white) == "" {
			continue
		}
		p.part("JSON-LD", func() error { return p.script(n) })
	}
	return nil
}

// script reads one script. Its blank nodes are its own.
func (p *page) script(n *html.Node) error {
	blanks := make(map[webrace.Term]webrace.Term)
	own := func(t webrace.Term) webrace.Term {
		if rdf.KindOf(t) != rdf.Blank {
			return t
		}
		if blanks[t] == "" {
			blanks[t] = p.newBlank()
		}
		return blanks[t]
	}
	text := n.FirstChild.Data
	if p.xhtml { // where a script is in a section of text, or has character references; spaces keep its places
		const open, end = "<![CDATA[", "]]>"
		if before, section, ok := strings.Cut(text, open); ok {
			text = before + strings.Repeat(" ", len(open)) + strings.Replace(section, end, strings.Repeat(" ", len(end)), 1)
		} else {
			text = string(xmltoken.Decode([]byte(text)))
		}
	}
	told := func(e error) { p.problem("JSON-LD: " + p.inPage(n, e).Error()) }
	for q, err := range jsonld.ToRDF(p.ctx, []byte(text), p.jsonldOptions(p.baseIRI, told)) {
		if err != nil {
			return p.inPage(n, err)
		}
		if err := p.add(own(q.Subject), q.Predicate, own(q.Object)); err != nil {
			return err
		}
	}
	return nil
}

// inPage makes the place in a script that an error names one in the page.
func (p *page) inPage(n *html.Node, err error) error {
	var wrong *jsonld.Error
	if errors.As(err, &wrong) && wrong.Context == "" && wrong.Line > 0 {
		return fmt.Errorf("%s: %s: %s", p.position(n, wrong.Line, wrong.Column), wrong.Code, wrong.Says)
	}
	var much *rdf.LimitError
	if errors.As(err, &much) && much.Line > 0 && !strings.Contains(much.What, "in the context") {
		return &limitError{limitOf(err), fmt.Sprintf("%s: more than %d %s", p.position(n, much.Line, much.Column), much.Limit, much.What)}
	}
	return fmt.Errorf("the script at %s: %w", p.position(n, 0, 0), err)
}
