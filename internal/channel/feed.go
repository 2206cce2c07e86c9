package channel

import (
	"crypto/sha256"
	"encoding/xml"
	"fmt"
	"time"
)

// Feed is what a person fetches of what they are told.
type Feed struct {
	ID      string // the same as long as there is the feed: it names it among all, and need not be a URI
	Title   string
	Author  string
	Self    string // where it is fetched; empty: not said
	Link    string // where the person finds all of it; empty: not said
	Entries []FeedEntry
}

// FeedEntry is an entry of a feed.
type FeedEntry struct {
	ID string // the same as long as it is about the same, as that of a [Feed] is
	Entry
}

type atomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Author  string      `xml:"author>name"`
	Links   []atomLink  `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

type atomEntry struct {
	ID      string     `xml:"id"`
	Title   string     `xml:"title"`
	Updated string     `xml:"updated"`
	Links   []atomLink `xml:"link"`
	Summary *atomText  `xml:"summary"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr"`
	Href string `xml:"href,attr"`
	Type string `xml:"type,attr,omitempty"`
}

type atomText struct {
	Type string `xml:"type,attr"`
	Text string `xml:",chardata"`
}

// Updated returns the time of the latest entry; zero if there is none.
func (f Feed) Updated() (latest time.Time) {
	for _, e := range f.Entries {
		if e.Time.After(latest) {
			latest = e.Time
		}
	}
	return latest
}

// Atom writes the feed as RFC 4287 has it, with the first [MaxShown] entries. What pages say is in it as text, of the
// length that a [Message] has; it has links to the web alone.
func (f Feed) Atom() ([]byte, error) {
	written := atomFeed{ID: urn("feed", f.ID), Title: line(f.Title), Updated: atomTime(f.Updated()), Author: line(f.Author)}
	if self := webURL(f.Self); self != "" {
		written.Links = append(written.Links, atomLink{Rel: "self", Href: self, Type: "application/atom+xml"})
	}
	if link := webURL(f.Link); link != "" {
		written.Links = append(written.Links, atomLink{Rel: "alternate", Href: link, Type: "text/html"})
	}
	for _, e := range f.Entries[:min(len(f.Entries), MaxShown)] {
		written.Entries = append(written.Entries, e.atom())
	}
	body, err := xml.MarshalIndent(written, "", " ")
	if err != nil {
		return nil, fmt.Errorf("write a feed: %w", err)
	}
	return append([]byte(xml.Header), append(body, '\n')...), nil
}

func (e FeedEntry) atom() atomEntry {
	shown := e.inLines()
	written := atomEntry{ID: urn("entry", e.ID), Title: shown.Title, Updated: atomTime(e.Time)}
	link := webURL(e.Link)
	if target := e.target(); target != "" {
		written.Links = append(written.Links, atomLink{Rel: "alternate", Href: target})
		if target != link && link != "" {
			written.Links = append(written.Links, atomLink{Rel: "related", Href: link, Type: "text/html"})
		}
	}
	if shown.Summary != "" {
		written.Summary = &atomText{"text", shown.Summary}
	}
	return written
}

// atomTime writes a time as RFC 3339 has it.
func atomTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// urn makes a URI that names something among all there is in the world, the same each time: a UUID of its hash (RFC
// 9562, version 8).
func urn(kind, id string) string {
	sum := sha256.Sum256([]byte("webrace " + kind + "\x00" + id))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}
