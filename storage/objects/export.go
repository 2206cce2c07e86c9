package objects

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/lru"
	"github.com/webrace/webrace/internal/mediatype"
	"github.com/webrace/webrace/internal/urlnorm"
)

// Export writes versions as a WARC/1.1 file that stands alone: a body that is in the file already is
// referred to by a revisit record, any other one is written in full. It is used by one goroutine.
type Export struct {
	store    *Store
	out      io.Writer
	offset   int64
	compress *compressor // of gzip, which every tool reads
	buffer   bytes.Buffer
	bodies   lru.Cache[*payload] // that are in the file

	Requests bool // a version has a request record, too
}

// maxBodies is how many bodies an export remembers: those that were written or referred to last. It writes a body
// again rather than need memory for all of them.
const maxBodies = 1 << 17

// Exported is a version as it was written.
type Exported struct {
	Offset, Length int64  // of its first record in the file, compressed
	Revisit        bool   // that record refers to one before it
	Digest         string // of its payload, as the record has it
	Body           []byte
	Header         http.Header
	Screenshot     *ExportedRecord // nil for none
}

// ExportedRecord is a further record of a version as it was written.
type ExportedRecord struct {
	URI            string
	Digest         string // of its block, as the record has it
	Offset, Length int64  // in the file, compressed
}

// NewExport begins a file of that name, which its first record holds.
func (s *Store) NewExport(out io.Writer, name string) (*Export, error) {
	e := &Export{store: s, out: out, compress: s.compressor(Gzip), bodies: lru.New[*payload](maxBodies, nil)}
	e.compress.append(&e.buffer, infoRecord(name, s.options.Now()))
	return e, e.flush()
}

// Write appends the records of a version: its response, or resource, or a revisit, its screenshot and its meta-info.
func (e *Export) Write(v Version) (Exported, error) {
	written, err := e.write(v)
	if err != nil {
		return Exported{}, fmt.Errorf("export version %d of %s: %w", v.Number, v.URL, err)
	}
	return written, nil
}

func (e *Export) write(v Version) (Exported, error) {
	body, header, err := e.store.Body(v)
	if err != nil {
		return Exported{}, err
	}
	meta, err := e.store.Meta(v)
	if err != nil {
		return Exported{}, err
	}
	var shot *webrace.Screenshot
	if v.Screenshot {
		if shot, err = e.store.Screenshot(v); err != nil {
			return Exported{}, err
		}
	}
	number, view := [2]string{versionField, strconv.Itoa(v.Number)}, [2]string{viewField, v.Secret}
	response := &record{
		id: newRecordID(), date: v.FetchedAt,
		fields: [][2]string{
			{"WARC-Target-URI", v.URL}, {"WARC-IP-Address", meta.IP}, {"WARC-Payload-Digest", formatDigest(v.Digest)},
			{"WARC-Identified-Payload-Type", identifiedType(&v, header)}, number, view,
		},
	}
	response.hold(&v, header, body)
	held, revisit := e.bodies.Get(string(v.Digest[:]))
	if revisit {
		response.refer(held)
	} else {
		e.bodies.Add(string(v.Digest[:]), &payload{id: response.id, date: v.FetchedAt, url: v.URL})
	}
	e.compress.append(&e.buffer, response)
	written := Exported{Offset: e.offset, Length: int64(e.buffer.Len()), Revisit: revisit, Digest: formatDigest(v.Digest), Body: body, Header: header}
	if shot != nil {
		r := screenshotRecord(&v, shot, response.id.String())
		e.compress.append(&e.buffer, r)
		written.Screenshot = &ExportedRecord{URI: r.fields[0][1], Digest: blockDigest(shot.PNG),
			Offset: e.offset + written.Length, Length: int64(e.buffer.Len()) - written.Length}
	}
	xml := meta.Canonical()
	e.compress.append(&e.buffer, metaRecord(&v, xml, response.id.String()))
	if e.Requests {
		e.request(v.URL, v.FetchedAt, response.id)
	}
	return written, e.flush()
}

// Answer is what was answered for a URL where no document was: a redirect, or that there is none.
type Answer struct {
	URL      string
	Status   int
	At       time.Time
	Location string // of a redirect
}

// WriteAnswer appends the records of an answer, its response and its request, of what is known of them.
func (e *Export) WriteAnswer(a Answer) (Exported, error) {
	header := http.Header{}
	if a.Location != "" {
		header.Set("Location", a.Location)
	}
	response := &record{
		kind: typeResponse, id: newRecordID(), date: a.At, content: contentHTTP, head: responseHead(a.Status, header, 0),
		fields: [][2]string{{"WARC-Target-URI", a.URL}, {"WARC-Payload-Digest", blockDigest(nil)}, {reconstructedField, "true"}},
	}
	e.compress.append(&e.buffer, response)
	written := Exported{Offset: e.offset, Length: int64(e.buffer.Len()), Digest: blockDigest(nil)}
	e.request(a.URL, a.At, response.id)
	return written, e.flush()
}

// request appends the request of a response, as every GET begins. What is asked by more than a GET is known to who asks
// alone.
func (e *Export) request(address string, at time.Time, response recordID) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || urlnorm.IsMarked(address) {
		return
	}
	e.compress.append(&e.buffer, &record{
		kind: typeRequest, id: newRecordID(), date: at, content: contentRequest,
		head:   []byte("GET " + u.RequestURI() + " HTTP/1.1\r\nHost: " + u.Host + "\r\n\r\n"),
		fields: [][2]string{{"WARC-Target-URI", address}, {"WARC-Concurrent-To", response.String()}, {reconstructedField, "true"}},
	})
}

// identifiedType returns the type of a document, with its charset, where its header does not have it. Players believe
// it more than a Content-Type, and would lose the charset of that.
func identifiedType(v *Version, header http.Header) string {
	switch {
	case v.MediaType == mediatype.Of(header.Get("Content-Type")):
		return ""
	case v.Charset == "":
		return cleanValue(v.MediaType)
	}
	return cleanValue(v.MediaType + "; charset=" + v.Charset)
}

func (e *Export) flush() error {
	n, err := e.out.Write(e.buffer.Bytes())
	e.offset += int64(n)
	e.buffer.Reset()
	return err
}
