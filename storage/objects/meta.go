package objects

import (
	"encoding/xml"
	"fmt"
	"slices"
	"time"

	"github.com/webrace/webrace"
)

// Meta is the meta-information of one stored document.
type Meta struct {
	XMLName      xml.Name      `xml:"urn:webrace:1 meta"`
	URL          string        `xml:"url"`
	IP           string        `xml:"ip,omitempty"`
	Status       int           `xml:"status"`
	Size         int           `xml:"size"`
	ETag         string        `xml:"etag,omitempty"`
	LastModified string        `xml:"lastmodified,omitempty"`
	Fetched      time.Time     `xml:"fetched"`
	Header       []HeaderField `xml:"header"`
	Links        []string      `xml:"link"`
}

// HeaderField is one line of an HTTP response header.
type HeaderField struct {
	Name  string `xml:"name,attr"`
	Value string `xml:",chardata"`
}

// encodeMeta writes the meta-info of a document as XML: the header as it was received, and the links.
func encodeMeta(d *webrace.Document, v *Version) ([]byte, error) {
	m := Meta{
		URL: v.URL, IP: formatAddr(d.Origin), Status: v.Status, Size: int(v.Size), Fetched: v.FetchedAt,
		ETag: d.Header.Get("ETag"), LastModified: d.Header.Get("Last-Modified"), Links: d.Links,
	}
	names := make([]string, 0, len(d.Header))
	for name := range d.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range d.Header[name] {
			m.Header = append(m.Header, HeaderField{Name: name, Value: value})
		}
	}
	b, err := xml.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("write meta-info: %w", err)
	}
	return b, nil
}

func decodeMeta(b []byte) (Meta, error) {
	var m Meta
	if err := xml.Unmarshal(b, &m); err != nil {
		return Meta{}, fmt.Errorf("%w: meta-info: %w", ErrCorrupt, err)
	}
	return m, nil
}
