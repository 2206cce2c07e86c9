//go:build unix

package analyze

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/webrace/webrace"
)

func TestNoCharacterFoldsToMuch(t *testing.T) {
	t.Parallel()
	for r := range rune(unicode.MaxRune + 1) {
		if !utf8.ValidRune(r) {
			continue
		}
		folded := appendFold(nil, r)
		if utf8.RuneCount(folded) > mostLetters || len(folded) > 3*utf8.RuneLen(r) {
			t.Errorf("%U folds to %q", r, folded)
		}
		if slow := appendFoldSlowly(nil, r); string(slow) != string(folded) || classify(r) != classifySlowly(r) {
			t.Errorf("%U, of class %d, folds to %q; want %d, %q", r, classify(r), folded, classifySlowly(r), slow)
		}
	}
}

// hostileTexts are of what costs the most a byte.
func hostileTexts(size int) map[string]string {
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	var longest, letters strings.Builder
	for r := range rune(unicode.MaxRune + 1) {
		if kind := classify(r); kind != letter && kind != ideograph || !utf8.ValidRune(r) {
			continue
		}
		letters.WriteRune(r)
		if len(appendFold(nil, r)) > utf8.RuneLen(r) {
			longest.WriteRune(r)
		}
	}
	return map[string]string{
		"U+FDFA":                   fill("\uFDFA"),
		"U+FDFA apart":             fill("\uFDFA "),
		"all that grow":            fill(longest.String()),
		"all that grow, apart":     fill(strings.Join(strings.Split(longest.String(), ""), " ") + " "),
		"every letter":             fill(letters.String()),
		"a letter with many marks": "a" + fill("\u0301\u0327\u20D0"),
		"marks alone":              fill("\u0301\u200D\u00AD"),
		"short i, many times":      "и" + fill("\u0306"),
		"short i, one by one":      fill("и\u0306"),
		"one word":                 fill("a"),
		"words of one letter":      fill("a "),
		"ideographs":               fill("東京都"),
		"voiced kana":              fill("ガ\u3099"),
		"Hangul":                   fill("각"),
		"bytes that are no text":   fill("a\xff\xe6\x9d"),
	}
}

// cpu returns what the process has taken of processors, however busy they are with others.
func cpu(t *testing.T) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func TestHostileLettersTakeTimeAndMemoryByTheBytes(t *testing.T) {
	const size, most, mostMemory = 2 << 20, 1500 * time.Millisecond, 100
	for name, text := range hostileTexts(size) {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			var a Analyzer
			runtime.ReadMemStats(&before)
			began := cpu(t)
			a.Analyze(&webrace.Text{Bytes: []byte(text), Blocks: []webrace.Block{{End: int32(len(text))}}})
			took := cpu(t) - began
			runtime.ReadMemStats(&after)
			memory := (after.TotalAlloc - before.TotalAlloc) / uint64(len(text))
			t.Logf("%d bytes: %v, %d bytes of memory for each", len(text), took.Round(time.Millisecond), memory)
			if took > most || memory > mostMemory {
				t.Errorf("%d bytes take %v and %d bytes of memory for each", len(text), took, memory)
			}
		})
	}
}
