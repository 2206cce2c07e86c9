package warc

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
)

// magic begins a record.
const magic = "WARC/"

// Reader reads the records of one file.
type Reader struct {
	*stream
	open *block // of the record that was returned last; nil when it is finished
}

// NewReader begins to read a file. It fails when the file cannot be read at all.
func NewReader(file io.ReadSeeker) (*Reader, error) {
	s, err := newStream(file)
	if err != nil {
		return nil, err
	}
	return &Reader{stream: s}, nil
}

// Size returns the size of the file; Progress how far it was read.
func (r *Reader) Size() int64 { return r.size }

// Progress returns how much of the file was read.
func (r *Reader) Progress() int64 { return r.offset() }

// At returns the place of the first record at an offset, as [Record.Offset] has it.
func (r *Reader) At(offset int64) Place {
	if r.members == nil {
		return Place{Skip: offset}
	}
	return Place{Member: offset}
}

// Seek makes the record at a place the next one. The place is that of a record of this file.
func (r *Reader) Seek(p Place) error {
	r.open = nil
	if err := r.seek(p); err != nil {
		return fmt.Errorf("go to the record at %d: %w", r.offsetOf(p), err)
	}
	return nil
}

// Next returns the next record, and io.EOF behind the last. A [*BrokenError] is what lies between, or
// that the record returned before was not whole: reading goes on with another call. Any other error is of
// the file, and ends it.
func (r *Reader) Next() (*Record, error) {
	if err := r.finish(); err != nil {
		return nil, err
	}
	if err := r.findStart(); err != nil {
		return nil, err
	}
	rec := &Record{Place: r.place(), Offset: r.offset(), reader: r}
	if err := rec.readHeader(r.stream); err != nil {
		return nil, r.broken(rec.Place, err)
	}
	if left := r.size - r.offset(); r.members == nil && rec.Length > left {
		return nil, r.broken(rec.Place, fmt.Errorf("the record says it has %d bytes, but the file ends after %d", rec.Length, left))
	}
	r.open = &block{stream: r.stream, record: rec, left: rec.Length}
	r.open.expect(rec.Field("WARC-Block-Digest"))
	rec.Block = r.open
	return rec, nil
}

// findStart goes to where the next record begins. Empty lines before it are no damage.
func (r *Reader) findStart() error {
	for {
		head, err := r.peek(len(magic))
		switch {
		case string(head) == magic:
			return nil
		case len(head) > 0 && (head[0] == '\r' || head[0] == '\n'):
			r.discard(1)
		case len(head) > 0 && (err == nil || err == io.EOF):
			return r.broken(r.place(), fmt.Errorf("%.20q is not the beginning of a record", head))
		case err == io.EOF:
			if err := r.next(); err == io.EOF {
				return io.EOF
			} else if err != nil {
				return r.broken(r.place(), err)
			}
		default:
			return r.broken(r.place(), err)
		}
	}
}

// skipGarbage goes to the next line that begins a record, or to the end of the member.
func (r *Reader) skipGarbage() {
	if head, _ := r.peek(len(magic)); string(head) == magic {
		return
	}
	for {
		window, err := r.peek(dataBuffer)
		if i := bytes.Index(window, []byte("\n"+magic)); i >= 0 {
			r.discard(i + 1)
			return
		}
		if err != nil { // the end, or damage, which findStart sees
			r.discard(len(window))
			return
		}
		r.discard(len(window) - len(magic))
	}
}

// broken reports what is wrong with what begins at a place, after going on to where the next record may
// begin. What cannot be read because of the file system is no damage, and ends reading.
func (r *Reader) broken(at Place, cause error) error {
	if !isDamage(cause) {
		return cause
	}
	offset, reason := r.offsetOf(at), cause.Error()
	if !r.damaged() {
		r.skipGarbage()
		return &BrokenError{offset, reason}
	}
	if err := r.resync(r.member); err != nil && err != io.EOF && !isDamage(err) {
		return err
	}
	return &BrokenError{offset, "the compressed data are damaged: " + reason}
}

// block is what a record holds.
type block struct {
	stream   *stream
	record   *Record
	left     int64
	err      error
	digest   hash.Hash // of what was read; nil when none is known
	want     string
	tail     []byte // the last bytes that were read
	embedded *Place // the first line in the block that looks like the beginning of a record
}

