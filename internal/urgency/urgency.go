// Package urgency has what is urgent and what is less so take turns.
//
// It guarantees: of the urgencies that have something, 3, 2 and 1 get turns in the proportion 8:3:1, without bursts, so
// that none starves. One that has nothing saves nothing up.
package urgency

// Levels is how many urgencies there are, 3 the most urgent.
const Levels = 3

// weights are the shares of the levels.
var weights = [Levels]int{8, 3, 1}

// Level returns the level of an urgency, turned so that 0 is the most urgent. What is beyond counts as the nearest.
func Level(urgency int) int { return Levels - min(max(urgency, 1), Levels) }

// Turns is smooth weighted round robin between levels, as nginx balances servers with: each that has something gains
// its weight in credit, and the one with the most has its turn, and pays the sum of the weights. The zero value begins.
type Turns struct{ credit [Levels]int }

// Next returns the level whose turn it is; -1 if none has anything. It asks each of them once.
func (t *Turns) Next(has func(level int) bool) int {
	best, total := -1, 0
	for i := range t.credit {
		if !has(i) {
			t.credit[i] = 0
			continue
		}
		t.credit[i] += weights[i]
		total += weights[i]
		if best < 0 || t.credit[i] > t.credit[best] {
			best = i
		}
	}
	if best >= 0 {
		t.credit[best] -= total
	}
	return best
}
