package match

import (
	"math"

	"github.com/webrace/webrace"
)

const (
	averageTokens  = 800
	lengthShare    = 0.3 // how far a page's length moves the point of half saturation
	mostSaturation = 0.98
	mostWeight     = 5
)

// boosts set how much an occurrence counts in each field.
var boosts = [fields]float64{webrace.FieldBody: 1, webrace.FieldTitle: 4, webrace.FieldHeading: 2, webrace.FieldNavigation: 0.25}

const fields = int(webrace.FieldNavigation) + 1

// frequency is how often a keyword occurs, by field.
type frequency [fields]uint32

func (t *frequency) zero() bool { return *t == frequency{} }

func (t *frequency) add(other *frequency) {
	for field, n := range other {
		t[field] += n
	}
}

// without returns the counts less others, which are part of them.
func (t *frequency) without(other frequency) (n frequency) {
	for field, times := range t {
		n[field] = times - other[field]
	}
	return n
}

// only returns the counts in the fields with a bit each in within.
func (t *frequency) only(within uint8) (n frequency) {
	if within == anyField {
		return *t
	}
	for field, times := range t {
		if within>>field&1 != 0 {
			n[field] = times
		}
	}
	return n
}

// evidence is the f of the formula.
func (t *frequency) evidence() (f float64) {
	for field, n := range t {
		f += boosts[field] * float64(n)
	}
	return f
}

// halfway is the evidence that gives half saturation on a page of so many tokens.
func halfway(tokens int) float64 {
	length := min(max(float64(tokens)/averageTokens, 0.25), 4)
	return 1 - lengthShare + lengthShare*length
}

func saturation(evidence, halfway float64) float64 {
	return min(evidence/(evidence+halfway), mostSaturation)
}

func contribution(weight uint8, saturation float64) float64 {
	return float64(weight) / mostWeight * saturation
}

// tie is added before rounding, so that a relevance that is exactly half-way between two integers is
// rounded up in whatever order, and on whatever processor, its factors were multiplied.
const tie = 1e-9

// relevance rounds 100·(1 − rest), where rest is the product of all (1 − contribution).
func relevance(rest float64) int { return int(math.Floor(100*(1-rest) + 0.5 + tie)) }
