package urdimport

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"

	"github.com/webrace/webrace/internal/xmltoken"
	"github.com/webrace/webrace/xmlschema"
)

// opml reads the outlines of an OPML document, at any depth: xmlUrl is a feed, url or htmlUrl alone a page.
func (r *reader) opml(content []byte) error {
	d := xml.NewDecoder(bytes.NewReader(xmltoken.EscapeBare(content)))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is UTF-8 by now
	depth, folders := 0, 0
	root := ""
	for {
		line, column := d.InputPos()
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			line, column := d.InputPos()
			var syntax *xml.SyntaxError
			if errors.As(err, &syntax) {
				err = errors.New(syntax.Msg)
			}
			return fmt.Errorf("%d:%d: %w", line, column, err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			root = cmp.Or(root, t.Name.Local)
			if depth++; depth > maxDepth {
				return fmt.Errorf("%d:%d: outlines are nested more than %d deep", line, column, maxDepth)
			}
			if t.Name.Local != "outline" {
				continue
			}
			entry, err := r.outline(t, Note{Line: line, Column: column})
			if err != nil {
				return err
			}
			if !entry {
				folders++
			}
		case xml.EndElement:
			depth--
		}
	}
	if root != "opml" {
		return fmt.Errorf("1:1: this is no OPML document: its root is %q", root)
	}
	if folders > 0 {
		r.Warnings = append(r.Warnings, Note{Line: 1, Column: 1, Message: fmt.Sprintf("%d folders are not taken over: URDs have none", folders)})
	}
	return nil
}

// outline reads one outline, and reports whether it is an entry; a folder is none.
func (r *reader) outline(t xml.StartElement, at Note) (bool, error) {
	attributes := map[string]string{}
	for _, a := range t.Attr {
		attributes[a.Name.Local] = a.Value
	}
	if feed := attributes["xmlUrl"]; feed != "" {
		u := r.urd(feed)
		u.Protocol, u.Depth = xmlschema.ProtocolFeed, r.defaults.Feeds
		u.Scope = xmlschema.ScopeAny // entries lie where they like
		return true, r.add(u, nil, at)
	}
	for _, name := range []string{"url", "htmlUrl"} {
		if page := attributes[name]; page != "" {
			return true, r.add(r.urd(page), nil, at)
		}
	}
	return false, nil
}
