package httpwire

// chunks follows a chunked body (RFC 9112, section 7.1) to its end, as strictly as net/http reads it, and leaves the
// trailer out.
type chunks struct {
	at     chunkPart
	size   uint64 // of the chunk, or what is left of it
	digits int
	cr     bool // the last byte was a carriage return
	line   int  // bytes of this line of the trailer
	total  int  // bytes of the trailer
	late   []byte
}

type chunkPart uint8

const (
	chunkSize chunkPart = iota
	chunkExtension
	chunkData
	chunkDataEnd
	chunkTrailer
)

// What became of a chunked body.
type chunksState uint8

const (
	chunksGo chunksState = iota
	chunksEnd
	chunksBad  // it is none
	chunksLong // its trailer is too long
)

var crlf = []byte("\r\n")

// pass reads the next bytes. It moves those that are not left out to the front, and returns how many they are, and how
// many it has used: all of them unless the body ended or is bad. The blank line at the end may not fit there; then it
// is in late.
func (c *chunks) pass(b []byte, most int) (kept, used int, s chunksState) {
	for i := 0; i < len(b); {
		if c.at == chunkTrailer {
			i++
			if c.trailer(b[i-1]) {
				if i-kept < len(crlf) {
					c.late = crlf
					return kept, i, chunksEnd
				}
				return kept + copy(b[kept:], crlf), i, chunksEnd
			}
			if c.total > most {
				return kept, i, chunksLong
			}
			continue
		}
		if c.at == chunkData {
			n := int(min(uint64(len(b)-i), c.size))
			i, kept = i+n, kept+n
			if c.size -= uint64(n); c.size == 0 {
				c.at = chunkDataEnd
			}
			continue
		}
		if !c.framing(b[i]) {
			return kept, i, chunksBad
		}
		i, kept = i+1, kept+1
	}
	return kept, len(b), chunksGo
}

// framing takes a byte of a size, its extension, or the end of a chunk's data; false is that it cannot be there.
func (c *chunks) framing(x byte) bool {
	after := c.cr
	c.cr = x == '\r'
	switch {
	case c.at == chunkDataEnd && after:
		c.at, c.size, c.digits = chunkSize, 0, 0
		return x == '\n'
	case c.at == chunkDataEnd:
		return x == '\r'
	case after || x == '\n':
		return after && x == '\n' && c.begin()
	case x == '\r' || c.at == chunkExtension:
		return true
	case x == ';':
		c.at = chunkExtension
		return true
	}
	if x == ' ' || x == '\t' { // net/http takes them at the end alone
		return true
	}
	digit, ok := hexDigit(x)
	c.size = c.size<<4 | digit
	c.digits++
	return ok && c.digits <= 16
}

// begin begins a chunk.
func (c *chunks) begin() bool {
	c.at = chunkData
	if c.size == 0 {
		c.at = chunkTrailer
	}
	return c.digits > 0
}

// trailer takes a byte of the trailer, and reports whether it is its last.
func (c *chunks) trailer(x byte) bool {
	c.total++
	switch {
	case x != '\n':
		c.line++
		c.cr = x == '\r'
		return false
	case c.line == 0 || c.line == 1 && c.cr:
		return true
	}
	c.line, c.cr = 0, false
	return false
}

func hexDigit(x byte) (uint64, bool) {
	switch {
	case '0' <= x && x <= '9':
		return uint64(x - '0'), true
	case 'a' <= x|0x20 && x|0x20 <= 'f':
		return uint64(x|0x20-'a') + 10, true
	}
	return 0, false
}
