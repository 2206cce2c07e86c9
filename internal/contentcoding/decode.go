package contentcoding

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// maxWindow is the largest window of a zstd stream; RFC 9659 lets no server ask for more.
const maxWindow = 8 << 20

// decoder takes one encoding off. It is begun anew for each body, and may read when it is.
type decoder interface {
	io.Reader
	begin(src *bufio.Reader) error
}

// decoders holds idle layers by encoding; they are large, and take long to make.
var decoders = map[string]*sync.Pool{
	"gzip":    pool(func() decoder { return &gzipDecoder{} }),
	"deflate": pool(func() decoder { return &deflateDecoder{} }),
	"br":      pool(func() decoder { return &brotliDecoder{} }),
	"zstd":    pool(func() decoder { return &zstdDecoder{} }),
}

func pool(mk func() decoder) *sync.Pool {
	return &sync.Pool{New: func() any { return &layer{src: bufio.NewReaderSize(nil, 16<<10), decoder: mk()} }}
}

// layer is one encoding of a body.
type layer struct {
	decoder
	src   *bufio.Reader
	empty bool // there is nothing to decode, not even a header: servers send that for an empty body
}

func (l *layer) begin(src io.Reader) error {
	l.src.Reset(src)
	_, err := l.src.Peek(1)
	if l.empty = errors.Is(err, io.EOF); l.empty {
		return nil
	}
	if err != nil {
		return err
	}
	return l.decoder.begin(l.src)
}

func (l *layer) Read(p []byte) (int, error) {
	if l.empty {
		return 0, io.EOF
	}
	return l.decoder.Read(p)
}

// Layers are the codings around a body, which reading takes off. Each is cut at the length that was allowed
// to the outermost: a coding within another could otherwise keep a decoder busy for long with nothing.
type Layers struct {
	io.Reader // the body
	used      []*layer
	pools     []*sync.Pool
}

// Open begins to decode; the codings are in the order in which they were applied, as [Names] returns them.
// The layers are to be released also when it fails.
func Open(wire *Limited, codings []string) (*Layers, error) {
	ls := &Layers{Reader: wire}
	for i := len(codings) - 1; i >= 0; i-- {
		p := decoders[codings[i]]
		l := p.Get().(*layer)
		ls.used, ls.pools = append(ls.used, l), append(ls.pools, p)
		below := ls.Reader
		if below != io.Reader(wire) {
			below = &Limited{From: below, Left: wire.Left}
		}
		if err := l.begin(below); err != nil {
			return ls, err
		}
		ls.Reader = l
	}
	return ls, nil
}

// Release gives the layers back for other bodies.
func (ls *Layers) Release() {
	for i, l := range ls.used {
		l.src.Reset(nil)
		ls.pools[i].Put(l)
	}
}

// gzipDecoder reads the members of a gzip stream, and ignores what follows the last, as browsers do.
type gzipDecoder struct {
	member gzip.Reader
	src    *bufio.Reader
}

var gzipMagic = []byte{0x1f, 0x8b, 8}

func (d *gzipDecoder) begin(src *bufio.Reader) error {
	d.src = src
	err := d.member.Reset(src)
	if err == io.EOF { // within the header
		return io.ErrUnexpectedEOF
	}
	d.member.Multistream(false)
	return err
}

func (d *gzipDecoder) Read(p []byte) (int, error) {
	for {
		n, err := d.member.Read(p)
		if err == io.EOF {
			err = d.next()
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// next begins another member; io.EOF says that there is none.
func (d *gzipDecoder) next() error {
	magic, err := d.src.Peek(len(gzipMagic))
	switch {
	case err != nil && err != io.EOF:
		return err
	case !bytes.Equal(magic, gzipMagic):
		return io.EOF
	}
	return d.begin(d.src)
}

// deflateDecoder reads the zlib format, which is what RFC 9110 calls deflate, and bare DEFLATE, which
// is what some servers send.
type deflateDecoder struct {
	io.Reader
	zlib io.ReadCloser
	bare io.ReadCloser
}

func (d *deflateDecoder) begin(src *bufio.Reader) error {
	head, err := src.Peek(2)
	if err != nil && err != io.EOF {
		return err
	}
	if len(head) < 2 || head[0]&0x0f != 8 || (uint(head[0])<<8|uint(head[1]))%31 != 0 {
		if d.bare == nil {
			d.bare = flate.NewReader(src)
		} else if err := d.bare.(flate.Resetter).Reset(src, nil); err != nil {
			return err
		}
		d.Reader = d.bare
		return nil
	}
	if d.zlib == nil {
		d.zlib, err = zlib.NewReader(src)
	} else {
		err = d.zlib.(zlib.Resetter).Reset(src, nil)
	}
	d.Reader = d.zlib
	return err
}

type brotliDecoder struct{ brotli.Reader }

func (d *brotliDecoder) begin(src *bufio.Reader) error { return d.Reset(src) }

type zstdDecoder struct{ *zstd.Decoder }

func (d *zstdDecoder) begin(src *bufio.Reader) (err error) {
	if d.Decoder != nil {
		return d.Reset(src)
	}
	d.Decoder, err = zstd.NewReader(src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	return err
}
