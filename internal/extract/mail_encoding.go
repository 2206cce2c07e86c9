package extract

import (
	"bytes"
	"encoding/base64"
	"strings"
)

// decodeTransfer returns what a body was before it was encoded for the journey. A body in an encoding that is not
// known is returned as it is, not copied.
func decodeTransfer(body []byte, transferEncoding string) []byte {
	switch strings.ToLower(strings.TrimSpace(transferEncoding)) {
	case "base64":
		return decodeBase64(body)
	case "quoted-printable":
		return decodeQuotedPrintable(body)
	}
	return body
}

// decodeBase64 passes over all that is not of the alphabet, as RFC 2045 wants it. Padding ends one stretch,
// and the next may begin: some mail is put together from several.
func decodeBase64(body []byte) []byte {
	decoded := make([]byte, base64.StdEncoding.DecodedLen(len(body)))
	if n, err := base64.StdEncoding.Decode(decoded, body); err == nil {
		return decoded[:n]
	}
	return decodeStretches(decoded[:0], body)
}

// decodeStretches is decodeBase64 for what is put together, or broken. It appends to decoded.
func decodeStretches(decoded, body []byte) []byte {
	var stretch []byte
	end := func() {
		if len(stretch)%4 == 1 { // six bits are no byte
			stretch = stretch[:len(stretch)-1]
		}
		decoded, _ = base64.RawStdEncoding.AppendDecode(decoded, stretch)
		stretch = stretch[:0]
	}
	for _, c := range body {
		switch {
		case 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '+' || c == '/':
			stretch = append(stretch, c)
		case c == '=':
			end()
		}
	}
	end()
	return decoded
}

// decodeQuotedPrintable leaves an equals sign that encodes nothing as it is.
func decodeQuotedPrintable(body []byte) []byte {
	decoded := make([]byte, 0, len(body))
	for {
		before, rest, found := bytes.Cut(body, []byte("="))
		decoded = append(decoded, before...)
		if !found {
			return decoded
		}
		if next, ok := softBreak(rest); ok {
			body = next
			continue
		}
		if len(rest) >= 2 && hex(rest[0]) >= 0 && hex(rest[1]) >= 0 {
			decoded = append(decoded, byte(hex(rest[0])<<4|hex(rest[1])))
			body = rest[2:]
			continue
		}
		decoded = append(decoded, '=')
		body = rest
	}
}

// softBreak reports whether the line ends here for the journey only, and returns the next one.
func softBreak(b []byte) (next []byte, ok bool) {
	line := bytes.TrimLeft(b, " \t")
	if len(line) == 0 {
		return nil, true
	}
	return bytes.CutPrefix(bytes.TrimPrefix(line, []byte("\r")), []byte("\n"))
}

// hex returns the value of a hexadecimal digit, in any case; -1 for another byte.
func hex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	}
	return -1
}
