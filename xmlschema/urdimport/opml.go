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

// opml reads the outlines of an OPML document, at any depth: xmlUrl is a feed, url or htmlUrl alone a page, and what
// has none of these a folder, whose name is a label of those in it.
func (r *reader) opml(content []byte) error {
	d := xml.NewDecoder(bytes.NewReader(xmltoken.EscapeBare(content)))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is UTF-8 by now
	root := ""
	var folders []string // around, by their names; empty for elements that are none
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
			if folders = append(folders, ""); len(folders) > maxDepth {
				return fmt.Errorf("%d:%d: outlines are nested more than %d deep", line, column, maxDepth)
			}
			if t.Name.Local != "outline" {
				continue
			}
			folder, err := r.outline(t, folders, Entry{Line: line, Column: column})
			if err != nil {
				return err
			}
			folders[len(folders)-1] = folder
		case xml.EndElement:
			folders = folders[:len(folders)-1]
		}
	}
	if root != "opml" {
		return fmt.Errorf("1:1: this is no OPML document: its root is %q", root)
	}
	return nil
}

// outline reads one outline within folders, and returns its name if it is a folder.
func (r *reader) outline(t xml.StartElement, folders []string, e Entry) (folder string, err error) {
	attributes := map[string]string{}
	for _, a := range t.Attr {
		attributes[a.Name.Local] = a.Value
	}
	name := cmp.Or(attributes["title"], attributes["text"])
	feed := attributes["xmlUrl"]
	start := cmp.Or(feed, attributes["url"], attributes["htmlUrl"])
	if start == "" {
		return name, nil
	}
	u := r.urd(start)
	if feed != "" {
		u.Protocol, u.Depth = xmlschema.ProtocolFeed, r.options.Defaults.Feeds
		u.Scope = xmlschema.ScopeAny // entries lie where they like
	}
	u.Title = titleOf(name)
	u.Labels, e.Lost = labelsOf(folders)
	for i, name := range e.Lost {
		e.Lost[i] = fmt.Sprintf("folder %.80q", name)
	}
	return "", r.add(e, u, nil)
}
