package demosite

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/text/encoding"
)

var _ http.Handler = (*Site)(nil)

// redirects lead from paths that people still remember to those of today.
var redirects = map[string]struct {
	to     string
	status int
}{
	"/old-news":          {"/news/", http.StatusMovedPermanently},
	"/timetable":         {"/port/ferries.html", http.StatusFound},
	"/port/ferries.html": {"/port/timetable.html", http.StatusMovedPermanently},
}

// gone are the pages that were taken down for good.
var gone = map[string]bool{"/port/hovercraft.html": true}

// ServeHTTP answers as a web server with files would, and counts the request.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests[r.URL.RequestURI()]++
	target, status := s.redirect(r.URL)
	res, found := s.find(r.URL)
	s.mu.Unlock()

	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "This site can only be read.", http.StatusMethodNotAllowed)
		return
	}
	switch {
	case target != "":
		http.Redirect(w, r, target, status)
	case gone[r.URL.Path]:
		http.Error(w, "This page was taken down, and will not come back.", http.StatusGone)
	case !found:
		http.Error(w, "There is no such page.", http.StatusNotFound)
	default:
		res.send(w, r)
	}
}

// find returns what is at u. A query that means nothing to a page is overlooked.
func (s *Site) find(u *url.URL) (resource, bool) {
	r, ok := s.resources[u.RequestURI()]
	if !ok {
		r, ok = s.resources[u.Path]
	}
	return r, ok
}

// redirect returns where u leads to instead of to a page, if it does: directories end in a slash.
func (s *Site) redirect(u *url.URL) (target string, status int) {
	if moved, ok := redirects[u.Path]; ok {
		return moved.to, moved.status
	}
	if _, ok := s.resources[u.Path+"/"]; ok {
		return u.Path + "/", http.StatusMovedPermanently
	}
	return "", 0
}

// send answers with the resource, or with 304 if the client has it. The compressed form of a page is
// another one than the plain (RFC 9110, section 8.8.3.3), so it has an ETag of its own.
func (r resource) send(w http.ResponseWriter, req *http.Request) {
	body, tag := r.encode(addressFor(req)), r.version()
	h := w.Header()
	h.Set("Content-Type", r.contentType)
	if r.compressible() {
		h.Set("Vary", "Accept-Encoding")
		if acceptsGzip(req.Header) {
			h.Set("Content-Encoding", "gzip")
			body, tag = compress(body), tag+"-gzip"
		}
	}
	h.Set("ETag", strconv.Quote(tag))
	http.ServeContent(w, req, "", r.modified, bytes.NewReader(body))
}

// addressFor returns the address at which the visitor reached the site.
func addressFor(r *http.Request) string {
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	return html.EscapeString(scheme + r.Host)
}

// encode returns the body with the site at that address. What the encoding lacks is written as numeric
// character references.
func (r resource) encode(address string) []byte {
	if !r.compressible() {
		return []byte(r.content)
	}
	text := strings.ReplaceAll(r.content, Address, address)
	if r.encoding == nil {
		return []byte(text)
	}
	body, err := encoding.HTMLEscapeUnsupported(r.encoding.NewEncoder()).String(text)
	if err != nil {
		return []byte(text) // not UTF-8: an edit's doing
	}
	return []byte(body)
}

func (r resource) compressible() bool { return !strings.HasPrefix(r.contentType, "image/") }

// version names a state of the resource: its text, and when it was given it.
func (r resource) version() string {
	sum := sha256.Sum256([]byte(r.modified.String() + r.content))
	return fmt.Sprintf("%x", sum[:8])
}

func compress(body []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(body) // a buffer takes everything
	z.Close()
	return out.Bytes()
}

// acceptsGzip reports whether the client declares that it can read gzip, and does not refuse it with q=0.
func acceptsGzip(h http.Header) bool {
	for coding := range strings.SplitSeq(strings.Join(h.Values("Accept-Encoding"), ","), ",") {
		name, parameter, _ := strings.Cut(coding, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		q, weighted := strings.CutPrefix(strings.ToLower(strings.TrimSpace(parameter)), "q=")
		weight, err := strconv.ParseFloat(q, 64)
		return !weighted || err == nil && weight > 0
	}
	return false
}
