package score

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/webrace/webrace"
)

func page(from string, to ...string) *webrace.Links {
	return &webrace.Links{From: from, Via: webrace.ViaLink, URLs: to}
}

// has returns the cash that is known of a URL, and leaves it there.
func (c *cash) has(url string) float64 {
	h := c.hash(url)
	return float64(c.young[h]) + float64(c.old[h])
}

func (c *cash) all() (sum float64) {
	for _, generation := range []map[uint64]float32{c.young, c.old} {
		for _, has := range generation {
			sum += float64(has)
		}
	}
	return sum
}

func TestAPageSharesItsCashAmongItsLinks(t *testing.T) {
	c := newCash(100)
	c.pass(page("start", "a", "b", "c"))
	if got := c.has("a"); got != 0.25 {
		t.Errorf("a has %v of the start's 1, which has three links and that to the virtual page", got)
	}
	got := c.pass(page("a", "b"))
	if want := 0.25 + 1.25/2; got[0] != want || c.has("b") != want || c.has("a") != 0 {
		t.Errorf("b has %v, want %v; a has %v left", got[0], want, c.has("a"))
	}
}

func TestWhatSendsItsReaderOnPassesItsCashOn(t *testing.T) {
	c := newCash(100)
	c.pass(page("start", "a", "b", "c"))
	for _, via := range []webrace.Via{webrace.ViaRedirect, webrace.ViaRefresh} {
		l := page("a", "c")
		l.Via = via
		c.pass(l)
	}
	if c.has("c") != 0.5 || c.has("a") != 0 {
		t.Errorf("c has %v, a %v", c.has("c"), c.has("a"))
	}
	l := page("b", "c")
	l.Via = webrace.ViaCanonical
	if c.pass(l); c.has("c") != 0.5 || c.has("b") != 0.25 {
		t.Errorf("after a canonical link c has %v, b %v", c.has("c"), c.has("b"))
	}
}

// TestCashIsNeitherMadeNorLost compares random crawls with what the paper states of a graph: all that pages were given
// is with pages or with the virtual one.
func TestCashIsNeitherMadeNorLost(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		c, given, virtual := newCash(1000), 0.0, 0.0
		for range 200 {
			from := fmt.Sprint(rng.IntN(50))
			l := page(from)
			for range rng.IntN(8) {
				l.URLs = append(l.URLs, fmt.Sprint(rng.IntN(50)))
			}
			virtual += (1 + c.has(from)) / float64(len(l.URLs)+1)
			given++
			c.pass(l)
		}
		if got := c.all() + virtual; math.Abs(got-given) > 1e-3 {
			t.Errorf("%v was given, and there is %v", given, got)
		}
	}
}

// TestMemoryIsBounded has a site of ever new URLs, and one page that all of it links to, which is not forgotten.
func TestMemoryIsBounded(t *testing.T) {
	c := newCash(1000)
	for i := range 20_000 {
		c.pass(page(fmt.Sprint("from", i), fmt.Sprint("to", i), "hub"))
		if n := len(c.young) + len(c.old); n > 1001 {
			t.Fatalf("cash of %d URLs is kept", n)
		}
	}
	if got := c.has("hub"); got < 6000 {
		t.Errorf("the page that all link to has %v", got)
	}
}

func TestImportanceGrowsWithCash(t *testing.T) {
	if a, b, c := importanceOf(0), importanceOf(1), importanceOf(math.MaxFloat32); a != 0 || b != 0.5 || c != 1 {
		t.Errorf("of nothing %v, of 1 %v, of all %v", a, b, c)
	}
	last := uint8(0)
	for _, has := range []float64{0, 0.01, 0.02, 0.5, 1, 1.2, 40, 1000} {
		score := fine(importanceOf(has))
		if score <= last {
			t.Errorf("%v has the score %d, and less has %d", has, score, last)
		}
		last = score
	}
}
