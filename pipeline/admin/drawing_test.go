package admin

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// graphFrom makes a graph of edges written as "a>b", "b.links>a".
func graphFrom(edges ...string) Graph {
	var g Graph
	known := make(map[string]bool)
	for _, e := range edges {
		from, to, _ := strings.Cut(e, ">")
		from, port, _ := strings.Cut(from, ".")
		for _, name := range []string{from, to} {
			if !known[name] {
				known[name] = true
				g.Stages = append(g.Stages, Stage{Name: name})
			}
		}
		g.Edges = append(g.Edges, Edge{from, port, to})
	}
	return g
}

func TestAChainIsDrawnStraightDownAndItsWayBackOnTheRight(t *testing.T) {
	t.Parallel()
	d := draw(graphFrom("urds>frontier", "frontier>fetch", "fetch>cache", "fetch.redirects>frontier", "fetch.sitemaps>frontier", "cache.links>frontier"))
	for i := 1; i < len(d.Boxes); i++ {
		if d.Boxes[i].X != d.Boxes[0].X || d.Boxes[i].Y <= d.Boxes[i-1].Y {
			t.Errorf("stage %d is at %+v", i, d.Boxes[i])
		}
	}
	var labels []string
	back := 0
	for _, l := range d.Lines {
		if l.Back {
			back++
		}
		for _, label := range l.Labels {
			labels = append(labels, label.Text)
		}
	}
	if back != 2 || len(d.Lines) != 5 || fmt.Sprint(labels) != "[links redirects sitemaps]" {
		t.Errorf("%d lines, %d of them back, with %v", len(d.Lines), back, labels)
	}
}

func TestAnEdgeThatPassesLayersRunsThroughNoStage(t *testing.T) {
	t.Parallel()
	d := draw(graphFrom("a>b", "b>c", "c>d", "a>d"))
	b := d.Boxes[1]
	for _, l := range d.Lines {
		if strings.Count(l.Path, "C") != 3 {
			continue
		}
		// The way from a to d goes straight down beside b: "…C … X YV…".
		before, _, _ := strings.Cut(l.Path, "V")
		words := strings.Fields(before)
		x, err := strconv.Atoi(words[len(words)-2])
		if err != nil || x > b.X && x < b.X+b.Width {
			t.Errorf("%s runs through %+v, %v", l.Path, b, err)
		}
		return
	}
	t.Error("no line passes layers")
}

func TestEveryGraphIsDrawnWithoutOverlaps(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		n := random.IntN(12)
		var g Graph
		for i := range n {
			g.Stages = append(g.Stages, Stage{Name: strconv.Itoa(i)})
		}
		pairs := make(map[[2]string]bool)
		for range random.IntN(2*n + 1) {
			e := Edge{strconv.Itoa(random.IntN(n)), strings.Repeat("p", random.IntN(3)), strconv.Itoa(random.IntN(n))}
			g.Edges = append(g.Edges, e)
			pairs[[2]string{e.From, e.To}] = true
		}
		d := draw(g)
		if len(d.Lines) != len(pairs) {
			t.Fatalf("%d lines for %d pairs of %+v", len(d.Lines), len(pairs), g)
		}
		for i, a := range d.Boxes {
			if a.Width == 0 || a.X < 0 || a.Y < 0 || a.X+a.Width > d.Width || a.Y+a.Height > d.Height {
				t.Fatalf("%+v of %+v is not within %d by %d", a, g, d.Width, d.Height)
			}
			for _, b := range d.Boxes[:i] {
				if a.X < b.X+b.Width && b.X < a.X+a.Width && a.Y < b.Y+b.Height && b.Y < a.Y+a.Height {
					t.Fatalf("%+v and %+v of %+v overlap", a, b, g)
				}
			}
		}
		mustLeadDown(t, g, d)
	}
}

// mustLeadDown wants the edges that lead back to be those alone without which there is no cycle.
func mustLeadDown(t *testing.T, g Graph, d drawing) {
	t.Helper()
	for _, e := range g.Edges {
		from, _ := strconv.Atoi(e.From)
		to, _ := strconv.Atoi(e.To)
		if d.Boxes[from].Y >= d.Boxes[to].Y && !reaches(g, e.To, e.From, map[string]bool{}) {
			t.Fatalf("%s > %s of %+v leads up, and is part of no cycle", e.From, e.To, g)
		}
	}
}

func reaches(g Graph, from, to string, seen map[string]bool) bool {
	if from == to {
		return true
	}
	seen[from] = true
	for _, e := range g.Edges {
		if e.From == from && !seen[e.To] && reaches(g, e.To, to, seen) {
			return true
		}
	}
	return false
}

func TestNumbersAreWrittenForPeople(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		count(0): "0", count(999): "999", count(int64(1000)): "1,000", count(-1234567): "-1,234,567", count(-123): "-123",
		rate(0): "0/s", rate(0.04): "0.0/s", rate(3.14): "3.1/s", rate(9.96): "10/s", rate(12345.6): "12,346/s",
		shortMilliseconds(0): "–", shortMilliseconds(0.0123): "12 µs", shortMilliseconds(1.25): "1.2 ms", shortMilliseconds(123.4): "123 ms", shortMilliseconds(12345): "12.3 s",
		shortDuration(59.9): "59s", shortDuration(3600): "1h0m0s", shortDuration(90061): "1d 1h1m0s",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if share(20, 16, 200) != 200 || share(8, 16, 200) != 100 || share(1, 0, 200) != 0 {
		t.Error("shares are wrong")
	}
}