func (b *block) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if b.left == 0 {
		return 0, io.EOF
	}
	before := b.stream.place()
	n, err := b.stream.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	b.saw(before, p[:n])
	if err == io.EOF && b.left > 0 {
		err = b.nextMember()
	}
	if err != nil && err != io.EOF {
		b.err = err
	}
	return n, b.err
}

// nextMember goes on with a block that continues in another member, as in files that were compressed
// in pieces. One that begins a record does not continue it.
func (b *block) nextMember() error {
	switch err := b.stream.next(); {
	case err == io.EOF:
		return fmt.Errorf("%w: the file ends %d bytes before the record's", io.ErrUnexpectedEOF, b.left)
	case err != nil:
		return err
	}
	if head, _ := b.stream.peek(len(magic)); string(head) == magic {
		return fmt.Errorf("%w: the next record begins %d bytes before the end of this one", io.ErrUnexpectedEOF, b.left)
	}
	b.tail = nil
	return nil
}

// saw keeps the digest, and remembers where a record may begin in what was read.
func (b *block) saw(at Place, p []byte) {
	if b.digest != nil {
		b.digest.Write(p)
	}
	const line = "\n" + magic
	if b.embedded != nil || len(p) == 0 {
		return
	}
	seam := append(b.tail, p[:min(len(p), len(line)-1)]...)
	if i := bytes.Index(seam, []byte(line)); i >= 0 {
		b.embedded = &Place{at.Member, at.Skip - int64(len(b.tail)) + int64(i) + 1}
	} else if i := bytes.Index(p, []byte(line)); i >= 0 {
		b.embedded = &Place{at.Member, at.Skip + int64(i) + 1}
	}
	b.tail = append(b.tail, p[max(0, len(p)-len(line)+1):]...)
	b.tail = b.tail[max(0, len(b.tail)-len(line)+1):]
}

// hashes are those that records name.
var hashes = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha-1": sha1.New, "sha256": sha256.New, "sha-256": sha256.New, "sha512": sha512.New, "sha-512": sha512.New,
}

// expect makes the block be checked against its digest.
func (b *block) expect(digest string) {
	algorithm, value, _ := strings.Cut(digest, ":")
	if make := hashes[strings.ToLower(algorithm)]; make != nil {
		b.digest, b.want = make(), value
	}
}

// check compares the digest, which is written in base 32 or in base 16.
func (b *block) check() error {
	if b.digest == nil {
		return nil
	}
	sum := b.digest.Sum(nil)
	if strings.EqualFold(b.want, hex.EncodeToString(sum)) || strings.EqualFold(b.want, base32.StdEncoding.EncodeToString(sum)) {
		return nil
	}
	return errors.New("the block is not what its digest says")
}

// finish reads to the end of the open record, and reports what is wrong with it.
func (r *Reader) finish() error {
	b := r.open
	if b == nil {
		return nil
	}
	r.open = nil
	_, err := io.Copy(io.Discard, b)
	if err == nil {
		err = r.endOfRecord()
	}
	if err == nil {
		err = b.check()
		b.embedded = nil // its length is right
	}
	if err == nil {
		return nil
	}
	if b.embedded != nil && isDamage(err) && !r.damaged() && r.again(r.at-r.offsetOf(*b.embedded)+r.skip) {
		if err := r.seek(*b.embedded); err != nil && !isDamage(err) {
			return err
		}
	}
	return r.broken(b.record.Place, err)
}

// endOfRecord reads the two empty lines behind a block. Some programs write fewer: that is no matter, as
// long as another record follows, or nothing.
func (r *Reader) endOfRecord() error {
	end, err := r.peek(4)
	if string(end) == "\r\n\r\n" {
		r.discard(4)
		if _, err := r.peek(1); err != nil && err != io.EOF {
			return err // the checksum of the member
		}
		return nil
	}
	for len(end) > 0 && (end[0] == '\r' || end[0] == '\n') {
		r.discard(1)
		end, err = r.peek(1)
	}
	if len(end) > 0 {
		end, _ = r.peek(len(magic))
		if string(end) == magic {
			return nil
		}
		return fmt.Errorf("%.20q follows the record: its length is wrong", end)
	}
	if err != nil && err != io.EOF {
		return err
	}
	return nil
}
