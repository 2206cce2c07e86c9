// Package suggest finds the name that was probably meant by one that is not known.
package suggest

// Nearest returns the name that was probably meant by got, or nothing when none is near.
func Nearest(got string, names []string) string {
	best, least := "", 1+len([]rune(got))/3
	for _, name := range names {
		if d := editDistance(got, name); d <= least && (best == "" || d < least) {
			best, least = name, d
		}
	}
	return best
}

// editDistance counts the characters to insert, delete, replace or swap with their neighbour. Input
// longer than any name of the vocabulary is not compared.
func editDistance(a, b string) int {
	s, t := []rune(a), []rune(b)
	if len(s) > 64 || len(t) > 64 {
		return 64
	}
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
