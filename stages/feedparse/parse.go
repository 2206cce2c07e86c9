package feedparse

import (
	"bytes"
	"cmp"
	stdjson "encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/mmcdole/gofeed/atom"
	"github.com/mmcdole/gofeed/json"
	"github.com/mmcdole/gofeed/rss"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/charsets"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/formats"
	"github.com/webrace/webrace/internal/sitemap"
	"github.com/webrace/webrace/internal/xmltoken"
)

// parse returns the feed itself, as the first, and its entries.
func (s *stage) parse(d *webrace.Document, k kind) ([]entry, error) {
	if size := int64(len(d.Body)); size > int64(s.options.MaxSize) {
		return nil, fmt.Errorf("it has %d bytes, more than %v", size, s.options.MaxSize)
	}
	text, _, err := charsets.ToUTF8(d.Body, extract.ContentType(d.Header, d.MediaType))
	if err != nil {
		return nil, err
	}
	if k == jsonKind {
		return s.json(text)
	}
	bounds := xmltoken.Bounds{Depth: s.options.MaxDepth, Attributes: maxAttributes, Elements: mostElements(len(text))}
	if err := bounds.Check(text); err != nil {
		return nil, err
	}
	text = xmltoken.EscapeBare(withoutDeclaration(text))
	read := s.rss
	if k == atomKind {
		read = s.atom
	}
	entries, err := read(text)
	if err != nil {
		return nil, cmp.Or(xmltoken.Fault(text), err)
	}
	return entries, nil
}

// withoutDeclaration takes off the declaration of the encoding that the text was in.
func withoutDeclaration(text []byte) []byte {
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\ufeff")), " \t\n\r")
	if bytes.HasPrefix(text, []byte("<?xml")) {
		if end := bytes.Index(text, []byte("?>")); end >= 0 {
			return text[end+2:]
		}
	}
	return text
}

func (s *stage) rss(text []byte) ([]entry, error) {
	feed, err := new(rss.Parser).Parse(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	entries := []entry{{addresses: feed.Links}}
	for _, item := range feed.Items {
		e := entry{addresses: item.Links, changed: latest(item.PubDateParsed)}
		if dc := item.DublinCoreExt; dc != nil && e.changed.IsZero() && len(dc.Date) > 0 {
			e.changed = sitemap.ParseTime(dc.Date[0])
		}
		e.addresses = append(e.addresses, atomLinks(item)...)
		if g := item.GUID; g != nil && isPermalink(g) {
			e.addresses = append(e.addresses, g.Value)
		}
		if s.options.Enclosures {
			for _, enclosure := range item.Enclosures {
				e.addresses = append(e.addresses, enclosure.URL)
			}
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// atomLinks returns where links of Atom lead that an item of RSS has.
func atomLinks(item *rss.Item) (addresses []string) {
	for _, link := range item.Extensions["atom"]["link"] {
		if rel := link.Attrs["rel"]; rel == "" || rel == "alternate" {
			addresses = append(addresses, link.Attrs["href"])
		}
	}
	return addresses
}

// isPermalink reports whether an item's identifier is an address: it is one unless said otherwise, which
// many forget to declare.
func isPermalink(g *rss.GUID) bool {
	const scheme = "http"
	value := strings.TrimSpace(g.Value)
	return !strings.EqualFold(g.IsPermalink, "false") && len(value) > len(scheme) && strings.EqualFold(value[:len(scheme)], scheme)
}

// blanks is white space, and what is no such thing in XML but in word processors, around the value of an attribute.
var blanks = regexp.MustCompile(`^` + blank + `+|` + blank + `+$`)

const blank = `(?:[\s\x{a0}]|&#(?:9|10|13|32|160|[xX](?:9|[aAdD]|20|[aA]0));)`

// trimLinks takes the white space off the attributes of Atom's links: the parser would resolve addresses with it.
func trimLinks(text []byte) []byte {
	out, rest := make([]byte, 0, len(text)), text
	for {
		name, behind, found := bytes.Cut(rest, []byte("="))
		value := bytes.TrimLeft(behind, " \t\r\n")
		if !found {
			return append(out, rest...)
		}
		start := len(rest) - len(value)
		out, rest = append(out, rest[:start]...), value
		if !ofLink(name) || len(value) == 0 || value[0] != '"' && value[0] != '\'' {
			continue
		}
		if end := bytes.IndexByte(value[1:], value[0]) + 1; end > 0 {
			out = append(append(out, value[0]), trim(value[1:end])...)
			rest = value[end:]
		}
	}
}

func trim(value []byte) []byte {
	if plain := bytes.Trim(value, " \t\r\n\u00a0&;"); len(plain) == len(value) { // as nearly always
		return value
	}
	return blanks.ReplaceAll(value, nil)
}

// ofLink reports whether a text ends in the name of an attribute that holds the target of a link.
func ofLink(text []byte) bool {
	text = bytes.TrimRight(text, " \t\r\n")
	return bytes.HasSuffix(text, []byte("href")) || bytes.HasSuffix(text, []byte("rel")) || bytes.HasSuffix(text, []byte("xml:base"))
}

func (s *stage) atom(text []byte) ([]entry, error) {
	feed, err := new(atom.Parser).Parse(bytes.NewReader(trimLinks(text)))
	if err != nil {
		return nil, err
	}
	entries := []entry{{addresses: s.followed(feed.Links)}}
	for _, e := range feed.Entries {
		entries = append(entries, entry{s.followed(e.Links), latest(e.UpdatedParsed, e.PublishedParsed)})
	}
	return entries, nil
}

// followed returns the links that lead to what a feed is about, or on through it (RFC 4287, section 4.2.7.2;
// RFC 5005).
func (s *stage) followed(links []*atom.Link) (addresses []string) {
	for _, l := range links {
		switch l.Rel {
		case "", "alternate", "next", "prev-archive":
			addresses = append(addresses, l.Href)
		case "enclosure":
			if s.options.Enclosures {
				addresses = append(addresses, l.Href)
			}
		}
	}
	return addresses
}

func (s *stage) json(text []byte) ([]entry, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if formats.CountJSON(text) > maxElements {
		return nil, fmt.Errorf("it has more than %d values, of which an object counts as two", maxElements)
	}
	feed, err := new(json.Parser).Parse(bytes.NewReader(text))
	if err != nil {
		if wrong := stdjson.Unmarshal(text, new(stdjson.RawMessage)); wrong != nil {
			err = formats.JSONFault(text, wrong)
		}
		return nil, err
	}
	entries := []entry{{addresses: []string{feed.HomePageURL, feed.NextURL}}}
	for _, item := range feed.Items {
		if item == nil {
			continue
		}
		e := entry{addresses: []string{item.URL, item.ExternalURL}}
		modified, published := sitemap.ParseTime(item.DateModified), sitemap.ParseTime(item.DatePublished)
		e.changed = latest(&modified, &published)
		if s.options.Enclosures && item.Attachments != nil {
			for _, a := range *item.Attachments {
				e.addresses = append(e.addresses, a.URL)
			}
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// latest returns the latest of the times that are given.
func latest(times ...*time.Time) (last time.Time) {
	for _, t := range times {
		if t != nil && t.After(last) {
			last = t.UTC()
		}
	}
	return last
}
