package xslt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/lestrrat-go/helium"
	"github.com/lestrrat-go/helium/xslt3"

	"github.com/webrace/webrace/stages/internal/filestate"
)

// modules gives the compiler the files that a stylesheet imports and includes: those in its own folder and below, and
// no others. It looks at each before it is compiled.
type modules struct {
	ctx     context.Context
	files   *filestate.Files
	dir     string // absolute
	shown   string // the same, as it was written
	parsed  []module
	refused error // the first error, of which the compiler keeps the text only
}

// module is a file of a stylesheet.
type module struct {
	file string
	tree *helium.Document
}

var _ xslt3.URIResolver = (*modules)(nil)

// Resolve opens the file at an address, relative to no other. The name is the interface's.
func (m *modules) Resolve(uri string) (io.ReadCloser, error) {
	text, err := m.read(uri)
	if err != nil {
		if m.refused == nil {
			m.refused = err
		}
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(text)), nil
}

func (m *modules) read(uri string) ([]byte, error) {
	u, err := url.Parse(uri)
	if err != nil {
		return nil, err
	}
	name, err := filepath.Rel(m.dir, filepath.FromSlash(u.Path))
	if u.Scheme != "file" && u.Scheme != "" || err != nil || !filepath.IsLocal(name) {
		return nil, fmt.Errorf("%s is not in the folder of the stylesheet, %s, or below: a stylesheet imports and includes nothing from elsewhere", uri, m.shown)
	}
	folder, err := os.OpenRoot(m.dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }() // nothing was written
	text, err := folder.ReadFile(name)
	if err != nil {
		return nil, err
	}
	m.files.Note(filepath.Join(m.dir, name), text)
	_, err = m.parse(filepath.Join(m.shown, name), text)
	return text, err
}

// parse makes the tree of a file, and refuses what it must not do.
func (m *modules) parse(file string, text []byte) (*helium.Document, error) {
	tree, err := stylesheetParser().Parse(m.ctx, text)
	if err != nil {
		var at helium.ErrParseError
		if errors.As(err, &at) {
			return nil, &refusal{fmt.Sprintf("%s:%d:%d: %v", file, at.LineNumber, at.Column, at.Err)}
		}
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	m.parsed = append(m.parsed, module{file, tree})
	for n := range helium.Descendants(tree) {
		if problem := refused(n); problem != "" {
			return nil, &refusal{fmt.Sprintf("%s:%d: %s", file, lineOf(n), problem)}
		}
	}
	return tree, nil
}

// lineOf returns the line of a node. Texts have none; then it is that of their element.
func lineOf(n helium.Node) int {
	if n.Line() == 0 && n.Parent() != nil {
		return n.Parent().Line()
	}
	return n.Line()
}

// refusal is an error with its place.
type refusal struct{ text string }

func (e *refusal) Error() string { return e.text }

const nsXSL = "http://www.w3.org/1999/XSL/Transform"

// refused returns what a stylesheet must not do at a node; empty if it does nothing of the kind. What it would compute
// to do it, such as expressions and names of functions, is refused as well.
func refused(n helium.Node) string {
	e, isElement := n.(*helium.Element)
	if !isElement {
		if parent, ok := n.Parent().(*helium.Element); ok && bytes.IndexByte(n.Content(), '{') >= 0 { // a text value template
			return forbiddenCall(parent, string(n.Content()))
		}
		return ""
	}
	if e.URI() == nsXSL {
		switch e.LocalName() {
		case "evaluate":
			return "xsl:evaluate is refused: what it computes could read the environment"
		case "result-document":
			if e.HasAttribute("href") {
				return "xsl:result-document with href is refused: nothing takes a second document, and none is written"
			}
		}
	}
	for _, a := range e.Attributes() {
		if e.URI() == nsXSL && strings.HasPrefix(a.Name(), "_") {
			return fmt.Sprintf("the attribute %s is refused, because its text is computed: write %s", a.Name(), a.Name()[1:])
		}
		if problem := forbiddenCall(e, a.Value()); problem != "" {
			return problem
		}
	}
	return ""
}

// forbidden are the functions that a stylesheet must not call, and why.
var forbidden = map[string]string{
	"environment-variable":            "it reads the environment, in which there may be secrets",
	"available-environment-variables": "it reads the environment, in which there may be secrets",
	"function-lookup":                 "it could look up environment-variable",
	"transform":                       "it could run a stylesheet that was not looked at",
}

// call is a call of one of these, or a reference to one.
var call = regexp.MustCompile(`(?:Q\{([^{}]*)\}|([\pL_][\pL\pN_.-]*):)?(environment-variable|available-environment-variables|function-lookup|transform)\s*[(#]`)

const nsFunctions = "http://www.w3.org/2005/xpath-functions"

// forbiddenCall returns which forbidden function an expression calls; empty if it calls none.
func forbiddenCall(e *helium.Element, expression string) string {
	for _, at := range call.FindAllStringSubmatchIndex(expression, -1) {
		part := func(i int) string { return expression[max(at[2*i], 0):max(at[2*i+1], 0)] }
		before, function := expression[:at[0]], part(3)
		if before != "" && (strings.ContainsAny(before[len(before)-1:], "$-._:") || isWord(before[len(before)-1])) {
			continue // the end of another name
		}
		if namespaceOf(e, strings.TrimSpace(part(1)), part(2)) == nsFunctions {
			return fmt.Sprintf("%s() is refused: %s", function, forbidden[function])
		}
	}
	return ""
}

func isWord(c byte) bool {
	return c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// namespaceOf returns the namespace of a function by what stands before its name: a namespace, a prefix or nothing.
func namespaceOf(e *helium.Element, namespace, prefix string) string {
	if namespace != "" {
		return namespace
	}
	if prefix == "" || prefix == "fn" {
		return nsFunctions
	}
	if declared := helium.LookupNSByPrefix(e, prefix); declared != nil {
		return declared.URI()
	}
	return ""
}
