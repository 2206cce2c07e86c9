package rdf

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"unicode/utf8"
)

// input is the part of a document that its reader looks at. Readers keep offsets from pos: asking for more moves what
// stands before and after it.
type input struct {
	ctx    context.Context
	source io.Reader
	buf    []byte
	pos    int   // what is read next
	end    int   // buf[:end] is valid UTF-8
	filled int   // buf[end:filled] is the beginning of a character
	final  error // why nothing follows buf[:end]: io.EOF at the end of the document
	broken bool  // what follows was asked for, and final is not io.EOF

	line, column int // where buf[0] stands, from 0
	dropped      int // bytes before buf[0]
	start        int // where the document begins, behind a byte order mark
	hold         int // an offset in the document from which on nothing is dropped, for errors; negative: none
}

const maxWindow = 32 << 10

func newInput(ctx context.Context, source io.Reader) input {
	size := maxWindow
	if known, ok := source.(interface{ Len() int }); ok {
		size = min(size, max(known.Len()+1, 512)) // with room to find the end
	}
	return input{ctx: ctx, source: source, buf: make([]byte, size), hold: -1}
}

// more reads on, and reports whether there was something. It asks whether the context has ended.
func (in *input) more() bool {
	if in.final == nil {
		in.makeRoom()
		before := in.end
		for tries := 0; in.final == nil && in.end == before; tries++ {
			in.fill(tries)
		}
		if in.end > before {
			return true
		}
	}
	in.broken = in.final != io.EOF
	return false
}

func (in *input) fill(tries int) {
	if in.ctx.Err() != nil {
		in.final = context.Cause(in.ctx)
		return
	}
	if tries == 100 {
		in.final = io.ErrNoProgress
		return
	}
	n, err := in.source.Read(in.buf[in.filled:])
	in.filled += n
	in.end += validPrefix(in.buf[in.end:in.filled])
	if rest := in.buf[in.end:in.filled]; len(rest) > 0 && (utf8.FullRune(rest) || err == io.EOF) {
		line, column := in.position(in.end - in.pos)
		err = &SyntaxError{line, column, "this is not UTF-8"}
	}
	in.final = err
}

// makeRoom moves what was not read yet to the beginning, or makes the buffer larger if that is most of it.
func (in *input) makeRoom() {
	if in.filled < len(in.buf) {
		return
	}
	from := in.pos
	if in.hold >= 0 {
		from = in.hold - in.dropped
	}
	in.line, in.column = in.place0(from - in.pos)
	to := in.buf
	if from < len(in.buf)/2 {
		to = make([]byte, 2*len(in.buf))
	}
	in.dropped += from
	copy(to, in.buf[from:in.filled])
	in.buf, in.end, in.filled, in.pos = to, in.end-from, in.filled-from, in.pos-from
}

// validPrefix returns how much of b is valid UTF-8.
func validPrefix(b []byte) int {
	n := len(b)
	for k := 1; k <= min(3, len(b)); k++ {
		if utf8.RuneStart(b[len(b)-k]) {
			if !utf8.FullRune(b[len(b)-k:]) {
				n -= k
			}
			break
		}
	}
	if utf8.Valid(b[:n]) {
		return n
	}
	for i := 0; ; {
		r, size := utf8.DecodeRune(b[i:n])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
}

// has reports whether the document goes on for n bytes after pos.
func (in *input) has(n int) bool {
	for in.pos+n > in.end {
		if !in.more() {
			return false
		}
	}
	return true
}

// at returns the byte at an offset from pos; zero behind the end, which no syntax allows where this is asked.
func (in *input) at(n int) byte {
	if in.pos+n < in.end || in.has(n+1) {
		return in.buf[in.pos+n]
	}
	return 0
}

// runeAt returns the character at an offset from pos. Size is 0 behind the end.
func (in *input) runeAt(n int) (c rune, size int) {
	if !in.has(n + 1) {
		return 0, 0
	}
	return utf8.DecodeRune(in.buf[in.pos+n : in.end])
}

// position returns line and column, from 1, at an offset from pos.
func (in *input) position(n int) (line, column int) {
	line, column = in.place0(n)
	return line + 1, column + 1
}

func (in *input) place0(n int) (line, column int) {
	b := in.buf[:in.pos+n]
	newlines := bytes.Count(b, []byte{'\n'})
	if newlines == 0 {
		return in.line, in.column + utf8.RuneCount(b)
	}
	return in.line + newlines, utf8.RuneCount(b[bytes.LastIndexByte(b, '\n')+1:])
}

// errorf reports what is wrong at an offset from pos; if the document could not be read up to there, why.
func (in *input) errorf(n int, format string, args ...any) error {
	if in.broken {
		return in.final
	}
	line, column := in.position(n)
	return &SyntaxError{line, column, shortenedTo(maxSays, fmt.Sprintf(format, args...))}
}

// maxSays is how long a message can be, which quotes the document.
const maxSays = 500

// errorAt is errorf at an offset in the document that is held.
func (in *input) errorAt(at int, format string, args ...any) error {
	return in.errorf(at-in.dropped-in.pos, format, args...)
}

func (in *input) limitError(n int, what string, limit int) error {
	line, column := in.position(n)
	return &LimitError{line, column, what, limit}
}

// expected reports what should stand at pos, and what stands there.
func (in *input) expected(what string) error {
	c, size := in.runeAt(0)
	if size == 0 {
		return in.errorf(0, "expected %s, found the end of the document", what)
	}
	return in.errorf(0, "expected %s, found %q", what, c)
}
