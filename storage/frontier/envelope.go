package frontier

import (
	"math"
	"slices"
	"time"

	"github.com/webrace/webrace"
)

// message is what an envelope holds: the start of a crawl, or links of a document to hosts of another partition.
type message struct {
	start    bool // the only pass is that of a crawl to be started
	newRound bool // of a start

	passes    []carried
	from      string // the document
	via       webrace.Via
	redirects int
	permanent bool
	again     bool
	sitemaps  int // in a row, that led to the URLs
	urls      []string
	scores    []uint8 // of each; nil: none has one
	changed   []int64 // when each was, as is listed, in seconds since 1970; nil: nothing lists it of any
}

// carried is a crawl as it stands where a message is from, and how it comes to the URLs.
type carried struct {
	webrace.Crawl
	number, opened uint32
	landing        string
	hops           int
	distance       uint32
	lands          bool
}

// messageSchema is the version of the format of messages.
const messageSchema = 1

func (m *message) encode() []byte {
	w := newWriterOf(messageSchema, 256)
	w.Flag(m.start)
	w.Uint(uint64(len(m.passes)))
	for i := range m.passes {
		m.passes[i].write(&w)
	}
	if m.start {
		w.Flag(m.newRound)
		return w
	}
	w.Text(m.from)
	w.Text(string(m.via))
	w.Uint(uint64(m.redirects))
	w.Flag(m.permanent)
	w.Flag(m.again)
	w.Uint(uint64(m.sitemaps))
	w.List(m.urls)
	scored := slices.ContainsFunc(m.scores, func(n uint8) bool { return n != 0 })
	w.Flag(scored)
	if scored {
		w.Fixed(m.scores)
	}
	listed := slices.ContainsFunc(m.changed, func(at int64) bool { return at != 0 })
	w.Flag(listed)
	if listed {
		for _, at := range m.changed {
			w.Uint(uint64(at))
		}
	}
	return w
}

func (c *carried) write(w *writer) {
	w.Text(c.ID)
	w.Text(c.Start)
	w.Text(string(c.Scope))
	w.Text(c.Secret)
	w.Int(int64(c.Levels))
	w.Int(int64(c.Urgency))
	w.Int(int64(c.Timing))
	w.Uint(uint64(c.number))
	w.Uint(uint64(c.opened))
	w.Text(c.landing)
	w.Uint(uint64(c.hops))
	w.Uint(uint64(c.distance))
	w.Flag(c.lands)
}

func decodeMessage(data []byte) (*message, error) {
	r := newReaderUpTo(messageSchema, data)
	m := &message{start: r.Flag()}
	for range r.Count(13) {
		m.passes = append(m.passes, r.carried())
	}
	if m.start {
		if m.newRound = r.Flag(); len(m.passes) != 1 {
			r.Fail()
		}
		return m, r.done()
	}
	m.from, m.via = r.Text(), webrace.Via(r.Text())
	m.redirects = int(r.Small(math.MaxInt32))
	m.permanent, m.again = r.Flag(), r.Flag()
	m.sitemaps = int(r.Small(math.MaxInt32))
	m.urls = r.List()
	if r.Flag() {
		m.scores = r.Fixed(len(m.urls))
	}
	if r.Flag() {
		for range m.urls {
			m.changed = append(m.changed, r.Size())
		}
	}
	return m, r.done()
}

func (r *reader) carried() carried {
	c := carried{Crawl: webrace.Crawl{ID: r.Text(), Start: r.Text(), Scope: webrace.Scope(r.Text()), Secret: r.Text()}}
	c.Levels, c.Urgency, c.Timing = int(r.Int()), int(r.Int()), time.Duration(r.Int())
	c.number, c.opened = r.Number(), r.Number()
	c.landing, c.hops = r.Text(), int(r.Small(math.MaxInt32))
	c.distance, c.lands = uint32(r.Small(math.MaxInt32)), r.Flag()
	return c
}

// links are those of the message, to be offered here.
func (m *message) links() *webrace.Links {
	l := &webrace.Links{
		From: m.from, Via: m.via, Redirects: m.redirects, Permanent: m.permanent, Again: m.again, URLs: m.urls, Scores: m.scores,
	}
	if m.changed != nil {
		l.Changed = make([]time.Time, len(m.changed))
		for i, at := range m.changed {
			if at != 0 {
				l.Changed[i] = time.Unix(at, 0)
			}
		}
	}
	return l
}
