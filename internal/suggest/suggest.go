// Package suggest writes what could have been meant: the name nearest to one that is not known, or all the choices.
package suggest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Nearest returns the name that was probably meant by got, or "": the one with the fewest slips of the keyboard in
// between, if these are about one in three letters at most and a letter is left. Of equally near ones the first wins.
// The beginning of one name alone, of three letters or more, is meant for the whole.
func Nearest(got string, names []string) string {
	length := utf8.RuneCountInString(got)
	if whole := begunBy(got, names); length >= 3 && whole != "" {
		return whole
	}
	best, least := "", length/3+2
	for _, name := range names {
		if d := editDistance(got, name); d < least && d < max(length, utf8.RuneCountInString(name)) {
			best, least = name, d
		}
	}
	return best
}

// DidYouMean asks at the end of a message whether a name was meant; nothing if it is "".
func DidYouMean(name string) string {
	if name == "" {
		return ""
	}
	return " (did you mean " + name + "?)"
}

// begunBy returns the only name that begins like this, or "".
func begunBy(got string, names []string) (whole string) {
	for _, name := range names {
		if !strings.HasPrefix(name, got) {
			continue
		}
		if whole != "" && whole != name {
			return ""
		}
		whole = name
	}
	return whole
}

// mostChoices is how many choices are listed, and nearChoices how many where there are more.
const mostChoices, nearChoices = 10, 5

// Choices lists the names that there are, for who gave one that is none of them: all in their order, or where these are
// many the nearest, and how many more there are.
func Choices(got string, names []string) string {
	if len(names) <= mostChoices {
		return strings.Join(names, ", ")
	}
	near := slices.Clone(names)
	slices.SortStableFunc(near, func(a, b string) int { return cmp.Compare(distance(got, a), distance(got, b)) })
	return fmt.Sprintf("%s and %d more", strings.Join(near[:nearChoices], ", "), len(names)-nearChoices)
}

// distance is the share of a name that is not as it was given.
func distance(got, name string) float64 {
	return float64(editDistance(got, name)) / float64(max(utf8.RuneCountInString(got), utf8.RuneCountInString(name), 1))
}

// editDistance is Edits of names. Input longer than any name of the vocabulary is not compared.
func editDistance(a, b string) int {
	const longest = 64
	if utf8.RuneCountInString(a) > longest || utf8.RuneCountInString(b) > longest {
		return longest
	}
	return Edits(a, b)
}

// Edits counts the characters of one text to insert, delete, replace or swap with their neighbour for the other.
func Edits(a, b string) int {
	s, t := []rune(a), []rune(b)
	before, last := make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row := make([]int, len(t)+1)
		row[0] = i
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(t)]
}

// Or joins words as a sentence does: "a, b or c".
func Or[T any](words []T) string { return cmp.Or(joined(words, " or "), "nothing") }

// And joins words as a sentence does: "a, b and c".
func And[T any](words []T) string { return joined(words, " and ") }

func joined[T any](words []T, last string) string {
	var b strings.Builder
	for i, word := range words {
		switch i {
		case 0:
		case len(words) - 1:
			b.WriteString(last)
		default:
			b.WriteString(", ")
		}
		fmt.Fprint(&b, word)
	}
	return b.String()
}
