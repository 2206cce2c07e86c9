package objects

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/webrace/webrace/storage/objects/warc"
)

// scanner reads the records of a segment without an index: one gzip member or zstd frame after the other, and over what
// is none.
type scanner struct {
	segment uint32
	file    io.ReaderAt
	at, end int64
	decompressor
}

// scanned is a whole record.
type scanned struct {
	*parsedRecord
	at location
}

// maxRecord is as much as the content of a record may be.
const maxRecord = 1 << 31

// next returns the next whole record; io.EOF when there is none. Where it lies tells what was passed over.
func (s *scanner) next() (*scanned, error) {
	for s.at < s.end {
		r, err := s.here()
		if err == nil {
			s.at = r.at.offset + r.at.length
			return r, nil
		}
		if !errors.Is(err, ErrCorrupt) {
			return nil, err
		}
		if err := s.skip(); err != nil {
			return nil, err
		}
	}
	return nil, io.EOF
}

// here returns the record that begins where the scanner stands, or [ErrCorrupt].
func (s *scanner) here() (*scanned, error) {
	in := &counted{in: bufio.NewReaderSize(io.NewSectionReader(s.file, s.at, s.end-s.at), 32<<10)}
	r, err := s.read(in)
	if err != nil && in.failed != nil {
		return nil, fmt.Errorf("read segment %d at %d: %w", s.segment, s.at+in.n, in.failed)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return &scanned{r, location{s.segment, s.at, in.n}}, nil
}

func (s *scanner) read(in *counted) (*parsedRecord, error) {
	head, _ := in.in.Peek(len(warc.ZstdMagic)) // reading tells what is wrong
	inflated, err := s.begin(in, compressionOf(head))
	if err != nil {
		return nil, err
	}
	content := bufio.NewReaderSize(inflated, 4<<10)
	raw, err := headerOf(content)
	if err != nil {
		return nil, err
	}
	header, _, err := parseHeader(raw)
	if err != nil {
		return nil, err
	}
	length, err := strconv.ParseInt(header.fields["content-length"], 10, 64)
	if err != nil || length < 0 || length > maxRecord {
		return nil, fmt.Errorf("WARC record says that its length is %.20q", header.fields["content-length"])
	}
	var block bytes.Buffer
	if _, err := block.ReadFrom(io.LimitReader(content, length+int64(len(recordEnd))+1)); err != nil {
		return nil, err // the checksum is wrong, for one
	}
	return parseRecord(append(raw, block.Bytes()...))
}

// headerOf reads the header of a record, with the line that ends it.
func headerOf(content *bufio.Reader) ([]byte, error) {
	const longest = 16 * maxURL
	var raw []byte
	for !bytes.HasSuffix(raw, []byte("\r\n\r\n")) {
		line, err := content.ReadSlice('\n')
		if raw = append(raw, line...); err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
		if !bytes.HasPrefix(raw, []byte(warcVersion)[:min(len(raw), len(warcVersion))]) || len(raw) > longest {
			return nil, errors.New("not a WARC record")
		}
	}
	return raw, nil
}

// skip goes on to the next place at which a record could begin.
func (s *scanner) skip() error {
	window := make([]byte, 256<<10)
	for s.at++; s.at < s.end; {
		n, err := s.file.ReadAt(window[:min(int64(len(window)), s.end-s.at)], s.at)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read segment %d at %d: %w", s.segment, s.at, err)
		}
		if i := magicIn(window[:n]); i >= 0 {
			s.at += int64(i)
			return nil
		}
		if n < len(warc.ZstdMagic) {
			break
		}
		s.at += int64(n - len(warc.ZstdMagic) + 1)
	}
	s.at = s.end
	return nil
}

// magicIn is where the first record may begin in p; less than 0 if none does.
func magicIn(p []byte) int {
	first := -1
	for _, c := range compressions {
		if i := bytes.Index(p, c.magic()); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	return first
}

// counted counts what is read, to the byte, because a decompressor reads single bytes where it is let.
type counted struct {
	in     *bufio.Reader
	n      int64
	failed error // of the file
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.n += int64(n)
	c.note(err)
	return n, err
}

func (c *counted) ReadByte() (byte, error) {
	b, err := c.in.ReadByte()
	if err == nil {
		c.n++
	}
	c.note(err)
	return b, err
}

func (c *counted) note(err error) {
	if err != nil && !errors.Is(err, io.EOF) {
		c.failed = err
	}
}
