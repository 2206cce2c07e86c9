package analyze

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// The stemmer of Greek takes off the inflections of nouns and adjectives in all cases and numbers, of
// verbs in the present and the past, and the degrees of adjectives. It works on folded words: without
// accents, with σ at the end. It does not know what kind of word it has, so nouns of one root and
// different gender become one (η χώρα, ο χώρος), and it does not undo changes of the root (γράφω, έγραψα).

// greekEndings are by how many letters of a word must be left before them, which is more for those that
// words of other kinds happen to end in.
var greekEndings = sortedEndings(
	greekEnding{2, `α ασ ο οσ ου ουσ οι ων εσ η ησ`},
	greekEnding{3, `ω ωσ ε εισ ει`},
	// Third declension: περιβάλλον, ενδιαφέρουσα, καφέδες.
	greekEnding{3, `ον οντοσ οντα οντων οντεσ ουσα ουσασ ουσεσ ουσων εδεσ εδων`},
	// Verbs: present, imperfect, aorist.
	greekEnding{3, `ουμε ετε ειτε ουν ουνε ανε αν αμε ατε αει αω οντασ ωντασ ουσαμε ουσατε ουσαν ουσε`},
	greekEnding{3, `ομαι εσαι εται ομαστε ομασταν εστε οσαστε οσασταν ονται ονταν οντουσαν ομουν οσουν οταν`},
	greekEnding{3, `ουμαι εισαι ειται ουμαστε εισθε ειστε ουνται ουνταν εμαι αμαι ασαι αται`},
	greekEnding{3, `ηθηκα ηθηκε ηθηκαν ηθηκαμε ηθηκατε ηθω ηθει ηθεισ ηθουν ηθουμε ηθειτε`},
)

// greekNeuter are the endings that neuters in -μα take after the μ, and one of ντομάτα, which looks like them.
var greekNeuter = []string{"ατα", "ατων", "ατοσ", "ατεσ", "ατασ"}

// greekDegrees remain of comparatives and superlatives when their inflection is gone.
var greekDegrees = []string{"οτερ", "οτατ", "υτερ", "υτατ", "εστερ", "εστατ"}

const (
	shortestGreekStem   = 3 // in letters
	shortestBeforeFinal = 3 // ε, which nouns in -έα and -εύς keep in some cases and lose in others
)

type greekEnding struct {
	left    int // letters
	endings string
}

// leaving is an ending with what it must leave of a word, in letters.
type leaving struct {
	ending string
	left   int
}

// sortedEndings returns the endings, the longest first.
func sortedEndings(groups ...greekEnding) (all []leaving) {
	for _, g := range groups {
		for ending := range strings.FieldsSeq(g.endings) {
			all = append(all, leaving{ending, g.left})
		}
	}
	slices.SortStableFunc(all, func(a, b leaving) int { return len(b.ending) - len(a.ending) })
	return all
}

func stemGreek(word string) string {
	if IsStopWord(word) {
		return word // or ποτέ would be found as ποτό
	}
	return withoutDegree(withoutFinalE(withoutInflection(word)))
}

func withoutInflection(word string) string {
	for _, ending := range greekNeuter {
		if stem, ok := strings.CutSuffix(word, ending); ok && strings.HasSuffix(stem, "μ") && letters(stem) >= shortestGreekStem {
			return stem
		}
	}
	for _, e := range greekEndings {
		if stem, ok := strings.CutSuffix(word, e.ending); ok && letters(stem) >= e.left {
			return stem
		}
	}
	return word
}

func withoutFinalE(stem string) string {
	if rest, ok := strings.CutSuffix(stem, "ε"); ok && letters(rest) >= shortestBeforeFinal {
		return rest
	}
	return stem
}

func withoutDegree(stem string) string {
	for _, degree := range greekDegrees {
		if positive, ok := strings.CutSuffix(stem, degree); ok && letters(positive) >= shortestGreekStem {
			return positive
		}
	}
	return stem
}

func letters(s string) int { return utf8.RuneCountInString(s) }
