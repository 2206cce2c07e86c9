package xmlschema

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"golang.org/x/net/html/charset"
)

// declared finds the encoding in an XML declaration.
var declared = regexp.MustCompile(`^<\?xml[^>]*?[ \t\r\n]encoding[ \t\r\n]*=[ \t\r\n]*["']([A-Za-z][A-Za-z0-9._-]*)["']`)

var errTooLarge = errors.New("document is too large")

// utf8Reader gives the document in UTF-8, without a byte order mark, whatever encoding its mark or its
// declaration names; and that encoding, if the source must still check that there is nothing else. The problem it
// returns is one of the document, the error one of reading.
func utf8Reader(r io.Reader, limit int64) (_ *bufio.Reader, encoding, problem string, err error) {
	raw := bufio.NewReaderSize(&limitedReader{r: r, left: limit}, 4096)
	head, err := peekDeclaration(raw)
	if err != nil {
		return nil, "", "", err
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		raw.Discard(3)
		if label := declaredEncoding(head[3:]); label != "" && !isUTF8(label) {
			return nil, "", fmt.Sprintf("encoding %s is declared, but the byte order mark is that of UTF-8", label), nil
		}
		return raw, "", "", nil
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		raw.Discard(2)
		return fromUTF16(binary.BigEndian, raw), utf16Encoding, "", nil
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		raw.Discard(2)
		return fromUTF16(binary.LittleEndian, raw), utf16Encoding, "", nil
	case bytes.HasPrefix(head, []byte("\x00<")):
		return fromUTF16(binary.BigEndian, raw), utf16Encoding, "", nil
	case bytes.HasPrefix(head, []byte("<\x00")):
		return fromUTF16(binary.LittleEndian, raw), utf16Encoding, "", nil
	}
	label := declaredEncoding(head)
	switch {
	case label == "" || isUTF8(label):
		return raw, "", "", nil
	case isASCII(label):
		return raw, asciiEncoding, "", nil
	case strings.HasPrefix(strings.ToLower(label), "utf-16"):
		return nil, "", "encoding UTF-16 is declared, but the document is not in UTF-16", nil
	}
	if unknownEncoding(label) {
		return nil, "", fmt.Sprintf("encoding %s is not known", label), nil
	}
	decoded, err := charset.NewReaderLabel(label, raw)
	if err != nil {
		return nil, "", "", err
	}
	return bufio.NewReaderSize(decoded, 4096), label, "", nil
}

// The encodings whose errors show in another way than by U+FFFD.
const (
	utf16Encoding = "UTF-16"
	asciiEncoding = "US-ASCII"
)

func fromUTF16(order binary.ByteOrder, raw *bufio.Reader) *bufio.Reader {
	return bufio.NewReaderSize(&utf16Reader{r: raw, order: order}, 4096)
}

// peekDeclaration looks at the byte order mark and the XML declaration, and waits for no byte behind it.
func peekDeclaration(raw *bufio.Reader) ([]byte, error) {
	const most = 1024
	for n := 4; ; n++ {
		n = min(max(n, raw.Buffered()), most)
		head, err := raw.Peek(n)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		text := bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
		started := bytes.HasPrefix([]byte("<?xml"), text[:min(5, len(text))])
		if err != nil || n == most || !started || bytes.Contains(text, []byte("?>")) {
			return head, nil
		}
	}
}

func declaredEncoding(head []byte) string {
	if m := declared.FindSubmatch(head); m != nil {
		return string(m[1])
	}
	return ""
}

func isUTF8(label string) bool {
	return strings.EqualFold(label, "utf-8") || strings.EqualFold(label, "utf8")
}

func isASCII(label string) bool {
	return strings.EqualFold(label, "us-ascii") || strings.EqualFold(label, "ascii")
}

func unknownEncoding(label string) bool {
	known, _ := charset.Lookup(label)
	return known == nil && label != "" && !isUTF8(label)
}

// limitedReader fails, instead of ending, when more is read than the limit.
type limitedReader struct {
	r    io.Reader
	left int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}
