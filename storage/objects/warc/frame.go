package warc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// ZstdMagic begins a frame of Zstandard.
var ZstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// errFrame means that what is read is no frame.
var errFrame = errors.New("not a frame of Zstandard")

// maxBlock is as much as a block may have.
const maxBlock = 128 << 10

// FrameReader reads the bytes of one frame of Zstandard (RFC 8878), as they are, and not one byte more: where a frame
// ends no decoder tells, and it has to be known where frames are records, one behind the other. It reads only the
// headers of blocks, so it tells nothing of what is in them. A frame that does not end is [io.ErrUnexpectedEOF].
type FrameReader struct {
	in       io.Reader
	buffer   [18]byte
	header   []byte // of the frame or of a block, still to be handed out
	left     int    // bytes of the block or checksum that follow it
	checksum bool
	next     framePart
}

type framePart uint8

const (
	atHeader framePart = iota
	atBlock
	atChecksum
	atEnd
)

// Reset begins to read the frame that in begins with.
func (r *FrameReader) Reset(in io.Reader) { *r = FrameReader{in: in} }

func (r *FrameReader) Read(p []byte) (int, error) {
	for len(r.header) == 0 && r.left == 0 {
		if err := r.begin(); err != nil {
			return 0, err
		}
	}
	if len(r.header) > 0 {
		n := copy(p, r.header)
		r.header = r.header[n:]
		return n, nil
	}
	n, err := r.in.Read(p[:min(len(p), r.left)])
	if r.left -= n; err == io.EOF && r.left > 0 {
		return n, io.ErrUnexpectedEOF
	} else if err == io.EOF {
		err = nil
	}
	return n, err
}

// begin goes on to the next part of the frame; io.EOF behind the last.
func (r *FrameReader) begin() error {
	switch r.next {
	case atHeader:
		return r.frameHeader()
	case atBlock:
		return r.blockHeader()
	case atChecksum:
		r.left, r.next = 4, atEnd
		return nil
	}
	return io.EOF
}

func (r *FrameReader) frameHeader() error {
	fixed := r.buffer[:5]
	if err := r.full(fixed); err != nil {
		return err
	}
	descriptor := fixed[4]
	if !bytes.Equal(fixed[:4], ZstdMagic) || descriptor&8 != 0 {
		return errFrame
	}
	single := descriptor >> 5 & 1
	rest := [4]int{0, 1, 2, 4}[descriptor&3] + [4]int{int(single), 2, 4, 8}[descriptor>>6] + int(1-single)
	r.header, r.checksum, r.next = r.buffer[:5+rest], descriptor&4 != 0, atBlock
	return r.full(r.header[5:])
}

func (r *FrameReader) blockHeader() error {
	r.header = r.buffer[:3]
	if err := r.full(r.header); err != nil {
		return err
	}
	n := int(binary.LittleEndian.Uint16(r.header)) | int(r.header[2])<<16
	kind := n >> 1 & 3
	switch r.left = n >> 3; {
	case kind == 3 || r.left > maxBlock:
		return errFrame
	case kind == 1: // one byte, so many times
		r.left = 1
	}
	switch {
	case n&1 == 0:
	case r.checksum:
		r.next = atChecksum
	default:
		r.next = atEnd
	}
	return nil
}

func (r *FrameReader) full(p []byte) error {
	_, err := io.ReadFull(r.in, p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		r.header = nil
	}
	return err
}
