package charsets

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/testutil"
)

var locales = flag.String("locales", "/usr/share/locale", "where the messages of programs are, of which -update writes models.txt")

// heldOut are the messages that tests read, and no model is made of.
const heldOut = "glib20.mo"

// messages returns the translations in a catalogue of GNU gettext.
func messages(catalogue []byte) (all []string) {
	const magic, header = 0x950412de, 20
	if len(catalogue) < header || binary.LittleEndian.Uint32(catalogue) != magic {
		return nil
	}
	at := func(offset uint32) uint32 { return binary.LittleEndian.Uint32(catalogue[offset:]) }
	for i := range at(8) {
		entry := at(16) + 8*i
		message := catalogue[at(entry+4):][:at(entry)]
		if at(at(12)+8*i) == 0 || !utf8.Valid(message) { // the header has the empty key
			continue
		}
		for form := range bytes.SplitSeq(message, []byte{0}) {
			all = append(all, string(form))
		}
	}
	return all
}

// noProse matches what is no language: places for values, and marks of the letter that a menu is reached by.
var noProse = regexp.MustCompile(`%[-+ #*.$0-9lhz]*[a-zA-Z]|\\[a-z]|[_&]`)

// textIn returns what programs print in a language, by the names of the files that hold it.
func textIn(t testing.TB, language string, used func(file string) bool) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(*locales, language, "LC_MESSAGES", "*.mo"))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, file := range files {
		if !used(filepath.Base(file)) {
			continue
		}
		catalogue, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range messages(catalogue) {
			text.WriteString(noProse.ReplaceAllStringFunc(m, func(s string) string { return strings.Repeat("0", len(s)/2) }) + "\n")
		}
	}
	return text.String()
}

// TestModelsAreMadeOfTexts makes them again with -update: of the translations of programs in the packages of Debian 12
// that are installed. Some hundred were, with GTK, VLC, apt, git, GIMP and the GNU programs; 200 KB of a language do.
func TestModelsAreMadeOfTexts(t *testing.T) {
	if testutil.Update() {
		writeModels(t)
	}
	made := make(map[string]bool)
	for line := range strings.Lines(written) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		pairs := 0
		if made[fields[0]] = true; len(fields) == 3 {
			newModel(fields[1]).each(func(int) { pairs++ })
			if pairs != len(fields[2]) {
				t.Errorf("%s has %d pairs, not %d", fields[0], len(fields[2]), pairs)
			}
		} else if n := utf8.RuneCountInString(fields[1]); n < 500 && fields[0] != "en" || n > ranked {
			t.Errorf("%s has %d characters", fields[0], n)
		}
	}
	for _, c := range candidates {
		for _, language := range c.languages {
			if !made[language] {
				t.Errorf("there is no model of %s, which is written in %s", language, c.encoding)
			}
		}
	}
}

func writeModels(t *testing.T) {
	var lines []string
	done := make(map[string]bool)
	for _, c := range candidates {
		for _, language := range c.languages {
			if !done[language] {
				done[language] = true
				lines = append(lines, language+"\t"+modelOf(t, language, c.encoding))
			}
		}
	}
	slices.Sort(lines)
	if err := os.WriteFile("models.txt", []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// modelOf returns the model of a language, the first encoding of which is that, as it is written.
func modelOf(t *testing.T, language, encoding string) string {
	text := textIn(t, language, func(file string) bool {
		return file != heldOut && !strings.HasPrefix(file, "iso") // where names of places are foreign
	})
	switch encoding {
	case "windows-1258":
		text = decomposed(text)
	case "shift_jis", "gb18030", "big5", "euc-kr":
		return ranks(text)
	}
	return pairsIn(text, encoding)
}

// ranks returns the most frequent characters of a text.
func ranks(text string) string {
	counts := make(map[rune]int)
	for _, r := range text {
		if unicode.IsLetter(r) && r >= utf8.RuneSelf {
			counts[r]++
		}
	}
	all := byCount(counts)
	return string(all[:min(len(all), ranked)])
}

func byCount(counts map[rune]int) (all []rune) {
	for r := range counts {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b rune) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return int(a - b)
	})
	return all
}

// pairsIn returns the letters of a text, and the half bits of their pairs.
func pairsIn(text, encoding string) string {
	letters := lettersIn(text, encoding)
	m := newModel(letters)
	counts := make([]float64, len(m.halves))
	sums := make([]float64, len(m.ascii))
	last := uint8(other)
	for _, r := range text {
		c := m.classes[fold(r)]
		counts[int(last)*len(m.ascii)+int(c)]++
		sums[last]++
		last = c
	}
	var values strings.Builder
	m.each(func(pair int) {
		const smoothing = 0.3
		sum := sums[pair/len(m.ascii)] + smoothing*float64(len(m.ascii))
		bits := -math.Log2((counts[pair] + smoothing) / sum)
		values.WriteByte('0' + byte(min(math.Round(2*bits), 30)))
	})
	return fmt.Sprintf("%s\t%s", letters, values.String())
}

// lettersIn returns the letters of a text, in order, that an encoding of its language has, but for those that are
// hardly ever in it; those of ASCII where it is written in them.
func lettersIn(text, encoding string) string {
	has := make(map[rune]bool)
	for _, c := range tables()[encoding] {
		has[c.lower] = c.kind == letter
	}
	counts := make(map[rune]int)
	sum, latin := 0, 0
	for _, r := range text {
		switch r = fold(r); {
		case r < utf8.RuneSelf && unicode.IsLetter(r):
			latin++
		case has[r]:
			counts[r]++
		default:
			continue
		}
		sum++
	}
	var letters []rune
	for r, n := range counts {
		if n > sum/20_000 {
			letters = append(letters, r)
		}
	}
	if latin > sum/2 {
		letters = append(letters, []rune("abcdefghijklmnopqrstuvwxyz")...)
	}
	slices.Sort(letters)
	return string(letters)
}
