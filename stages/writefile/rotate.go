package writefile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// rotate puts a file that is large or old enough aside, and begins another.
func (o *output) rotate(now time.Time) error {
	large := o.options.RotateSize > 0 && o.size >= int64(o.options.RotateSize)
	old := o.options.RotatePeriod > 0 && now.Sub(o.began) >= time.Duration(o.options.RotatePeriod)
	if o.failed != nil || !o.regular || o.size == 0 || !large && !old {
		return nil
	}
	err := o.file.Close()
	switch {
	case err != nil:
	case o.options.Format == "parquet":
		err = o.completeParquet(now)
	default:
		err = os.Rename(o.options.Path, o.aside(now))
	}
	o.size = 0
	if err = errors.Join(err, o.begin()); err != nil {
		o.failed = fmt.Errorf("put %s aside: %w", o.options.Path, err)
	}
	return o.failed
}

// aside names the file when it is put aside: out.jsonl.gz becomes out-20060102T150405.000.jsonl.gz, with a number
// if there is one already. A dot in a value of the path begins no extension.
func (o *output) aside(now time.Time) string {
	path := o.options.Path
	dir, _ := filepath.Split(path)
	end := max(o.values, min(len(dir)+1, len(path)))
	if dot := strings.IndexByte(path[end:], '.'); dot >= 0 {
		end += dot
	} else {
		end = len(path)
	}
	stem, extension := path[:end]+"-"+now.UTC().Format("20060102T150405.000"), path[end:]
	for n := 1; ; n++ {
		free := stem + extension
		if n > 1 {
			free = fmt.Sprintf("%s-%d%s", stem, n, extension)
		}
		if _, err := os.Lstat(free); errors.Is(err, os.ErrNotExist) {
			return free
		}
	}
}

// compressed returns a member of a gzip file. A file of many is one to its readers.
func compressed(lines []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(lines) // to memory
	_ = w.Close()
	return out.Bytes()
}

// truncateToMembers cuts off what a crash has left half-written at the end of a gzip file: behind it nothing
// could be read. It was not acknowledged. A file that is none from the beginning is an error.
func truncateToMembers(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	whole := wholeMembers(file)
	if whole == info.Size() {
		return nil
	}
	magic := make([]byte, 2)
	if n, _ := file.ReadAt(magic, 0); whole == 0 && (n < 2 || magic[0] != 0x1f || magic[1] != 0x8b) && info.Size() > 1 {
		return errors.New("it is no gzip file")
	}
	return file.Truncate(whole)
}

// wholeMembers returns how many bytes of a file are members of gzip that are complete.
func wholeMembers(in io.Reader) (whole int64) {
	counted := &countingReader{in: bufio.NewReader(in)}
	z, err := gzip.NewReader(counted)
	for err == nil {
		z.Multistream(false)
		if _, err = io.Copy(io.Discard, z); err == nil {
			whole = counted.n
			err = z.Reset(counted)
		}
	}
	return whole
}

// countingReader reads byte by byte as gzip asks, so that it knows where a member ends.
type countingReader struct {
	in *bufio.Reader
	n  int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *countingReader) ReadByte() (byte, error) {
	b, err := c.in.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}
