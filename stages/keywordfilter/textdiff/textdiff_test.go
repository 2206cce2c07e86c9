package textdiff

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
)

// apply does what the changes say.
func apply[T any](a, b []T, changes []Change) []T {
	var out []T
	at := 0
	for _, c := range changes {
		out = append(out, a[at:c.A]...)
		out = append(out, b[c.B:c.BEnd]...)
		at = c.AEnd
	}
	return append(out, a[at:]...)
}

func cost(changes []Change) (n int) {
	for _, c := range changes {
		n += c.AEnd - c.A + c.BEnd - c.B
	}
	return n
}

// leastCost is the number of removals and additions by way of a longest common subsequence.
func leastCost(a, b []byte) int {
	row := make([]int, len(b)+1)
	for i := range a {
		diagonal := 0
		for j := range b {
			above := row[j+1]
			if a[i] == b[j] {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return len(a) + len(b) - 2*row[len(b)]
}

func check(t *testing.T, a, b []byte) {
	t.Helper()
	changes, minimal := Diff(a, b)
	if got := apply(a, b, changes); !slices.Equal(got, b) {
		t.Fatalf("%q to %q: %v give %q", a, b, changes, got)
	}
	end := Change{AEnd: -1, BEnd: -1}
	for _, c := range changes {
		if c.A <= end.AEnd || c.B <= end.BEnd || c.A == c.AEnd && c.B == c.BEnd || c.A-max(end.AEnd, 0) != c.B-max(end.BEnd, 0) {
			t.Fatalf("%q to %q: %v are not in order, with something equal between them", a, b, changes)
		}
		end = c
	}
	if least := leastCost(a, b); minimal && cost(changes) != least {
		t.Fatalf("%q to %q: %v cost %d, not %d", a, b, changes, cost(changes), least)
	}
}

func TestEveryPairOfShortTextsHasAShortestDiff(t *testing.T) {
	t.Parallel()
	texts := [][]byte{{}}
	for from := 0; len(texts) < 364; from++ { // all of up to five of three letters
		for _, letter := range []byte("abc") {
			texts = append(texts, append(slices.Clone(texts[from]), letter))
		}
	}
	for _, a := range texts {
		for _, b := range texts {
			check(t, a, b)
			if _, minimal := Diff(a, b); !minimal {
				t.Fatalf("%q to %q: the search was given up", a, b)
			}
		}
	}
}

func TestLongTextsHaveAShortestDiffToo(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		a := make([]byte, r.IntN(400))
		for i := range a {
			a[i] = 'a' + byte(r.IntN(6))
		}
		b := slices.Clone(a)
		for range r.IntN(60) {
			if at := r.IntN(len(b) + 1); r.IntN(2) == 0 || at == len(b) {
				b = slices.Insert(b, at, 'a'+byte(r.IntN(6)))
			} else {
				b = slices.Delete(b, at, at+1)
			}
		}
		check(t, a, b)
	}
}

// What has nothing in common is where the search for the shortest way costs the square of the length.
func TestHugeTextsAreComparedWithBoundedEffort(t *testing.T) {
	t.Parallel()
	const n = 60_000
	a, b := make([]int, n), make([]int, n)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range a {
		a[i], b[i] = r.IntN(n), r.IntN(n)
	}
	changes, minimal := Diff(a, b)
	if minimal {
		t.Error("the shortest way was found: the effort is not bounded")
	}
	if got := apply(a, b, changes); !slices.Equal(got, b) {
		t.Error("the changes do not lead from one to the other")
	}
}

func TestWordsTogetherAreTheText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                          "",
		"The 2nd, γιὰ all.":         "The| |2nd|,| |γιὰ| |all|.",
		"a  b\n\nc":                 "a|  |b|\n|\n|c",
		"--x":                       "-|-|x",
		"price: 3.50 €":             "price|:| |3|.|50| |€",
		"\xff\xfeok":                "\xff|\xfe|ok",
		"cafe\u0301 combining mark": "cafe\u0301| |combining| |mark",
	} {
		if got := strings.Join(Words(text), "|"); got != want {
			t.Errorf("%q is cut into %q, want %q", text, got, want)
		}
	}
}

func TestHunksJoinWhereTheirContextsMeet(t *testing.T) {
	t.Parallel()
	changes := []Change{{1, 2, 1, 1}, {5, 5, 4, 6}, {20, 21, 21, 22}}
	hunks := Hunks(changes, 22, 23, 2)
	want := []Change{{0, 7, 0, 8}, {18, 22, 19, 23}}
	if len(hunks) != 2 || hunks[0].Change != want[0] || hunks[1].Change != want[1] || len(hunks[0].Changes) != 2 {
		t.Errorf("hunks are %+v, want %v", hunks, want)
	}
}

func TestLinesAreBlocks(t *testing.T) {
	t.Parallel()
	text := &webrace.Text{Bytes: []byte("one two"), Blocks: []webrace.Block{{Start: 0, End: 3}, {Start: 4, End: 7}}}
	if got := Lines(text); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("lines are %q", got)
	}
}

func FuzzDiff(f *testing.F) {
	f.Add([]byte("abcabba"), []byte("cbabac"))
	f.Add([]byte(""), []byte("x"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if len(a)+len(b) > 4000 {
			return
		}
		check(t, a, b)
		if got := strings.Join(Words(string(a)), ""); got != string(a) {
			t.Fatalf("words of %q are %q", a, got)
		}
	})
}
