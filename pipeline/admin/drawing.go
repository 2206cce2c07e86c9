package admin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// drawing is a graph as a page shows it, in pixels.
type drawing struct {
	Width, Height int
	Boxes         []box // one for each stage of the graph, in its order
	Lines         []line
}

// box is where a stage is.
type box struct{ X, Y, Width, Height int }

// line is where an edge, or several that have the same ends, runs.
type line struct {
	Path   string // as SVG has it
	Back   bool   // it leads back
	Labels []label
}

// label is the name of an output port.
type label struct {
	X, Y int
	Text string
}

const (
	boxWidth   = 224
	boxHeight  = 62
	boxGap     = 28 // between two of a layer
	layerGap   = 34
	margin     = 6
	laneGap    = 14 // between lines that lead back
	labelWidth = 7  // of a character, at most
	lineHeight = 13
)

// draw puts the sources of a graph at the top, and what they lead to below. Edges that lead back, as those to
// a queue, run up on the right: one lane for each stage that they lead to.
func draw(g Graph) drawing {
	index := make(map[string]int, len(g.Stages))
	for i, s := range g.Stages {
		index[s.Name] = i
	}
	var links []link
	ports := make(map[link][]string)
	for _, e := range g.Edges {
		l := link{index[e.From], index[e.To]}
		links = append(links, l)
		ports[l] = append(ports[l], e.Port)
	}
	graph := layer(len(g.Stages), links)
	width := int(graph.spread(boxWidth, boxGap)) + 2*margin
	d := drawing{Width: width, Height: len(graph.layers)*(boxHeight+layerGap) - layerGap + 2*margin, Boxes: make([]box, len(g.Stages))}
	depth := make(map[*vertex]int)
	for i, vertices := range graph.layers {
		for _, v := range vertices {
			depth[v] = i
			if v.stage >= 0 {
				d.Boxes[v.stage] = box{margin + int(v.x) - boxWidth/2, top(i), boxWidth, boxHeight}
			}
		}
	}
	for _, l := range links {
		if path, ok := graph.paths[l]; ok {
			d.Lines = append(d.Lines, downward(path, depth, ports[l]))
			delete(graph.paths, l) // several edges are one line
		}
	}
	d.addBack(graph.back, ports)
	d.Height = max(d.Height, 2*margin)
	return d
}

func top(layer int) int { return margin + layer*(boxHeight+layerGap) }

// downward draws an edge that leads down: a curve between layers, straight where it passes one.
func downward(path []*vertex, depth map[*vertex]int, ports []string) line {
	var b strings.Builder
	x, y := margin+int(path[0].x), top(depth[path[0]])+boxHeight
	l := line{}
	for i, port := range named(ports) {
		l.Labels = append(l.Labels, label{x + 8, y + 13 + i*lineHeight, port})
	}
	fmt.Fprintf(&b, "M%d %d", x, y)
	for _, v := range path[1:] {
		toX, toY := margin+int(v.x), top(depth[v])
		if v.stage >= 0 {
			toY -= 3 // room for the tip of the arrow
		}
		middle := (y + toY) / 2
		fmt.Fprintf(&b, "C%d %d %d %d %d %d", x, middle, toX, middle, toX, toY)
		if v.stage < 0 {
			toY += boxHeight
			fmt.Fprintf(&b, "V%d", toY)
		}
		x, y = toX, toY
	}
	l.Path = b.String()
	return l
}

// addBack draws the edges that lead back, with a lane for each of the stages that they lead to.
func (d *drawing) addBack(back []link, ports map[link][]string) {
	if len(back) == 0 {
		return
	}
	widest := 0
	for _, l := range back {
		for _, port := range named(ports[l]) {
			widest = max(widest, utf8.RuneCountInString(port)*labelWidth)
		}
	}
	lane := make(map[int]int)
	slices.SortStableFunc(back, func(a, b link) int { return cmp.Compare(d.Boxes[b.to].Y, d.Boxes[a.to].Y) })
	right := d.Width + widest + laneGap
	for _, l := range back {
		if _, ok := lane[l.to]; !ok {
			lane[l.to] = right
			right += laneGap
		}
		d.Lines = append(d.Lines, d.upward(l, lane[l.to], named(ports[l])))
	}
	d.Width = right
}

// upward draws an edge that leads back in its lane, from the right of one stage to the right of another.
func (d *drawing) upward(l link, lane int, ports []string) line {
	const corner = 8
	from, to := d.Boxes[l.from], d.Boxes[l.to]
	x, y := from.X+from.Width, from.Y+boxHeight*2/3
	toX, toY := to.X+to.Width+3, to.Y+boxHeight/3
	drawn := line{Back: true, Path: fmt.Sprintf("M%d %dH%dQ%d %d %d %dV%dQ%d %d %d %dH%d",
		x, y, lane-corner, lane, y, lane, y-corner, toY+corner, lane, toY, lane-corner, toY, toX)}
	for i, port := range ports {
		drawn.Labels = append(drawn.Labels, label{x + 6, y - 5 - (len(ports)-1-i)*lineHeight, port})
	}
	return drawn
}

// named leaves out the default port, which has no name.
func named(ports []string) []string {
	return slices.DeleteFunc(slices.Clone(ports), func(port string) bool { return port == "" })
}
