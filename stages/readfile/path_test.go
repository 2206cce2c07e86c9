package readfile

import (
	"math/rand/v2"
	"regexp"
	"testing"
)

// TestPathsAreNamesBetweenSlashes holds pathOf against the grammar of paths, on texts of a few characters.
func TestPathsAreNamesBetweenSlashes(t *testing.T) {
	t.Parallel()
	grammar := regexp.MustCompile(`^/{0,2}(\*|[\pL_][\pL\pN_.-]*)(/(\*|[\pL_][\pL\pN_.-]*))*$`)
	random := rand.New(rand.NewPCG(5, 6))
	characters := []rune("//aé_1-.*: ")
	for range 20_000 {
		text := make([]rune, random.IntN(8))
		for i := range text {
			text[i] = characters[random.IntN(len(characters))]
		}
		if _, is := pathOf(string(text)); is != grammar.MatchString(string(text)) {
			t.Fatalf("%q is a path: %t", string(text), is)
		}
	}
}
