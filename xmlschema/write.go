package xmlschema

import (
	"bufio"
	"bytes"
	"io"
	"iter"
	"slices"
)

// writable is a document that has a canonical form.
type writable interface{ write(*formWriter) }

// Canonical returns the request in the one form in which it is stored: the default namespace, no white
// space between elements, attributes in a fixed order. The papers' attributes are written even where they
// have their default, so that they can be asked for; those that were added since are not. Characters that
// XML cannot carry become U+FFFD; Validate tells.
func (u *URD) Canonical() []byte { return canonicalForm(u) }

// Canonical returns the annotation in the form in which it is stored, as for a URD.
func (a *ACI) Canonical() []byte { return canonicalForm(a) }

// Canonical returns the meta-information in the form in which it is stored, as for a URD.
func (m *Meta) Canonical() []byte { return canonicalForm(m) }

// WriteTo writes the canonical form.
func (u *URD) WriteTo(w io.Writer) (int64, error) { return write(w, u.Canonical()) }

// WriteTo writes the canonical form.
func (a *ACI) WriteTo(w io.Writer) (int64, error) { return write(w, a.Canonical()) }

// WriteTo writes the canonical form.
func (m *Meta) WriteTo(w io.Writer) (int64, error) { return write(w, m.Canonical()) }

func write(w io.Writer, b []byte) (int64, error) {
	n, err := w.Write(b)
	return int64(n), err
}

// URDs is a list of requests as a document.
type URDs []*URD

// ACIs is a list of annotations as a document.
type ACIs []*ACI

// Canonical returns the list with one request a line.
func (us URDs) Canonical() []byte { return listed(us.WriteTo) }

// Canonical returns the list with one annotation a line.
func (as ACIs) Canonical() []byte { return listed(as.WriteTo) }

// WriteTo writes the list with one request a line.
func (us URDs) WriteTo(w io.Writer) (int64, error) { return WriteURDs(w, slices.Values(us)) }

// WriteTo writes the list with one annotation a line.
func (as ACIs) WriteTo(w io.Writer) (int64, error) { return WriteACIs(w, slices.Values(as)) }

// WriteURDs writes requests as they come, one a line, as one <urds> document.
func WriteURDs(w io.Writer, urds iter.Seq[*URD]) (int64, error) {
	return writeList(w, "urds", urds)
}

// WriteACIs writes annotations as they come, one a line, as one <acis> document.
func WriteACIs(w io.Writer, acis iter.Seq[*ACI]) (int64, error) {
	return writeList(w, "acis", acis)
}

func writeList[T writable](w io.Writer, name string, items iter.Seq[T]) (int64, error) {
	count := &countingWriter{w: w}
	out := bufio.NewWriter(count)
	out.WriteString("<" + name + ` xmlns="` + Namespace + "\">\n")
	for item := range items {
		f := newFormWriter()
		f.listed = true
		item.write(f)
		_, err := out.Write(append(f.xml, '\n'))
		f.release()
		if err != nil {
			return count.n, err
		}
	}
	out.WriteString("</" + name + ">\n")
	err := out.Flush()
	return count.n, err
}

func listed(writeTo func(io.Writer) (int64, error)) []byte {
	var b bytes.Buffer
	writeTo(&b) // a buffer does not fail
	return b.Bytes()
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
