package pipeline

// nearest returns the candidate that s was probably meant to be, or "": the one with the fewest slips of
// the keyboard in between, if these are at most one in three letters. Of equally near ones the first wins.
func nearest(s string, candidates []string) string {
	best, least := "", len(s)/3+2
	for _, c := range candidates {
		if d := distance(s, c); d < least && d < max(len(s), len(c)) {
			best, least = c, d
		}
	}
	return best
}

// distance counts the letters that were added, left out, replaced, or swapped with their neighbour
// between a and b (optimal string alignment).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replaced := last[j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			row[j] = min(last[j]+1, row[j-1]+1, replaced)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
