package xslt

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/lestrrat-go/helium"

	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/pipeline"
)

// The names of GRDDL (https://www.w3.org/TR/grddl/, sections 2 and 4).
const (
	nsGRDDL      = "http://www.w3.org/2003/g/data-view#"
	profileGRDDL = "http://www.w3.org/2003/g/data-view"
)

// grddl finds the stylesheets that documents name for themselves. Only those of a list are known, by their URIs;
// nothing is fetched, neither they nor the profiles and namespaces that could name others.
type grddl struct {
	env    *pipeline.Env
	sheets map[string]*stylesheet
	logged *loggedSheets
}

// loggedSheets are the stylesheets that were logged as missing, up to a number.
type loggedSheets struct {
	mu  sync.Mutex
	all map[string]bool
}

const maxLogged = 1000

func newGRDDL(env *pipeline.Env) grddl {
	return grddl{env: env, sheets: make(map[string]*stylesheet), logged: &loggedSheets{all: make(map[string]bool)}}
}

// concerns reports whether a document may name a stylesheet. Bytes are scanned, nothing is parsed.
func (g grddl) concerns(in *input) bool {
	return len(g.sheets) > 0 && in.isMarkup() && bytes.Contains(in.body, []byte(profileGRDDL))
}

// find returns the first of the stylesheets that a document names which is known; nil if none is.
func (g grddl) find(tree *helium.Document, documentURL string) (found *stylesheet) {
	for _, uri := range named(tree, documentURL) {
		sheet := g.sheets[uri]
		if sheet == nil {
			g.missing(uri, documentURL)
		}
		if found == nil {
			found = sheet
		}
	}
	return found
}

func (g grddl) missing(uri, documentURL string) {
	g.env.Counter("grddl_unknown").Add(1)
	g.logged.mu.Lock()
	defer g.logged.mu.Unlock()
	if !g.logged.all[uri] && len(g.logged.all) < maxLogged {
		g.logged.all[uri] = true
		g.env.Logger.Warn("a document names a stylesheet that grddl does not list: it is not fetched", "stylesheet", uri, "url", documentURL)
	}
}

// maxNamed is how many stylesheets of a document are looked up.
const maxNamed = 64

// named returns the URIs of the stylesheets that a document names: in the attribute of its root, and, if the profile of
// a page is that of GRDDL, in its links.
func named(tree *helium.Document, documentURL string) (uris []string) {
	root := tree.DocumentElement()
	base, err := url.Parse(documentURL)
	if root == nil || err != nil {
		return nil
	}
	add := func(base *url.URL, references ...string) {
		for _, reference := range references {
			if u, err := base.Parse(reference); err == nil && len(uris) < maxNamed && !slices.Contains(uris, u.String()) {
				uris = append(uris, u.String())
			}
		}
	}
	if list, ok := root.GetAttributeNS("transformation", nsGRDDL); ok {
		within := base
		if own, err := base.Parse(attribute(root, "xml:base")); err == nil {
			within = own
		}
		add(within, strings.Fields(list)...)
	}
	if root.URI() != htmltree.NamespaceXHTML || root.LocalName() != "html" {
		return uris
	}
	profiled := false
	for n := range helium.Descendants(root) {
		e, ok := n.(*helium.Element)
		if !ok || e.URI() != htmltree.NamespaceXHTML {
			continue
		}
		switch e.LocalName() {
		case "head":
			profiled = profiled || slices.Contains(strings.Fields(attribute(e, "profile")), profileGRDDL)
		case "base":
			if own, err := base.Parse(attribute(e, "href")); err == nil {
				base = own
			}
		case "link", "a":
			if profiled && slices.Contains(strings.Fields(attribute(e, "rel")), "transformation") {
				add(base, attribute(e, "href"))
			}
		}
	}
	return uris
}

func attribute(e *helium.Element, name string) string {
	value, _ := e.GetAttribute(name)
	return strings.TrimSpace(value)
}
