package charsets

import (
	_ "embed"
	"strings"
	"sync"
	"unicode/utf8"
)

// model is what is known of the letters of a language: which follow which and how often, or, where there are
// thousands, which are the most frequent.
type model struct {
	classes map[rune]uint8
	ascii   []bool       // by class
	halves  []uint8      // of a bit, of a class behind another
	common  map[rune]int // characters by rank, from 0
}

// Classes of characters; the letters of the model have those that follow.
const (
	other = iota // what is no letter, or none of the model's
	latin        // a letter of ASCII that is none of the model's
	letterClass
)

// ranked is how many characters have a rank, at most.
const ranked = 1500

// written is a line for each language: its name and its characters by rank; or its name, its letters, and the half
// bits of each pair that is not of ASCII alone, as a character from '0' on. TestModelsAreMadeOfTexts writes it.
//
//go:embed models.txt
var written string

var models = sync.OnceValue(func() map[string]*model {
	all := make(map[string]*model)
	for line := range strings.Lines(written) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) == 2 {
			all[fields[0]] = newRanks(fields[1])
			continue
		}
		m, values := newModel(fields[1]), fields[2]
		m.each(func(pair int) {
			m.halves[pair], values = values[0]-'0', values[1:]
		})
		all[fields[0]] = m
	}
	return all
})

func newRanks(characters string) *model {
	m := &model{common: make(map[rune]int)}
	for _, r := range characters {
		m.common[r] = len(m.common)
	}
	return m
}

// newModel returns the model of a language with these letters, whose pairs are not known yet.
func newModel(letters string) *model {
	m := &model{classes: make(map[rune]uint8), ascii: []bool{other: true, latin: true}}
	for c := 'a'; c <= 'z'; c++ {
		m.classes[c] = latin
	}
	for _, r := range letters {
		m.classes[r] = uint8(len(m.ascii))
		m.ascii = append(m.ascii, r < utf8.RuneSelf)
	}
	m.halves = make([]uint8, len(m.ascii)*len(m.ascii))
	return m
}

// each calls f with each pair that is not of ASCII alone.
func (m *model) each(f func(pair int)) {
	for first := range m.ascii {
		for second := range m.ascii {
			if !m.ascii[first] || !m.ascii[second] {
				f(first*len(m.ascii) + second)
			}
		}
	}
}

func (m *model) pair(first, second uint8) uint8 { return m.halves[int(first)*len(m.ascii)+int(second)] }
