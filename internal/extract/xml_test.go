package extract_test

import (
	"bytes"
	"encoding/xml"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/extract"
)

func TestXMLIsReadByTheRulesOfXML(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"names of any letters", "<Βιβλία><Τίτλος>Ιλιάδα</Τίτλος><_x>Οδύσσεια</_x></Βιβλία>", "Ιλιάδα|Οδύσσεια"},
		{"instructions", "<?xml version='1.0'?><?xml-stylesheet title='a>b'?><r>x<?php if (a>b) ?>y</r>", "xy"},
		{"comments", "<r>x<!-->z--!>-->y</r>", "xy"},
		{"document types", `<!DOCTYPE r [<!ENTITY a ">"><!-- ]> -->]><r>x</r>`, "x"},
	} {
		r := document(t, c.in, "application/xml", extract.Options{})
		if got := render(r.Text); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLinksOfXLink(t *testing.T) {
	t.Parallel()
	const svg, article = "image/svg+xml", "application/xml"
	for _, c := range []struct{ name, mediaType, in, want string }{
		{"of a drawing", svg, `<svg xmlns:xlink="http://www.w3.org/1999/xlink"><a xlink:href="/b"><text>b</text></a><image xlink:href="c.png"/></svg>`, "http://example.com/b"},
		{"of SVG 2", svg, `<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:a href="/b" xlink:href="/c"/></s:svg>`, "http://example.com/b"},
		{"of a text", article, `<article><p xlink:href="/b?x=1&amp;y=2">b</p><e xlink:href=""/></article>`, "http://example.com/b?x=1&y=2"},
		{"of another prefix", article, `<a xmlns:l="http://www.w3.org/1999/xlink" l:href="/b"><c other:href="/d"/></a>`, "http://example.com/b"},
		{"none of a feed", "application/rss+xml", `<rss><channel><title xlink:href="/b">t</title></channel></rss>`, ""},
	} {
		r, err := extract.Document([]byte(c.in), c.mediaType, "http://example.com/a", extract.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(r.Links, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if c.mediaType == svg && len(r.Text.Blocks) > 0 {
			t.Errorf("%s: text %q", c.name, r.Text.Bytes)
		}
	}
}

// FuzzXML wants, besides what holds of any document, the words that encoding/xml finds where it finds
// nothing wrong.
func FuzzXML(f *testing.F) {
	for _, s := range []string{
		"<r><a>one two</a><b/>three<![CDATA[ <four> ]]>&amp;</r>", "<!DOCTYPE r><r>a<!-- b -->c<?d e?>f</r>", "<Ελένη>x</Ελένη>",
		"<rss><channel><title>&lt;b&gt;</title><item><link>http://x/</link><guid>http://y/</guid></item></channel></rss>",
		"<feed xml:base='/x/'><title type='html'>a</title><link href='b'/></feed>", "<urlset><url><loc>http://x/</loc></url></urlset>", "<html><p/>a</html>",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := extract.Document(body, "text/xml; charset=utf-8", at, extract.Options{MaxLinks: 5})
		if err != nil {
			t.Fatal(err)
		}
		check(t, r, 5)
		want, ok := wordsOfXML(body)
		if !ok || bytes.HasPrefix(body, []byte("\xfe\xff")) || bytes.HasPrefix(body, []byte("\xff\xfe")) || bytes.HasPrefix(body, []byte("\xef\xbb\xbf")) {
			return
		}
		var got []string
		for _, b := range r.Text.Blocks {
			got = append(got, strings.FieldsFunc(string(r.Text.Slice(b)), isSpace)...)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("words of %q\n got %q\nwant %q", body, got, want)
		}
	})
}

// wordsOfXML returns the words of a document by encoding/xml; not ok if it is not well-formed, or is one
// whose elements have a meaning.
func wordsOfXML(body []byte) (words []string, ok bool) {
	d := xml.NewDecoder(bytes.NewReader(body))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	root, declared := "", false
	var text strings.Builder
	for {
		token, err := d.Token()
		switch token := token.(type) {
		case nil:
			return strings.FieldsFunc(text.String(), isSpace), err == io.EOF
		case xml.StartElement:
			if root == "" {
				root = strings.ToLower(token.Name.Local)
				if token.Name.Space != "" || strings.Contains("rss feed rdf urlset sitemapindex html", root) {
					return nil, false
				}
			}
			text.WriteByte(' ')
		case xml.EndElement:
			text.WriteByte(' ')
		case xml.CharData:
			for _, c := range string(token) {
				if '\u0080' <= c && c <= '\u009f' {
					return nil, false // by number, it means what it means in windows-1252
				}
			}
			if root != "" {
				text.Write(token)
			}
		case xml.Directive:
			if declared || root != "" || !bytes.HasPrefix(token, []byte("DOCTYPE ")) {
				return nil, false
			}
			declared = true
		}
	}
}
