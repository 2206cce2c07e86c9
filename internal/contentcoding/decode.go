package contentcoding

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
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
	return &sync.Pool{New: func() any { return &layer{src: bufio.NewReaderSize(nil, srcSize), decoder: mk()} }}
}

const srcSize = 16 << 10

// layer is one encoding of a body.
type layer struct {
	decoder
	src   *bufio.Reader
	from  recorder // what src reads
	name  string
	empty bool  // there is nothing to decode, not even a header: servers send that for an empty body
	gave  bool  // something was decoded
	start error // why decoding could not begin
	fault error // why decoding failed, unless reading did
}

func (l *layer) begin(src io.Reader) {
	l.from = recorder{Reader: src, kept: l.from.kept[:0]}
	l.src.Reset(&l.from)
	l.gave, l.fault = false, nil
	_, l.start = l.src.Peek(1)
	if l.empty = errors.Is(l.start, io.EOF); l.empty {
		l.start = nil
	} else if l.start == nil {
		l.start = l.decoder.begin(l.src)
	}
}

func (l *layer) Read(p []byte) (n int, err error) {
	switch {
	case l.empty:
		return 0, io.EOF
	case l.start != nil:
		err = l.start
	default:
		n, err = l.decoder.Read(p)
	}
	l.gave = l.gave || n > 0
	l.from.begun = l.gave
	if l.gave && isTrailing(err) {
		err = io.EOF
	}
	if err != nil && err != io.EOF && l.from.err == nil {
		l.fault = err
	}
	return n, err
}

// isTrailing reports whether an error is of what follows the end of what was encoded, which browsers ignore.
func isTrailing(err error) bool {
	return err != nil && (errors.Is(err, zstd.ErrMagicMismatch) || err.Error() == "brotli: excessive input")
}

// isNone reports whether a body that could not be decoded was not encoded so at all. DEFLATE and brotli have no mark: a
// few bytes of anything may be decoded.
func (l *layer) isNone() bool {
	marked, early := l.isMarked(), errors.Is(l.fault, io.ErrUnexpectedEOF)
	switch {
	case l.from.over:
		return false
	case !l.gave && !early:
		return true
	case marked:
		return false
	}
	return !early || isText(l.from.kept) || l.isTooShort()
}

// isMarked reports whether the body begins as what is encoded so does.
func (l *layer) isMarked() bool {
	switch d := l.decoder.(type) {
	case *brotliDecoder:
		return false
	case *deflateDecoder:
		return l.start == nil && d.Reader == io.Reader(d.zlib)
	case *gzipDecoder:
		return bytes.HasPrefix(l.from.kept, gzipMagic)
	}
	return bytes.HasPrefix(l.from.kept, zstdMagic) || l.gave // a frame may be skipped before the first
}

// isTooShort reports whether the body ends within what would be its mark.
func (l *layer) isTooShort() bool {
	_, isBrotli := l.decoder.(*brotliDecoder)
	return !isBrotli && len(l.from.kept) < len(zstdMagic)
}

var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// isText reports whether a body is text, by the bytes that the MIME Sniffing standard calls binary.
func isText(b []byte) bool {
	return bytes.IndexFunc(b[:min(len(b), 512)], func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' && r != '\f' && r != '\r' && r != 0x1b
	}) < 0
}

// recorder keeps the beginning of what is read, to read it again.
type recorder struct {
	io.Reader
	kept  []byte
	begun bool // something was decoded of it
	over  bool // not all of it is kept
	err   error
}

// maxKept bounds what is kept until something is decoded: a block of zstd. Then the first fill of a buffer is enough.
const maxKept = 160 << 10

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if limit := maxKept; !r.over {
		if r.begun {
			limit = srcSize
		}
		if r.over = len(r.kept)+n > limit; !r.over {
			r.kept = append(r.kept, p[:n]...)
		}
	}
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// Layers are the codings around a body, which reading takes off. Each is cut at the length that was allowed
// to the outermost: a coding within another could otherwise keep a decoder busy for long with nothing.
type Layers struct {
	io.Reader // the body
	wire      *Limited
	used      []*layer // from the outermost
	undone    []*layer
}

// Open begins to decode; the codings are in the order in which they were applied, as [Names] returns them.
// The layers are to be released.
func Open(wire *Limited, codings []string) *Layers {
	ls := &Layers{Reader: wire, wire: wire}
	for i := len(codings) - 1; i >= 0; i-- {
		l := decoders[codings[i]].Get().(*layer)
		l.name = codings[i]
		ls.put(l)
	}
	return ls
}

// put takes one more coding off.
func (ls *Layers) put(l *layer) {
	below := ls.Reader
	if len(ls.used) > 0 {
		below = &Limited{From: below, Left: ls.wire.Left}
	}
	l.begin(below)
	ls.used, ls.Reader = append(ls.used, l), l
}

// Undo is for when reading failed. It leaves the coding on that the body does not have, though its header declares it,
// and reports that it did: then what was read is to be thrown away, and there is something else to read. It returns nil
// if nothing is to be undone: no coding failed, or what was read was decoded rightly up to there.
func (ls *Layers) Undo() error {
	i := slices.IndexFunc(ls.used, func(l *layer) bool { return l.fault != nil })
	if i < 0 || !ls.used[i].isNone() {
		return nil
	}
	l, within := ls.used[i], ls.used[i+1:]
	ls.used, ls.undone = ls.used[:i:i], append(ls.undone, l)
	ls.Reader = io.MultiReader(bytes.NewReader(l.from.kept), l.from.Reader)
	for _, inner := range within {
		ls.put(inner)
	}
	return fmt.Errorf("it is not encoded with %s, though its header says so (%w): kept as it came", l.name, l.fault)
}

// Release gives the layers back for other bodies.
func (ls *Layers) Release() {
	for _, l := range slices.Concat(ls.used, ls.undone) {
		l.src.Reset(nil)
		l.from.Reader = nil
		if cap(l.from.kept) > 2*srcSize {
			l.from.kept = nil
		}
		decoders[l.name].Put(l)
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

// next begins another member; io.EOF means that there is none.
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
