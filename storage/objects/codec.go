package objects

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/webrace/webrace/storage/objects/warc"
)

// Compression is that of the records of a segment: each is a member or a frame of its own, so that it can be read by
// its offset alone.
type Compression uint8

const (
	Gzip Compression = 1 // .warc.gz, which every tool for web archives reads
	Zstd Compression = 2 // .warc.zst, without a dictionary
)

// compressions are the names by which they are chosen.
var compressions = map[string]Compression{"gzip": Gzip, "zstd": Zstd}

// ParseCompression returns the compression of a name.
func ParseCompression(name string) (Compression, error) {
	c, ok := compressions[name]
	if !ok {
		return 0, fmt.Errorf("%q is no compression of records: choose gzip or zstd", name)
	}
	return c, nil
}

// extension ends the names of segments.
func (c Compression) extension() string {
	if c == Zstd {
		return ".zst"
	}
	return ".gz"
}

// magic begins every record.
func (c Compression) magic() []byte {
	if c == Zstd {
		return warc.ZstdMagic
	}
	return []byte{0x1f, 0x8b, 0x08}
}

// compressionOf is that of a record that begins like this.
func compressionOf(record []byte) Compression {
	if bytes.HasPrefix(record, warc.ZstdMagic) {
		return Zstd
	}
	return Gzip
}

// compressor holds what writing records needs and is costly to make.
type compressor struct {
	compression Compression
	gzip        *gzip.Writer
	zstd        *zstd.Encoder
	head        bytes.Buffer
	whole       []byte // a record, for zstd
}

// compressors returns a pool of them for a compression. The level is that of gzip, which must know it.
func compressors(c Compression, level int) (*sync.Pool, error) {
	if c == Zstd {
		return &sync.Pool{New: func() any {
			w, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
			return &compressor{compression: c, zstd: w}
		}}, nil
	}
	if _, err := gzip.NewWriterLevel(io.Discard, level); err != nil || level < 1 {
		return nil, fmt.Errorf("gzip level %d is not one of 1 to 9", level)
	}
	return &sync.Pool{New: func() any {
		w, _ := gzip.NewWriterLevel(io.Discard, level)
		return &compressor{compression: c, gzip: w}
	}}, nil
}

// compress writes parts as one member or frame behind what is in out.
func (c *compressor) compress(out *bytes.Buffer, parts ...[]byte) {
	if c.compression == Gzip {
		c.gzip.Reset(out)
		for _, part := range parts {
			c.gzip.Write(part) // into memory: cannot fail
		}
		c.gzip.Close()
		return
	}
	const kept = 1 << 20 // of memory for the next record
	whole := c.whole[:0]
	for _, part := range parts {
		whole = append(whole, part...)
	}
	if c.whole = whole; cap(whole) > kept {
		c.whole = nil
	}
	out.Write(c.zstd.EncodeAll(whole, out.AvailableBuffer()))
}

// decompressor reads records of either compression, one after the other.
type decompressor struct {
	gzip  gzip.Reader
	zstd  *zstd.Decoder // nil until it is needed
	frame warc.FrameReader
	input bytes.Reader
}

var decompressors = sync.Pool{New: func() any { return new(decompressor) }}

// flow is what compressed records are read from, to the byte.
type flow interface {
	io.Reader
	io.ByteReader
}

// begin returns the content of the one member or frame that in begins with.
func (d *decompressor) begin(in flow, c Compression) (io.Reader, error) {
	if c == Gzip {
		if err := d.gzip.Reset(in); err != nil {
			return nil, err
		}
		d.gzip.Multistream(false)
		return &d.gzip, nil
	}
	d.frame.Reset(in)
	z, err := d.decoder()
	if err == nil {
		err = z.Reset(&d.frame)
	}
	return z, err
}

func (d *decompressor) decoder() (*zstd.Decoder, error) {
	if d.zstd != nil {
		return d.zstd, nil
	}
	var err error
	d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxRecord))
	return d.zstd, err
}

// inflate returns the content of the one member or frame that compressed is; expected is a guess at its size.
func inflate(compressed []byte, expected int64) ([]byte, error) {
	d := decompressors.Get().(*decompressor)
	defer decompressors.Put(d)
	d.input.Reset(compressed)
	content, err := d.begin(&d.input, compressionOf(compressed))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	var out bytes.Buffer
	// Deflate makes at most 1032 bytes of one: a wrong guess must not cost more memory than that.
	out.Grow(int(min(expected, 1032*int64(len(compressed)))) + bytes.MinRead)
	if _, err := out.ReadFrom(content); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if d.input.Len() > 0 {
		return nil, fmt.Errorf("%w: %d bytes after a record", ErrCorrupt, d.input.Len())
	}
	return out.Bytes(), nil
}

// beginning appends to out what a record begins with: no more than limit bytes of its content. Where there is not all
// of the record, the error is [io.ErrUnexpectedEOF].
func (d *decompressor) beginning(out *bytes.Buffer, compressed []byte, limit int64) error {
	d.input.Reset(compressed)
	content, err := d.begin(&d.input, compressionOf(compressed))
	if err == nil {
		_, err = out.ReadFrom(io.LimitReader(content, limit))
	}
	return err
}

// enough is how much of a record has to be read for its header: of zstd a whole block.
func (c Compression) enough() int64 {
	if c == Zstd {
		return 128<<10 + 64
	}
	return 4 << 10
}
