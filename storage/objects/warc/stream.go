package warc

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// stream is the uncompressed content of a file, which knows where in the file it is.
type stream struct {
	file    io.ReadSeeker
	size    int64
	raw     *bufio.Reader // the file
	at      int64         // of raw in the file
	members               // nil when the file is plain
	member  int64         // where in the file the current one begins
	skip    int64         // how much of it was read
	data    *bufio.Reader // what is in the member
	reread  int64         // how much more may be read again after damage
}

// Sizes of the buffers. Both are also how far one can peek.
const (
	rawBuffer  = 64 << 10
	dataBuffer = 64 << 10
)

var (
	gzipMagic = []byte{0x1f, 0x8b, 8}
	dictMagic = []byte{0x5d, 0x2a, 0x4d, 0x18} // the frame of a dictionary before those of zstd
)

// members decompresses the members of gzip, or the frames of zstd, one at a time.
type members interface {
	magic() []byte                 // what each begins with
	begin(in counted) error        // goes on with the one that in begins with, and takes no byte behind it
	inflate(p []byte) (int, error) // reads it; io.EOF at its end
}

type gzipMembers struct{ gzip.Reader }

func (*gzipMembers) magic() []byte { return gzipMagic }

func (z *gzipMembers) begin(in counted) error {
	err := z.Reset(in)
	if err == nil {
		z.Multistream(false)
	}
	return err
}

func (z *gzipMembers) inflate(p []byte) (int, error) { return z.Read(p) }

type zstdFrames struct {
	frame   FrameReader
	decoder *zstd.Decoder
}

// newFrames bounds what a frame may ask for: as much as zstd --long does.
func newFrames() (*zstdFrames, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(128<<20))
	return &zstdFrames{decoder: d}, err
}

func (*zstdFrames) magic() []byte { return ZstdMagic }

func (z *zstdFrames) begin(in counted) error {
	z.frame.Reset(in)
	return z.decoder.Reset(&z.frame)
}

func (z *zstdFrames) inflate(p []byte) (int, error) { return z.decoder.Read(p) }

// content is what is in a member.
type content struct{ members }

func (c content) Read(p []byte) (int, error) { return c.inflate(p) }

// newStream begins to read a file, whose compression it detects.
func newStream(file io.ReadSeeker) (*stream, error) {
	size, err := file.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, err
	}
	s := &stream{file: file, size: size, reread: 4*size + 1<<20}
	s.raw = bufio.NewReaderSize(source{file}, rawBuffer)
	s.data = bufio.NewReaderSize(nil, dataBuffer)
	head, err := s.raw.Peek(4)
	if err != nil && err != io.EOF {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, dictMagic):
		return nil, ErrZstandard
	case bytes.HasPrefix(head, ZstdMagic):
		if s.members, err = newFrames(); err != nil {
			return nil, err
		}
	case bytes.HasPrefix(head, gzipMagic):
		s.members = new(gzipMembers)
	default:
		s.data.Reset(s.raw)
		return s, nil
	}
	if err := s.open(); err != nil && !isDamage(err) {
		return nil, err
	}
	return s, nil
}

// counted reads the compressed file; what decompresses takes from it exactly what its member has.
type counted struct{ *stream }

func (c counted) Read(p []byte) (int, error) {
	n, err := c.raw.Read(p)
	c.at += int64(n)
	return n, err
}

func (c counted) ReadByte() (byte, error) {
	b, err := c.raw.ReadByte()
	if err == nil {
		c.at++
	}
	return b, err
}

// source reads the file, and marks its errors.
type source struct{ io.Reader }

func (s source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = &fileError{err}
	}
	return n, err
}

// fileError means that the file cannot be read, which is something else than that its content is wrong.
type fileError struct{ err error }

func (e *fileError) Error() string { return e.err.Error() }
func (e *fileError) Unwrap() error { return e.err }

func isDamage(err error) bool {
	var unreadable *fileError
	return err != nil && !errors.As(err, &unreadable)
}

// failing is content that cannot be read.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// open begins the member that the file is at. When there is none, reading its content fails as well.
func (s *stream) open() error {
	s.member, s.skip = s.at, 0
	err := s.begin(counted{s})
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		s.data.Reset(failing{err})
		return err
	}
	s.data.Reset(content{s.members})
	return nil
}

func (s *stream) place() Place { return Place{s.member, s.skip} }

