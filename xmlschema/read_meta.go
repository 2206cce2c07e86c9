package xmlschema

import (
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

func bindMeta(b *binding) *Meta {
	m := &Meta{
		Status:       b.integer("status", 0, 100, 999),
		Size:         b.integer("size", 0, 0, math.MaxInt),
		ETag:         b.str("etag"),
		LastModified: b.str("lastmodified"),
		Fetched:      b.instant("fetched"),
	}
	if kid := b.mustChild("url"); kid != nil {
		m.URL = bindURI(kid)
	}
	if kid := b.child("ip"); kid != nil {
		m.IP = kid.word()
		if _, err := netip.ParseAddr(m.IP); err != nil && m.IP != "" {
			kid.problem(fmt.Sprintf("ip %q is not an IP address", m.IP))
		}
	}
	if b.d.legacy {
		bindOldMeta(b, m)
		b.done()
		return m
	}
	for _, kid := range b.children("header") {
		name := kid.mustAttr("name")
		m.Header = append(m.Header, HeaderField{name, kid.text()})
	}
	for _, kid := range b.children("link") {
		m.Links = append(m.Links, kid.mustAttr("href"))
		kid.empty()
	}
	b.inOrder("url", "ip", "header", "link")
	b.done()
	return m
}

// mustAttr returns an attribute that may be neither missing nor empty.
func (b *binding) mustAttr(name string) string {
	a := b.attr(name)
	switch {
	case a == nil:
		b.lacks(name)
		return ""
	case trim(a.value) == "":
		b.at(a, name+" is empty", "")
	}
	return a.value
}

// bindOldMeta reads what the papers' meta-info files have in blocks of text: the header as it was
// received, one link a line, the size in kilobytes, and the time of Last-Modified in milliseconds. What
// the header states is more exact, and wins.
func bindOldMeta(b *binding, m *Meta) {
	if kid := b.child("kbytes"); kid != nil {
		n, err := strconv.Atoi(kid.word())
		if err != nil || n < 0 || n > math.MaxInt32 {
			kid.problem("kbytes is not a whole number of 0 or more")
		}
		m.Size = n << 10
	}
	if kid := b.child("ifmodifiedsince"); kid != nil {
		n, err := strconv.ParseInt(kid.word(), 10, 64)
		if err != nil || n < 0 || n > lastMillisecond {
			kid.problem("ifmodifiedsince is not a number of milliseconds since 1970")
		}
		m.LastModified = time.UnixMilli(n).UTC().Format(http.TimeFormat)
	}
	if kid := b.child("header"); kid != nil {
		parseOldHeader(kid, m)
	}
	if kid := b.child("links"); kid != nil {
		m.Links = strings.Fields(kid.text())
	}
}

func parseOldHeader(b *binding, m *Meta) {
	for line := range strings.Lines(b.text()) {
		line = trim(line)
		name, value, ok := strings.Cut(line, ":")
		switch {
		case line == "":
			continue
		case strings.HasPrefix(line, "HTTP/"):
			m.Status = statusOf(line)
			continue
		case !ok || trim(name) == "":
			b.problem(fmt.Sprintf("header line %q has no name", line))
			continue
		}
		name, value = trim(name), trim(value)
		m.Header = append(m.Header, HeaderField{name, value})
		switch strings.ToLower(name) {
		case "last-modified":
			m.LastModified = value
		case "etag":
			m.ETag = value
		case "content-length":
			if n, err := strconv.Atoi(value); err == nil && n >= 0 {
				m.Size = n
			}
		case "date":
			if t, err := http.ParseTime(value); err == nil && inCalendar(t) {
				m.Fetched = t.UTC()
			}
		}
	}
}

// statusOf returns the number in a status line, 0 if there is none.
func statusOf(line string) int {
	if fields := strings.Fields(line); len(fields) > 1 {
		if n, err := strconv.Atoi(fields[1]); err == nil && n >= 100 && n <= 999 {
			return n
		}
	}
	return 0
}
