package cron

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/adhocore/gronx"
)

// Where no clock is changed, lines at random are due when gronx has them due.
func TestLinesAreDueAsAnotherReaderOfThemSays(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 5))
	unable := 0
	const lines = 400
	for range lines {
		line := randomLine(r)
		e, err := Parse(line)
		if err != nil {
			continue // it is never due
		}
		at := time.Unix(1.7e9+r.Int64N(1e9), 0).UTC()
		for range 3 {
			want, err := gronx.NextTickAfter(line, at, false)
			if err != nil { // it looks no further than so many steps
				unable++
				break
			}
			got := e.Next(at)
			if !got.Equal(want) {
				t.Fatalf("%q: after %v comes %v, gronx says %v", line, at, got, want)
			}
			at = got
		}
	}
	if unable > lines/20 {
		t.Errorf("of %d lines gronx knows nothing", unable)
	}
}

// randomLine is one that both read: gronx knows no ranges that end with Sunday.
func randomLine(r *rand.Rand) string {
	var all []string
	for i, f := range fields {
		most := f.most
		if i == 4 {
			most = 6
		}
		number := func(least int) int { return least + r.IntN(most-least+1) }
		from := number(f.least)
		all = append(all, []string{
			"*", "*", "*", fmt.Sprint(from), fmt.Sprintf("%d,%d", from, number(f.least)), fmt.Sprintf("%d-%d", from, number(from)),
			fmt.Sprintf("*/%d", 1+r.IntN(most)), fmt.Sprintf("%d-%d/%d", from, number(from), 1+r.IntN(most)),
		}[r.IntN(8)])
	}
	return strings.Join(all, " ")
}