// offset is where in the file the stream is, as far as one can tell.
func (s *stream) offset() int64 { return s.offsetOf(s.place()) }

func (s *stream) offsetOf(p Place) int64 {
	if s.members == nil {
		return p.Skip
	}
	return p.Member
}

// peek returns the next n bytes, or what there is before the end of the member.
func (s *stream) peek(n int) ([]byte, error) { return s.data.Peek(n) }

func (s *stream) discard(n int) {
	n, _ = s.data.Discard(n) // of what was peeked
	s.skip += int64(n)
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.data.Read(p)
	s.skip += int64(n)
	return n, err
}

// next goes on to the next member, after the end of one; io.EOF means that there is none. Zeros
// between members are padding.
func (s *stream) next() error {
	if s.members == nil {
		return io.EOF
	}
	for {
		head, err := s.raw.Peek(len(s.magic()))
		switch {
		case len(head) == 0 && err != nil:
			s.member, s.skip = s.at, 0
			return err
		case head[0] == 0:
			s.advance(1)
		default:
			return s.open()
		}
	}
}

func (s *stream) advance(n int) {
	n, _ = s.raw.Discard(n)
	s.at += int64(n)
}

// seek goes to a place.
func (s *stream) seek(p Place) error {
	to := p.Member
	if s.members == nil {
		to = p.Skip
	}
	if err := s.seekRaw(to); err != nil || s.members == nil {
		s.member, s.skip = 0, to
		s.data.Reset(s.raw)
		return err
	}
	if err := s.open(); err != nil {
		return err
	}
	n, err := io.CopyN(io.Discard, s.data, p.Skip)
	s.skip += n
	return err
}

func (s *stream) seekRaw(to int64) error {
	if _, err := s.file.Seek(to, io.SeekStart); err != nil {
		return &fileError{err}
	}
	s.raw.Reset(source{s.file})
	s.at = to
	return nil
}

// again reports whether so much may be read again; what was read again before counts.
func (s *stream) again(n int64) bool {
	if s.reread < n {
		return false
	}
	s.reread -= n
	return true
}

// resync goes to the next member that holds the beginning of a record, after damage to the one that
// begins at member. It is looked for from right behind there, because a damaged member may seem to reach
// over others. io.EOF means that there is none.
func (s *stream) resync(member int64) error {
	if back := s.at - member; s.again(back) {
		if err := s.seekRaw(member + 1); err != nil {
			return err
		}
	}
	for {
		window, err := s.raw.Peek(rawBuffer)
		if err != nil && err != io.EOF {
			return err
		}
		i := bytes.Index(window, s.magic())
		switch {
		case i >= 0:
			s.advance(i)
			if found, err := s.tryMember(); found || err != nil {
				return err
			}
		case err == io.EOF:
			s.advance(len(window))
			s.member, s.skip = s.at, 0
			s.data.Reset(failing{io.EOF})
			return io.EOF
		default:
			s.advance(len(window) - len(s.magic()) + 1)
		}
	}
}

// tryMember opens the member that may begin here, and reports whether it holds the beginning of a record;
// otherwise it goes on by one byte. Here it costs no more than a peek, wherever the member ends.
func (s *stream) tryMember() (bool, error) {
	window, err := s.raw.Peek(4 << 10)
	if err != nil && err != io.EOF {
		return false, err
	}
	if s.beginsRecord(window) {
		return true, s.open()
	}
	s.advance(1)
	return false, nil
}

// beginsRecord reports whether a member that begins like window holds the beginning of a record. Of zstd, that is not
// known before all of the first block is there: then reading it will tell.
func (s *stream) beginsRecord(window []byte) bool {
	var trial members = new(gzipMembers)
	if _, ok := s.members.(*zstdFrames); ok {
		frames, err := newFrames()
		if err != nil {
			return false
		}
		trial = frames
	}
	if trial.begin(counted{&stream{raw: bufio.NewReader(bytes.NewReader(window))}}) != nil {
		return false
	}
	head := make([]byte, len(magic))
	n, err := io.ReadFull(content{trial}, head)
	_, ofZstd := trial.(*zstdFrames)
	return string(head[:n]) == magic || ofZstd && n == 0 && errors.Is(err, io.ErrUnexpectedEOF)
}

// damaged reports whether what comes next cannot be inflated.
func (s *stream) damaged() bool {
	_, err := s.peek(1)
	return s.members != nil && err != nil && err != io.EOF
}
