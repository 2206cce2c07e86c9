package amount

// longestPage is how much of a page is looked at, in bytes.
const longestPage = 64 << 10

// learn returns how the amounts of a page are written, as far as those that are not ambiguous show it and agree; where
// they do not, it is as the format has it. False if they show nothing.
func learn(page []byte, f format) (format, bool) {
	s := &scanner{runes: []rune(string(page[:min(len(page), longestPage)])), format: f}
	points, commas, spaces := 0, 0, 0
	for {
		if _, ok := s.next(); !ok {
			break
		}
		if !s.besideCurrency() {
			continue // a date, a version
		}
		alone := s.standsAlone()
		groups, separators, spaced := s.groups(alone || f.spaces)
		switch decimalSign(groups, separators, s.tail(), f) {
		case point:
			points++
		case comma:
			commas++
		}
		if spaced && alone {
			spaces++
		}
	}
	switch {
	case points > 0 && commas == 0:
		f.decimal = point
	case commas > 0 && points == 0:
		f.decimal = comma
	}
	f.spaces = f.spaces || spaces > 0
	return f, (points > 0) != (commas > 0) || spaces > 0
}

// decimalSign returns what parts decimals, as a number shows that is not ambiguous; 0 if it does not.
func decimalSign(groups []string, separators []rune, tail rune, f format) rune {
	if tail != 0 {
		return tail
	}
	at, other := decimalOf(groups, separators, tail, f)
	switch {
	case other >= 0 || len(separators) == 0:
		return 0
	case at > 0:
		return separators[at-1]
	case count(separators, point) > 0: // 1.234.567
		return comma
	case count(separators, comma) > 0:
		return point
	}
	return 0
}
