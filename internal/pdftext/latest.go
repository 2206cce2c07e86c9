package pdftext

import "sync"

// How much the process keeps of what was read last. It is there for the stages that look at a document one after
// another, and for files that take much work.
const (
	mostKept  = 16
	keptBytes = 4 << 20
)

// latest is what was read last, by the digest of the file.
var latest = recent{documents: map[[32]byte]*Document{}}

// recent keeps documents until newer ones take their place: a cache with the policy first in, first out.
type recent struct {
	mu        sync.Mutex
	documents map[[32]byte]*Document
	order     [][32]byte
	bytes     int
}

func (r *recent) get(digest [32]byte) *Document {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.documents[digest]
}

func (r *recent) put(digest [32]byte, d *Document) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.documents[digest] != nil || d.bytes() > keptBytes {
		return
	}
	r.documents[digest], r.order, r.bytes = d, append(r.order, digest), r.bytes+d.bytes()
	for len(r.order) > mostKept || r.bytes > keptBytes {
		oldest := r.order[0]
		r.order, r.bytes = r.order[1:], r.bytes-r.documents[oldest].bytes()
		delete(r.documents, oldest)
	}
}

// bytes is about how much memory the document takes.
func (d *Document) bytes() int {
	n := 0
	for _, b := range d.Blocks {
		n += len(b.Text) + 40
	}
	for _, l := range d.Links {
		n += len(l) + 16
	}
	return n
}
