package objects

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/webrace/webrace"
)

// This file writes and reads WARC/1.1 records (ISO 28500:2017).

const (
	warcVersion = "WARC/1.1\r\n"
	recordEnd   = "\r\n\r\n"

	typeInfo     = "warcinfo"
	typeResponse = "response"
	typeResource = "resource"
	typeRevisit  = "revisit"
	typeMetadata = "metadata"
	typeRequest  = "request"

	contentHTTP    = "application/http;msgtype=response"
	contentRequest = "application/http;msgtype=request"
	contentXML     = "application/xml"
	contentFields  = "application/warc-fields"

	// identicalPayload means that a revisit record's body is that of the record it refers to.
	identicalPayload = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"

	// versionField is ours: with it the index is built again from the segments alone.
	versionField = "Webrace-Version"

	// These are ours, too: what was found out of a body, which need not be what its header declares.
	charsetField  = "Webrace-Charset"
	languageField = "Webrace-Language"

	// reconstructedField is ours: it tells of a record of an export that its head is not what went over the network, but
	// what is known of it.
	reconstructedField = "Webrace-Reconstructed"

	// formerField is ours: it has the URL at which the versions before the first one at a new URL are.
	formerField = "Webrace-Former-URI"

	// viewField is ours: it names the credentials that a document was asked for with.
	viewField = "Webrace-Credentials"
)

// recordID is a random (version 4) UUID.
type recordID [16]byte

func newRecordID() recordID {
	var id recordID
	rand.Read(id[:]) // never fails
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}

func (id recordID) String() string {
	b := append(make([]byte, 0, 64), "<urn:uuid:"...)
	for i, part := range [][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:]} {
		if i > 0 {
			b = append(b, '-')
		}
		b = hex.AppendEncode(b, part)
	}
	return string(append(b, '>'))
}

// parseRecordID reads back what String wrote.
func parseRecordID(text string) (id recordID, err error) {
	digits := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(text, "<urn:uuid:"), ">"), "-", "")
	if n, err := hex.Decode(id[:], []byte(digits[:min(len(digits), 2*len(id))])); err != nil || n != len(id) || id.String() != text {
		return id, fmt.Errorf("%w: %.80q is no record ID", ErrCorrupt, text)
	}
	return id, nil
}

func formatDate(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// formatDigest writes a SHA-256 in base 32, as WARC files have them.
func formatDigest(d webrace.Digest) string {
	return "sha256:" + base32.StdEncoding.EncodeToString(d[:])
}

// record is one to be written. Its block is head followed by body.
type record struct {
	kind    string
	id      recordID
	date    time.Time
	content string      // Content-Type of the block
	fields  [][2]string // further named fields; those with an empty value are left out
	head    []byte
	body    []byte
}

// append writes r as one gzip member or zstd frame behind what is in out.
func (c *compressor) append(out *bytes.Buffer, r *record) {
	c.head.Reset()
	c.head.WriteString(warcVersion)
	c.field("WARC-Type", r.kind)
	c.field("WARC-Record-ID", r.id.String())
	c.field("WARC-Date", formatDate(r.date))
	for _, f := range r.fields {
		if f[1] != "" {
			c.field(f[0], f[1])
		}
	}
	c.field("Content-Type", r.content)
	c.field("Content-Length", strconv.Itoa(len(r.head)+len(r.body)))
	c.head.WriteString("\r\n")

	c.compress(out, c.head.Bytes(), r.head, r.body, []byte(recordEnd))
}

func (c *compressor) field(name, value string) {
	c.head.WriteString(name)
	c.head.WriteString(": ")
	c.head.WriteString(value)
	c.head.WriteString("\r\n")
}

// infoRecord is the first record of a segment.
func infoRecord(name string, now time.Time) *record {
	return &record{
		kind: typeInfo, id: newRecordID(), date: now, content: contentFields,
		fields: [][2]string{{"WARC-Filename", name}},
		head: []byte("software: webrace\r\nformat: WARC File Format 1.1\r\n" +
			"conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n"),
	}
}

// blockDigest is for small blocks. A response has none: its payload digest and the compression's checksum already
// tell every change, and a second hash of the body would be the dearest part of writing it.
func blockDigest(block []byte) string { return formatDigest(sha256.Sum256(block)) }

// parsedRecord is one that was read. Names of fields are in lower case.
type parsedRecord struct {
	fields map[string]string
	block  []byte
}

// parseRecord takes apart the bytes of exactly one uncompressed record, as this package writes them. The
// block is part of raw.
func parseRecord(raw []byte) (*parsedRecord, error) {
	r, rest, err := parseHeader(raw)
	if err != nil {
		return nil, err
	}
	length, err := strconv.ParseUint(r.fields["content-length"], 10, 62)
	if err != nil {
		return nil, fmt.Errorf("%w: WARC record has no length", ErrCorrupt)
	}
	block, ok := bytes.CutSuffix(rest, []byte(recordEnd))
	if !ok || uint64(len(block)) != length {
		return nil, fmt.Errorf("%w: WARC record of %d bytes says it has %d", ErrCorrupt, len(block), length)
	}
	r.block = block
	return r, nil
}

// parseHeader takes the header of a record off; rest is what follows.
func parseHeader(raw []byte) (r *parsedRecord, rest []byte, err error) {
	rest, ok := bytes.CutPrefix(raw, []byte(warcVersion))
	if !ok {
		return nil, nil, fmt.Errorf("%w: not a WARC record", ErrCorrupt)
	}
	r = &parsedRecord{fields: map[string]string{}}
	for {
		line, more, ok := bytes.Cut(rest, []byte("\r\n"))
		if !ok {
			return nil, nil, fmt.Errorf("%w: WARC header does not end", ErrCorrupt)
		}
		rest = more
		if len(line) == 0 {
			return r, rest, nil
		}
		name, value, ok := strings.Cut(string(line), ":")
		if !ok {
			return nil, nil, fmt.Errorf("%w: WARC header line %.80q has no colon", ErrCorrupt, line)
		}
		r.fields[strings.ToLower(name)] = strings.TrimSpace(value)
	}
}
