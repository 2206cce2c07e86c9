package objects

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/webrace/webrace"
)

// Export writes versions as a WARC/1.1 file that stands alone: a body that is in the file already is
// referred to by a revisit record, any other one is written in full. It is used by one goroutine.
type Export struct {
	store    *Store
	out      io.Writer
	offset   int64
	compress *compressor // of gzip, which every tool reads
	buffer   bytes.Buffer
	bodies   map[webrace.Digest]*payload // that are in the file
}

// maxBodies is how many bodies an export remembers. After so many it begins anew, and writes a body again
// rather than need memory for all of them.
const maxBodies = 1 << 17

// Exported is a version as it was written.
type Exported struct {
	Offset, Length int64 // of its first record in the file, compressed
	Revisit        bool  // that record refers to one before it
	Body           []byte
	Header         http.Header
}

// NewExport begins a file of that name, as its first record says.
func (s *Store) NewExport(out io.Writer, name string) (*Export, error) {
	e := &Export{store: s, out: out, compress: s.compressor(Gzip), bodies: map[webrace.Digest]*payload{}}
	e.compress.append(&e.buffer, infoRecord(name, s.options.Now()))
	return e, e.flush()
}

// Write appends the records of a version: its response, or a revisit, and its meta-info.
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
	number, view := [2]string{versionField, strconv.Itoa(v.Number)}, [2]string{viewField, v.Secret}
	response := &record{
		kind: typeResponse, id: newRecordID(), date: v.FetchedAt, content: contentHTTP,
		head: responseHead(v.Status, header, len(body)), body: body,
		fields: [][2]string{
			{"WARC-Target-URI", v.URL}, {"WARC-IP-Address", meta.IP}, {"WARC-Payload-Digest", formatDigest(v.Digest)},
			{"WARC-Identified-Payload-Type", cleanValue(v.MediaType)}, number, view,
		},
	}
	if v.Truncated {
		response.fields = append(response.fields, [2]string{"WARC-Truncated", "length"})
	}
	held := e.bodies[v.Digest]
	if held != nil {
		makeRevisit(response, held)
	} else {
		if len(e.bodies) >= maxBodies {
			clear(e.bodies)
		}
		e.bodies[v.Digest] = &payload{id: response.id, date: v.FetchedAt, url: v.URL}
	}
	e.compress.append(&e.buffer, response)
	written := Exported{Offset: e.offset, Length: int64(e.buffer.Len()), Revisit: held != nil, Body: body, Header: header}
	xml := meta.Canonical()
	e.compress.append(&e.buffer, metaRecord(&v, xml, response.id.String()))
	return written, e.flush()
}

func (e *Export) flush() error {
	n, err := e.out.Write(e.buffer.Bytes())
	e.offset += int64(n)
	e.buffer.Reset()
	return err
}
