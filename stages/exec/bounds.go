package exec

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// What a program states of itself and of items becomes labels of metrics, lines of logs, dead letters and what a person
// reads: it is no more than this.
const (
	longestName  = 100     // bytes of the name of a counter, a port, a kind, an option
	longestError = 4 << 10 // bytes
	mostCounters = 64      // of a stage
	mostNames    = 1000    // in each list of what it states of itself
	leftOut      = "counters_left_out"
	longestPut   = 365 * 24 * time.Hour // off, by retry_after_s
)

// shorten bounds the texts of a message.
func (m *message) shorten() {
	for _, name := range []*string{&m.Type, &m.Port, &m.Kind, &m.Option} {
		*name = cut(*name, longestName)
	}
	m.Error = cut(m.Error, longestError)
}

// counts returns what a message adds to counters. One that names more than there may be is not read.
func (m *message) counts() (counts map[string]int64, err error) {
	switch {
	case len(m.Count) == 0:
		return nil, nil
	case len(m.Count) > mostCounters*2*longestName:
		return map[string]int64{"": 1}, nil // which has no name, and is left out
	}
	if err := json.Unmarshal(m.Count, &counts); err != nil {
		return nil, fmt.Errorf("count: %s", cut(err.Error(), longestError))
	}
	return counts, nil
}

// cut returns the beginning of a text that is too long.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return fmt.Sprintf("%s… (%d bytes)", text[:most], len(text))
}

// retryAfter is a duration that fits.
func retryAfter(seconds float64) time.Duration {
	if math.IsNaN(seconds) {
		return 0
	}
	return time.Duration(min(max(seconds, 0), longestPut.Seconds()) * float64(time.Second))
}

// bounded refuses lists that are too long to read.
func (p *progSpec) bounded() error {
	names := slices.Concat(p.Takes, p.Fields, p.Needs, p.Options)
	for _, out := range p.Gives {
		names = append(names, out.Port, out.Kind)
	}
	if len(names) > mostNames {
		return fmt.Errorf("it names %d kinds, ports, fields, parts and options of itself: the most are %d", len(names), mostNames)
	}
	if i := slices.IndexFunc(names, func(name string) bool { return len(name) > longestName }); i >= 0 {
		return fmt.Errorf("it names %q of itself: a name has %d bytes at most", cut(names[i], longestName), longestName)
	}
	return nil
}

// count adds to a counter that the program names: the first few names there are, the others are counted together.
func (s *stage) count(name string, n int64) {
	s.mu.Lock()
	known := s.counted[name]
	if !known && len(s.counted) < mostCounters && isLabel(name) {
		s.counted[name], known = true, true
	}
	s.mu.Unlock()
	if !known {
		name, n = leftOut, 1
	}
	s.env.Counter(name).Add(n)
}

func isLabel(name string) bool {
	return name != "" && len(name) <= longestName && utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
}
