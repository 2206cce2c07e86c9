package objects

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/urlnorm"
)

// What no HTTP server answered, such as a message of a mailbox, has status 0, and of a header no more than the media
// type of its body and the source at which it was found. Its record is of type resource (WARC 1.1, section 6.4), whose
// block is the body and nothing else.

// lengthField is ours: it has the size of the body that a revisit stands for, where no HTTP header tells it.
const lengthField = "Webrace-Payload-Length"

// unknownType is the media type of a body of which none is known.
const unknownType = "application/octet-stream"

// checkResource refuses the address of what is stored without a status, if a server answers for such with one, or if it
// would be taken for that of a screenshot.
func checkResource(url string) error {
	if scheme, _, _ := urlnorm.CutScheme(url); scheme == "http" || scheme == "https" {
		return errors.New("0 is not an HTTP status")
	}
	if _, _, is := ScreenshotOf(url); is {
		return errors.New("its address is that of a screenshot")
	}
	return nil
}

// hold makes a record that of a version: of what a server answered, or of a body alone.
func (r *record) hold(v *Version, header http.Header, body []byte) {
	r.body = body
	if v.Status == 0 {
		r.kind, r.content = typeResource, cmp.Or(cleanValue(v.MediaType), unknownType)
		if source := cleanValue(header.Get(webrace.SourceField)); source != "" {
			r.fields = append(r.fields, [2]string{webrace.SourceField, source})
		}
	} else {
		r.kind, r.content, r.head = typeResponse, contentHTTP, responseHead(v.Status, header, len(body))
	}
	if v.Truncated {
		r.fields = append(r.fields, [2]string{"WARC-Truncated", string(webrace.TruncationOf(header))})
	}
}

// refer makes a record that of the same version without its body, which is held elsewhere.
func (r *record) refer(held *payload) {
	if r.kind == typeResource {
		r.fields = append(r.fields, [2]string{lengthField, strconv.Itoa(len(r.body))})
	}
	r.kind, r.body = typeRevisit, nil
	r.fields = append(r.fields,
		[2]string{"WARC-Profile", identicalPayload},
		[2]string{"WARC-Refers-To", held.id.String()},
		[2]string{"WARC-Refers-To-Target-URI", held.url},
		[2]string{"WARC-Refers-To-Date", formatDate(held.date)},
		[2]string{"WARC-Block-Digest", blockDigest(r.head)})
}

// holdsBody reports whether a record of this type has the body of a version in its block.
func holdsBody(kind string) bool { return kind == typeResponse || kind == typeResource }

// isOfVersion reports whether a record of this type may be that of a version.
func isOfVersion(kind string) bool { return holdsBody(kind) || kind == typeRevisit }

// held is what the record of a version tells of its document.
type held struct {
	status int
	header http.Header
	body   []byte // a part of the block; nothing for a revisit
	size   int64  // of the body, also of that which a revisit stands for
}

// held takes the record of a version apart.
func (r *parsedRecord) held() (h held, err error) {
	h.body = r.block
	kind, length := r.fields["warc-type"], r.fields[strings.ToLower(lengthField)]
	if kind == typeResource || length != "" {
		h.header = http.Header{"Content-Type": {r.fields["content-type"]}}
		webrace.SetTruncation(h.header, webrace.Truncation(r.fields["warc-truncated"]))
		if source := r.fields[strings.ToLower(webrace.SourceField)]; source != "" {
			h.header.Set(webrace.SourceField, source)
		}
	} else {
		if h.status, h.header, h.body, err = splitResponse(r.block); err != nil {
			return held{}, err
		}
		length = h.header.Get("Content-Length")
	}
	h.size = int64(len(h.body))
	if kind == typeRevisit {
		if h.size, err = strconv.ParseInt(length, 10, 63); err != nil || h.size < 0 {
			return held{}, fmt.Errorf("%w: revisit of a body of %.20q bytes", ErrCorrupt, length)
		}
	}
	return h, nil
}
