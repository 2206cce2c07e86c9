package scope

import (
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/webrace/webrace/internal/urlnorm"
)

// Traps are the marks of URLs that a server makes up without end. A limit of 0 sets none.
type Traps struct {
	Length     int // the most bytes of a URL
	Depth      int // the most segments of a path
	Repeats    int // a run of segments that stands so often in a row; or twice as many repeat earlier ones
	Parameters int // the most parameters of a query

	Queries  int // the most queries, of three parameters or more, of one path
	Dates    int // the most URLs that differ in a date alone
	FarDates int // of these, with dates before 1900 or more than a year ahead
}

// find looks for the traps that show in the URL alone.
func (t *Traps) find(address, path, query string) Refusal {
	if t.Length > 0 && len(address) > t.Length {
		return TooLong
	}
	if t.Parameters > 0 && len(query) > t.Parameters && strings.Count(query, "&") >= t.Parameters {
		return ManyParameters
	}
	if t.Depth <= 0 && t.Repeats <= 0 {
		return Pass
	}
	n, alike := survey(path)
	switch {
	case t.Depth > 0 && n > t.Depth:
		return TooDeep
	case t.Repeats <= 0 || !alike || n < t.Repeats:
		return Pass
	}
	var s segments
	s.cut(path)
	if s.repeat(t.Repeats) {
		return Repeating
	}
	return Pass
}

// survey counts the segments of a path, without empty ones, and reports whether two of them may be the
// same: most paths need no closer look.
func survey(path string) (n int, alike bool) {
	var seen [2]uint64
	for start := 0; start < len(path); {
		end := start + length(path[start:], '/')
		if end > start {
			n++
			h := keyOf(path[start:end]) * 0x9e3779b1
			word, bit := &seen[h>>31], uint64(1)<<(h>>25&63)
			alike = alike || *word&bit != 0
			*word |= bit
		}
		start = end + 1
	}
	return n, alike
}

// keyOf tells most segments apart, by their length and three of their bytes.
func keyOf(s string) uint32 {
	return uint32(len(s))<<24 | uint32(s[0])<<16 | uint32(s[len(s)/2])<<8 | uint32(s[len(s)-1])
}

// segments are the first of a path, without empty ones.
type segments struct {
	path string
	list [32]segment
	n    int
}

// segment is where one lies in the path.
type segment struct {
	start, end uint16
	key        uint32
}

func (s *segments) cut(path string) {
	s.path = path[:min(len(path), 1<<16-1)]
	for start := 0; start < len(s.path) && s.n < len(s.list); {
		end := start + length(s.path[start:], '/')
		if end > start {
			s.list[s.n] = segment{uint16(start), uint16(end), keyOf(path[start:end])}
			s.n++
		}
		start = end + 1
	}
}

func (s *segments) text(i int) string { return s.path[s.list[i].start:s.list[i].end] }

func (s *segments) same(i, j int) bool {
	return s.list[i].key == s.list[j].key && s.text(i) == s.text(j)
}

// repeat reports whether a run of segments stands so many times in a row, or twice as many segments repeat
// earlier ones, as in paths that grow by broken relative links. Numbers are left out, and so are single
// letters, but for runs of several: tiles of maps and shards of archives are named so.
func (s *segments) repeat(times int) bool {
	repeats, found := 0, false
	for i := range s.n {
		for j := range i {
			if s.same(i, j) {
				found = true
				if !isNumber(s.text(i)) && len(s.text(i)) > 1 {
					repeats++
				}
				break
			}
		}
	}
	if repeats >= 2*times {
		return true
	}
	for period := 1; found && period*times <= s.n; period++ {
		if s.inARow(period, times) {
			return true
		}
	}
	return false
}

// inARow reports whether a run of so many segments stands so many times in a row.
func (s *segments) inARow(period, times int) bool {
	alike, telling := 0, false // segments that are the same as the one a period before
	for i := period; i < s.n; i++ {
		if !s.same(i, i-period) {
			alike, telling = 0, false
			continue
		}
		alike++
		telling = telling || !isNumber(s.text(i)) && (period > 1 || len(s.text(i)) > 1)
		if telling && alike >= period*(times-1) {
			return true
		}
	}
	return false
}

func isNumber(s string) bool { return strings.Trim(s, "0123456789") == "" }

// Family is a set of URLs that are much alike, of which there is a limit.
type Family struct {
	ID     uint64
	Limit  int
	Beyond Refusal // of the others
}

// Families returns the families that a URL is of; most are of none.
func (t *Traps) Families(address string, now time.Time) (list [2]Family, n int) {
	_, rest, _ := urlnorm.CutScheme(address)
	query := strings.IndexByte(rest, '?')
	if t.Queries > 0 && query >= 0 && strings.Count(rest[query:], "&") >= 2 {
		list[n] = Family{familyID('q', rest[:query]), t.Queries, ManyQueries}
		n++
	}
	if t.Dates <= 0 && t.FarDates <= 0 {
		return list, n
	}
	d := datesOf(rest)
	if d.n == 0 {
		return list, n
	}
	f := Family{familyID('d', d.masked(rest)), t.Dates, ManyDates}
	if d.far(now) {
		f = Family{familyID('f', d.masked(rest)), t.FarDates, ManyFarDates}
	}
	if f.Limit > 0 {
		list[n] = f
		n++
	}
	return list, n
}

func familyID(kind byte, shape string) uint64 {
	var h xxhash.Digest
	h.Reset()
	h.Write([]byte{kind})
	h.WriteString(shape)
	return h.Sum64()
}
