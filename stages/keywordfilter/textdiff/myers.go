package textdiff

import "math"

// effort is how many steps from both ends are taken in search of a shortest way, before the best one so
// far is taken. Each step costs as many comparisons as there were steps before it.
const effort = 512

// Diff returns what turns a into b, in order, and whether no fewer elements could have been removed and
// added. It is the algorithm of Myers, "An O(ND) Difference Algorithm and Its Variations" (1986), in
// linear space.
func Diff[T comparable](a, b []T) (changes []Change, minimal bool) {
	d := &differ{minimal: true}
	d.a, d.b = intern(a, b)
	d.removed, d.added = make([]bool, len(a)), make([]bool, len(b))
	d.origin = len(b) + 1
	diagonals := len(a) + len(b) + 3
	d.forward, d.backward = make([]int, diagonals), make([]int, diagonals)
	d.compare(0, len(a), 0, len(b))
	return d.changes(), d.minimal
}

// intern gives equal elements equal numbers, so that comparing them is cheap.
func intern[T comparable](a, b []T) (x, y []int) {
	numbers := make(map[T]int)
	number := func(elements []T) []int {
		out := make([]int, len(elements))
		for i, e := range elements {
			n, known := numbers[e]
			if !known {
				n = len(numbers)
				numbers[e] = n
			}
			out[i] = n
		}
		return out
	}
	return number(a), number(b)
}

// differ is the work on two sequences. A way from the one to the other leads from the corner (0, 0) to
// (len(a), len(b)): to the right removes an element of a, down adds one of b, and along a diagonal, on
// which x-y is the same, they are equal.
type differ struct {
	a, b           []int
	removed, added []bool
	minimal        bool
	// How far right a way of so many steps gets on each diagonal, from the start and from the end.
	forward, backward []int
	origin            int // the index of diagonal 0
}

// compare marks what differs between a[x:xEnd] and b[y:yEnd].
func (d *differ) compare(x, xEnd, y, yEnd int) {
	for {
		for x < xEnd && y < yEnd && d.a[x] == d.b[y] {
			x, y = x+1, y+1
		}
		for x < xEnd && y < yEnd && d.a[xEnd-1] == d.b[yEnd-1] {
			xEnd, yEnd = xEnd-1, yEnd-1
		}
		if x == xEnd || y == yEnd {
			mark(d.removed[x:xEnd])
			mark(d.added[y:yEnd])
			return
		}
		xMid, yMid := d.middle(x, xEnd, y, yEnd)
		d.compare(x, xMid, y, yMid)
		x, y = xMid, yMid
	}
}

func mark(flags []bool) {
	for i := range flags {
		flags[i] = true
	}
}

// box is a part of the plane in which a way is searched for, and the diagonals that were reached from its
// two corners.
type box struct {
	x, xEnd, y, yEnd int
	front, back      span
}

// span is a range of diagonals, of which every other one counts.
type span struct{ least, most int }

func (s span) has(k int) bool { return s.least <= k && k <= s.most }

// widen makes room for one more step, but for what lies outside the box. Beyond the new ends nothing was
// reached.
func (s *span) widen(reach []int, origin, least, most, unreached int) {
	if s.least > least {
		s.least--
		reach[origin+s.least-1] = unreached
	} else {
		s.least++
	}
	if s.most < most {
		s.most++
		reach[origin+s.most+1] = unreached
	} else {
		s.most--
	}
}

// middle returns a point on a shortest way through a box whose corners differ: where ways from both ends
// meet. When that takes too long it is the point that the better of both got to.
func (d *differ) middle(x, xEnd, y, yEnd int) (int, int) {
	b := &box{x: x, xEnd: xEnd, y: y, yEnd: yEnd}
	b.front, b.back = span{x - y, x - y}, span{xEnd - yEnd, xEnd - yEnd}
	d.forward[d.origin+x-y], d.backward[d.origin+xEnd-yEnd] = x, xEnd
	odd := (x-y-xEnd+yEnd)&1 != 0
	for range effort {
		if xMid, yMid, met := d.stepForward(b, odd); met {
			return xMid, yMid
		}
		if xMid, yMid, met := d.stepBackward(b, !odd); met {
			return xMid, yMid
		}
	}
	d.minimal = false
	return d.furthest(b)
}

// stepForward goes one step further from the start; with meet it returns where it came upon a way from the end.
func (d *differ) stepForward(b *box, meet bool) (x, y int, met bool) {
	b.front.widen(d.forward, d.origin, b.x-b.yEnd, b.xEnd-b.y, -1)
	for k := b.front.most; k >= b.front.least; k -= 2 {
		left, above := d.forward[d.origin+k-1], d.forward[d.origin+k+1]
		x := max(left+1, above)
		y := x - k
		for x < b.xEnd && y < b.yEnd && d.a[x] == d.b[y] {
			x, y = x+1, y+1
		}
		d.forward[d.origin+k] = x
		if meet && b.back.has(k) && d.backward[d.origin+k] <= x {
			return x, y, true
		}
	}
	return 0, 0, false
}

// stepBackward is stepForward from the end.
func (d *differ) stepBackward(b *box, meet bool) (x, y int, met bool) {
	b.back.widen(d.backward, d.origin, b.x-b.yEnd, b.xEnd-b.y, math.MaxInt)
	for k := b.back.most; k >= b.back.least; k -= 2 {
		below, right := d.backward[d.origin+k-1], d.backward[d.origin+k+1]
		x := min(below, right-1)
		y := x - k
		for x > b.x && y > b.y && d.a[x-1] == d.b[y-1] {
			x, y = x-1, y-1
		}
		d.backward[d.origin+k] = x
		if meet && b.front.has(k) && x <= d.forward[d.origin+k] {
			return x, y, true
		}
	}
	return 0, 0, false
}

// furthest returns the point that ways from either end came furthest to. What was searched in vain is paid
// for by the progress: a search never compares more often than there are diagonals for each element passed.
func (d *differ) furthest(b *box) (int, int) {
	bestX, bestY := b.x, b.y
	for k := b.front.most; k >= b.front.least; k -= 2 {
		x := min(d.forward[d.origin+k], b.xEnd, b.yEnd+k)
		if y := x - k; x+y > bestX+bestY {
			bestX, bestY = x, y
		}
	}
	progress := bestX + bestY - b.x - b.y
	for k := b.back.most; k >= b.back.least; k -= 2 {
		x := max(d.backward[d.origin+k], b.x, b.y+k)
		if y := x - k; b.xEnd+b.yEnd-x-y > progress {
			bestX, bestY, progress = x, y, b.xEnd+b.yEnd-x-y
		}
	}
	return bestX, bestY
}

// changes collects what was marked.
func (d *differ) changes() []Change {
	var changes []Change
	x, y := 0, 0
	for x < len(d.a) || y < len(d.b) {
		c := Change{A: x, B: y}
		for x < len(d.a) && d.removed[x] {
			x++
		}
		for y < len(d.b) && d.added[y] {
			y++
		}
		if c.AEnd, c.BEnd = x, y; x > c.A || y > c.B {
			changes = append(changes, c)
			continue
		}
		x, y = x+1, y+1
	}
	return changes
}
