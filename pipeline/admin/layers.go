package admin

import (
	"cmp"
	"math"
	"slices"
)

// A drawing of a graph has its stages in layers, one below the other, so that every edge but those that
// lead back goes down by at least one. The edges that pass layers get a place in each, so that they do not
// run through stages.

// vertex is a place in a layer: a stage, or one that an edge passes.
type vertex struct {
	stage    int // index in the graph; -1 where an edge passes
	up, down []*vertex
	order    float64 // what the layer is sorted by
	x, width float64 // of its middle, and how much room it takes
}

// link is an edge between stages by their indexes.
type link struct{ from, to int }

// layered is a graph in layers.
type layered struct {
	layers [][]*vertex
	paths  map[link][]*vertex // the way of each edge that leads down, with both ends
	back   []link             // the edges that lead back or to the stage itself
}

// layer puts stages 0 to n-1 in layers. Stages that come first are preferred as beginnings.
func layer(n int, links []link) layered {
	down, back := withoutCycles(n, links)
	depth := depths(n, down)
	l := layered{paths: make(map[link][]*vertex), back: back}
	stages := make([]*vertex, n)
	for i := range n {
		stages[i] = l.add(depth[i], i)
	}
	for _, e := range down {
		path := []*vertex{stages[e.from]}
		for d := depth[e.from] + 1; d < depth[e.to]; d++ {
			path = append(path, l.add(d, -1))
		}
		path = append(path, stages[e.to])
		for i := range len(path) - 1 {
			path[i].down = append(path[i].down, path[i+1])
			path[i+1].up = append(path[i+1].up, path[i])
		}
		l.paths[e] = path
	}
	l.untangle()
	return l
}

func (l *layered) add(depth, stage int) *vertex {
	for len(l.layers) <= depth {
		l.layers = append(l.layers, nil)
	}
	v := &vertex{stage: stage}
	l.layers[depth] = append(l.layers[depth], v)
	return v
}

// withoutCycles parts the edges, each once, into those that can lead down and those that must lead back.
func withoutCycles(n int, links []link) (down, back []link) {
	next := make([][]int, n)
	seen := make(map[link]bool)
	for _, e := range links {
		if !seen[e] {
			seen[e] = true
			next[e.from] = append(next[e.from], e.to)
		}
	}
	const unseen, open, left = 0, 1, 2
	state := make([]int, n)
	var visit func(int)
	visit = func(from int) {
		state[from] = open
		for _, to := range next[from] {
			if state[to] == open {
				back = append(back, link{from, to})
				continue
			}
			down = append(down, link{from, to})
			if state[to] == unseen {
				visit(to)
			}
		}
		state[from] = left
	}
	for i := range n {
		if state[i] == unseen {
			visit(i)
		}
	}
	return down, back
}

// depths returns how many edges the longest way to each stage has.
func depths(n int, down []link) []int {
	depth, missing := make([]int, n), make([]int, n)
	for _, e := range down {
		missing[e.to]++
	}
	var ready []int
	for i := range n {
		if missing[i] == 0 {
			ready = append(ready, i)
		}
	}
	for len(ready) > 0 {
		from := ready[0]
		ready = ready[1:]
		for _, e := range down {
			if e.from != from {
				continue
			}
			depth[e.to] = max(depth[e.to], depth[from]+1)
			if missing[e.to]--; missing[e.to] == 0 {
				ready = append(ready, e.to)
			}
		}
	}
	return depth
}

// untangle sorts each layer by the middle of what its vertices hang on, down and up a few times.
func (l *layered) untangle() {
	for range 4 {
		for _, vertices := range l.layers {
			arrange(vertices, func(v *vertex) []*vertex { return v.up })
		}
		for _, vertices := range slices.Backward(l.layers) {
			arrange(vertices, func(v *vertex) []*vertex { return v.down })
		}
	}
}

func arrange(vertices []*vertex, neighbours func(*vertex) []*vertex) {
	for i, v := range vertices {
		if near := neighbours(v); len(near) > 0 {
			v.order = 0
			for _, other := range near {
				v.order += other.order / float64(len(near))
			}
			continue
		}
		v.order = float64(i)
	}
	slices.SortStableFunc(vertices, func(a, b *vertex) int { return cmp.Compare(a.order, b.order) })
	for i, v := range vertices {
		v.order = float64(i)
	}
}

// spread gives the vertices their places: in each layer in their order, gap apart at least, and otherwise as
// near as can be to what they hang on. It returns how wide the whole is, from 0 on.
func (l *layered) spread(stageWidth, gap float64) (width float64) {
	for _, vertices := range l.layers {
		for _, v := range vertices {
			if v.stage >= 0 {
				v.width = stageWidth
			}
		}
		pull(vertices, gap, func(*vertex) []*vertex { return nil })
	}
	for range 8 {
		for _, vertices := range l.layers {
			pull(vertices, gap, func(v *vertex) []*vertex { return v.up })
		}
		for _, vertices := range slices.Backward(l.layers) {
			pull(vertices, gap, func(v *vertex) []*vertex { return v.down })
		}
	}
	left, right := math.Inf(1), math.Inf(-1)
	for _, vertices := range l.layers {
		left = min(left, vertices[0].x-vertices[0].width/2)
		right = max(right, vertices[len(vertices)-1].x+vertices[len(vertices)-1].width/2)
	}
	for _, vertices := range l.layers {
		for _, v := range vertices {
			v.x -= left
		}
	}
	return max(0, right-left)
}

// pull moves the vertices of a layer to the middle of their neighbours, then apart again: from the left and
// from the right, and between the two.
func pull(vertices []*vertex, gap float64, neighbours func(*vertex) []*vertex) {
	wanted := make([]float64, len(vertices))
	for i, v := range vertices {
		wanted[i] = v.x
		if near := neighbours(v); len(near) > 0 {
			wanted[i] = 0
			for _, other := range near {
				wanted[i] += other.x / float64(len(near))
			}
		}
	}
	apart := func(i int) float64 { return (vertices[i].width+vertices[i+1].width)/2 + gap }
	fromLeft, fromRight := slices.Clone(wanted), slices.Clone(wanted)
	for i := 1; i < len(vertices); i++ {
		fromLeft[i] = max(wanted[i], fromLeft[i-1]+apart(i-1))
	}
	for i := len(vertices) - 2; i >= 0; i-- {
		fromRight[i] = min(wanted[i], fromRight[i+1]-apart(i))
	}
	for i, v := range vertices {
		v.x = (fromLeft[i] + fromRight[i]) / 2
	}
}
