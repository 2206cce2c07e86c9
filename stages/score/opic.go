package score

import (
	"hash/maphash"
	"math"
	"sync"

	"github.com/webrace/webrace"
)

// cash is the on-line page importance computation of Abiteboul, Preda and Cobéna ("Adaptive On-Line Page Importance
// Computation", WWW 2003), as far as the order of a crawl needs it. A page that is visited shares the cash that it has
// evenly among the pages that it links to; what a page has gathered since it was visited last is its importance, and a
// crawl that goes on with the richest page is the paper's greedy policy.
//
// The paper shares with a virtual page besides, which all pages link to and which links to all, so that no cash is lost
// and no part of the web is without. Here it has one link more on each page, too, and gives 1 to each that is visited,
// when that is visited. History, by which the paper estimates the importance of pages over many visits, is not kept.
//
// Memory is bounded: cash is kept of so many URLs, in two generations. It is not durable, since the score by which a
// URL is queued is: after a restart, importance is gathered anew.
type cash struct {
	seed maphash.Seed
	most int // URLs of a generation

	mu         sync.Mutex
	young, old map[uint64]float32 // by the hash of the URL; what is met again is young
}

func newCash(urls int) *cash {
	return &cash{seed: maphash.MakeSeed(), most: (urls + 1) / 2, young: make(map[uint64]float32)}
}

// pass has the page share its cash among its links, and returns what each of these has then. A page that sends its
// reader on passes on what it has: it is no page of its own.
func (c *cash) pass(l *webrace.Links) []float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	share := 0.0
	switch l.Via {
	case webrace.ViaCanonical: // its links are still to come
	case webrace.ViaRedirect, webrace.ViaRefresh:
		share = c.take(l.From) / float64(max(1, len(l.URLs)))
	default:
		share = (1 + c.take(l.From)) / float64(len(l.URLs)+1)
	}
	gathered := make([]float64, len(l.URLs))
	for i, u := range l.URLs {
		h := c.hash(u)
		gathered[i] = c.takeHash(h) + share
		c.put(h, gathered[i])
	}
	return gathered
}

func (c *cash) hash(url string) uint64 { return maphash.String(c.seed, url) }

// take takes away the cash of a URL, and returns it.
func (c *cash) take(url string) float64 { return c.takeHash(c.hash(url)) }

func (c *cash) takeHash(h uint64) float64 {
	for _, generation := range []map[uint64]float32{c.young, c.old} {
		if has, ok := generation[h]; ok {
			delete(generation, h)
			return float64(has)
		}
	}
	return 0
}

// put gives a URL, of which none is known, its cash. When the young are as many as there may be, the old go.
func (c *cash) put(h uint64, has float64) {
	if len(c.young) >= c.most {
		c.young, c.old = make(map[uint64]float32, len(c.old)), c.young
	}
	c.young[h] = float32(has)
}

// octaves is how often cash doubles from nothing to what is as important as can be. A page that 4096 others have links
// to, on each of which it is the only one, is that; one that stands among 4096 links of a page is nothing.
const octaves = 24

// importanceOf returns the importance that cash stands for, 0 to 1.
func importanceOf(cash float64) float64 {
	return min(max((math.Log2(cash)+octaves/2)/octaves, 0), 1)
}
