package objects

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// transferFields describe how a body travelled. The body is stored decoded, so a record that kept them
// would tell what is no longer true; as they were received, they are in the metadata record.
var transferFields = map[string]bool{
	"Content-Encoding":  true,
	"Transfer-Encoding": true,
	"Content-Length":    true,
	"Trailer":           true,
}

// responseHead writes the status line and header of a response whose decoded body has size bytes. Names
// are sorted, so that equal responses give equal bytes; what cannot stand in a header is left out.
func responseHead(status int, header http.Header, size int) []byte {
	var b bytes.Buffer
	reason := cmp.Or(http.StatusText(status), "Unknown")
	fmt.Fprintf(&b, "HTTP/1.1 %03d %s\r\n", status, reason)
	names := make([]string, 0, len(header))
	for name := range header {
		if httpguts.ValidHeaderFieldName(name) && !transferFields[http.CanonicalHeaderKey(name)] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range header[name] {
			b.WriteString(name)
			b.WriteString(": ")
			b.WriteString(cleanValue(value))
			b.WriteString("\r\n")
		}
	}
	b.WriteString("Content-Length: ")
	b.WriteString(strconv.Itoa(size))
	b.WriteString("\r\n\r\n")
	return b.Bytes()
}

// cleanValue keeps a header value on its line: control characters become spaces.
func cleanValue(value string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return ' '
		}
		return r
	}, value))
}

// splitResponse takes the block of a response or revisit record apart. The body is part of block.
func splitResponse(block []byte) (status int, header http.Header, body []byte, err error) {
	end := bytes.Index(block, []byte("\r\n\r\n"))
	if end < 0 {
		return 0, nil, nil, fmt.Errorf("%w: HTTP header does not end", ErrCorrupt)
	}
	head, body := block[:end+4], block[end+4:]
	r := textproto.NewReader(bufio.NewReader(bytes.NewReader(head)))
	line, err := r.ReadLine()
	if err != nil {
		return 0, nil, nil, fmt.Errorf("%w: HTTP status line: %w", ErrCorrupt, err)
	}
	_, rest, _ := strings.Cut(line, " ")
	code, _, _ := strings.Cut(rest, " ")
	if status, err = strconv.Atoi(code); err != nil || !strings.HasPrefix(line, "HTTP/") {
		return 0, nil, nil, fmt.Errorf("%w: HTTP status line %.80q", ErrCorrupt, line)
	}
	fields, err := r.ReadMIMEHeader()
	if err != nil {
		return 0, nil, nil, fmt.Errorf("%w: HTTP header: %w", ErrCorrupt, err)
	}
	return status, http.Header(fields), body, nil
}
