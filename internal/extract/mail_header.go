package extract

import (
	"bytes"
	"io"
	"mime"
	"strings"

	"github.com/webrace/webrace/internal/charsets"
)

// A message is taken apart into its header and body (RFC 5322), a body into its parts (RFC 2046), a part into the bytes
// that were encoded for the journey (RFC 2045, RFC 2047), by functions that give what net/mail, mime/multipart,
// mime/quotedprintable and encoding/base64 give wherever these give something, and go on where they give up: nothing is
// an error here. What breaks a rule is taken for text. Time and memory are linear in the input.

// mailHeader is what matters of the header of a message or part: of each field the first, unfolded.
type mailHeader struct {
	Subject          string // decoded, in valid UTF-8
	ContentType      string
	TransferEncoding string
	Language         string // Content-Language
	From, ReplyTo    string // decoded, in valid UTF-8
	List             string // List-Id (RFC 2919), so, too
	Newsgroups       string // RFC 5536, section 3.1.4; so, too
	Disposition      string // Content-Disposition
	ID               string // of the message and of others, as they were sent
	References       string
	InReplyTo        string
}

// longestField is how many bytes of a field are kept. Gigantic ones have no meaning, but cost time.
const longestField = 16 << 10

// splitMail returns the header and the body of a message or part. The header ends at an empty line, or before a
// line that can be none of a header; so what has no header at all is all body.
func splitMail(message []byte) (h mailHeader, body []byte) {
	fields, body := splitFields(message)
	return newMailHeader(fields), body
}

// splitFields is splitMail, with the fields as they were sent.
func splitFields(message []byte) (fields mailFields, body []byte) {
	var field *[]byte // what a folded line goes on with; nil if that does not matter
	begun := false
	rest := message
	for len(rest) > 0 {
		line, next := cutLine(rest)
		name, value, isField := cutField(line)
		switch {
		case len(line) == 0:
			return fields, next
		case line[0] == ' ' || line[0] == '\t':
			if !begun {
				return fields, rest
			}
			addToField(field, line)
		case isField:
			begun, field = true, nil
			if i := mailField(name); i >= 0 && fields[i] == nil {
				field = &fields[i]
				*field = []byte{}
			}
			addToField(field, value)
		case !begun && isEnvelope(line):
		default:
			return fields, rest
		}
		rest = next
	}
	return fields, nil
}

// addToField appends a line to a field that matters.
func addToField(field *[]byte, line []byte) {
	line = bytes.Trim(line, " \t")
	if field == nil || len(*field)+len(line) >= longestField {
		return
	}
	if len(*field) > 0 {
		*field = append(*field, ' ')
	}
	*field = append(*field, line...)
}

// Those fields of a header that matter.
const (
	fieldSubject = iota
	fieldContentType
	fieldTransferEncoding
	fieldLanguage
	fieldFrom
	fieldReplyTo
	fieldList
	fieldDisposition
	fieldID
	fieldReferences
	fieldInReplyTo
	fieldNewsgroups
	fieldArchive
	fieldNoArchive
	countOfFields
)

var mailFieldNames = [countOfFields]string{"subject", "content-type", "content-transfer-encoding", "content-language", "from", "reply-to", "list-id",
	"content-disposition", "message-id", "references", "in-reply-to", "newsgroups", "archive", "x-no-archive"}

// mailFields are the values of those fields; nil of one that is not there.
type mailFields [countOfFields][]byte

// mailField returns which of the fields that matter this is, -1 if it is none.
func mailField(name []byte) int {
	for i, n := range mailFieldNames {
		if len(n) == len(name) && strings.EqualFold(n, string(name)) {
			return i
		}
	}
	return -1
}

func newMailHeader(fields mailFields) mailHeader {
	return mailHeader{
		Subject: mailText(fields[fieldSubject]), ContentType: string(fields[fieldContentType]), TransferEncoding: string(fields[fieldTransferEncoding]),
		Language: string(fields[fieldLanguage]), From: mailText(fields[fieldFrom]), ReplyTo: mailText(fields[fieldReplyTo]), List: mailText(fields[fieldList]),
		Disposition: string(fields[fieldDisposition]), ID: string(fields[fieldID]), References: string(fields[fieldReferences]), InReplyTo: string(fields[fieldInReplyTo]),
		Newsgroups: mailText(fields[fieldNewsgroups]),
	}
}

// cutField cuts a line into the name and the value of a field. White space before the colon is obsolete, but
// has to be understood.
func cutField(line []byte) (name, value []byte, ok bool) {
	name, value, ok = bytes.Cut(line, []byte(":"))
	name = bytes.TrimRight(name, " \t")
	for _, c := range name {
		ok = ok && '!' <= c && c <= '~'
	}
	return name, value, ok && len(name) > 0
}

// isEnvelope reports whether a line is what mail boxes put before a message.
func isEnvelope(line []byte) bool {
	return bytes.HasPrefix(bytes.TrimPrefix(line, []byte(">")), []byte("From "))
}

// cutLine cuts off the first line, and takes away its end.
func cutLine(b []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(b, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), rest
}

// mailText decodes a field that people read. Words that cannot be decoded are left as they are.
func mailText(field []byte) string {
	if len(field) == 0 {
		return ""
	}
	utf8, _, err := charsets.ToUTF8(field, "")
	if err != nil {
		utf8 = field
	}
	decoder := mime.WordDecoder{CharsetReader: charsetReader}
	decoded, err := decoder.DecodeHeader(string(utf8))
	if err != nil {
		decoded = string(utf8)
	}
	return strings.ToValidUTF8(decoded, "\ufffd")
}

func charsetReader(charset string, r io.Reader) (io.Reader, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	b, _, err = charsets.ToUTF8(b, "text/plain; charset="+charset)
	return bytes.NewReader(b), err
}
