package objects

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/xmlschema"
)

// encodeMeta writes the meta-info of a document as XML: the header as it was received, and the links.
// What could not be read back is left out: names of fields that are none, and validators and links that
// are too long for an attribute. The index keeps such links.
func encodeMeta(d *webrace.Document, v *Version) []byte {
	m := xmlschema.Meta{
		URL: v.URL, IP: formatAddr(d.Origin), Status: v.Status, Size: int(v.Size), Fetched: v.FetchedAt,
		Links: slices.DeleteFunc(slices.Clone(d.Links), func(link string) bool { return link == "" || !fitsAttribute(link) }),
	}
	if etag := d.Header.Get("ETag"); fitsAttribute(etag) {
		m.ETag = etag
	}
	if modified := d.Header.Get("Last-Modified"); fitsAttribute(modified) {
		m.LastModified = modified
	}
	names := make([]string, 0, len(d.Header))
	for name := range d.Header {
		if httpguts.ValidHeaderFieldName(name) && fitsAttribute(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range d.Header[name] {
			m.Header = append(m.Header, xmlschema.HeaderField{Name: name, Value: value})
		}
	}
	return m.Canonical()
}

// fitsAttribute reports whether a reader takes a value as an attribute, however it is escaped.
func fitsAttribute(value string) bool {
	const longest = 6 // what escaping makes of a byte
	if longest*len(value) < xmlschema.MaxAttribute {
		return true
	}
	escaped := 0
	for i := range len(value) {
		if c := value[i]; c < ' ' || c >= 0x7f || strings.IndexByte(`<>&"'`, c) >= 0 {
			escaped++
		}
	}
	return len(value)+(longest-1)*escaped < xmlschema.MaxAttribute
}

func decodeMeta(xml []byte) (xmlschema.Meta, error) {
	m, err := xmlschema.NewDecoder(bytes.NewReader(xml), xmlschema.SizeLimit(int64(len(xml))+1)).Meta()
	if err != nil {
		return xmlschema.Meta{}, fmt.Errorf("%w: meta-info: %w", ErrCorrupt, err)
	}
	return *m, nil
}
