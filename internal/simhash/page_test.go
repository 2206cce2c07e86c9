package simhash

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/analyze"
)

// textOf is a text of blocks, each of the field that is named before a colon, or of the body.
func textOf(blocks ...string) *webrace.Text {
	fields := map[string]webrace.Field{"title": webrace.FieldTitle, "heading": webrace.FieldHeading, "navigation": webrace.FieldNavigation}
	text := new(webrace.Text)
	for _, b := range blocks {
		field := webrace.FieldBody
		if name, rest, ok := strings.Cut(b, ":"); ok {
			field, b = fields[name], rest
		}
		start := int32(len(text.Bytes))
		text.Bytes = append(text.Bytes, b...)
		text.Blocks = append(text.Blocks, webrace.Block{Start: start, End: int32(len(text.Bytes)), Field: field})
		text.Bytes = append(text.Bytes, '\n')
	}
	return text
}

// invent returns a text of words at random.
func invent(seed uint64, words int) string {
	random := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for range words {
		fmt.Fprintf(&b, "w%d ", random.IntN(2000))
	}
	return b.String()
}

// slowPage is Page by the words themselves.
func slowPage(text *webrace.Text) uint64 {
	var words []string
	for _, b := range text.Blocks {
		if b.Field == webrace.FieldTitle || b.Field == webrace.FieldNavigation {
			continue
		}
		analyze.Words(text.Slice(b), func(_, _ int, folded []byte) bool {
			words = append(words, string(folded))
			return true
		})
	}
	if len(words) < 20 {
		return 0
	}
	var votes slowVotes
	seen := make(map[string]bool)
	for i := range len(words) - 1 {
		if both := words[i] + " " + words[i+1]; !seen[both] {
			seen[both] = true
			votes.add(pair(analyze.Hash([]byte(words[i])), analyze.Hash([]byte(words[i+1]))))
		}
	}
	return votes.fingerprint()
}

func TestAFingerprintIsThatOfBodyAndHeadings(t *testing.T) {
	t.Parallel()
	var f Fingerprinter
	body := invent(1, 100)
	want := f.Page(textOf(body))
	if want == 0 {
		t.Fatal("a hundred words have no fingerprint")
	}
	for what, same := range map[string]*webrace.Text{
		"title and navigation": textOf("title:some title", "navigation:"+invent(2, 300), body, "navigation:"+invent(3, 300)),
		"other case":           textOf(strings.ToUpper(body)),
		"other blocks":         textOf("heading:"+body[:len(body)/2+strings.Index(body[len(body)/2:], " ")], body[len(body)/2+strings.Index(body[len(body)/2:], " "):]),
	} {
		if got := f.Page(same); got != want {
			t.Errorf("%s: %x, want %x", what, got, want)
		}
	}
	if other := f.Page(textOf(invent(9, 100))); Near(want, other) || Alike(want, other) {
		t.Errorf("another text differs in %d bits", bits.OnesCount64(want^other))
	}
}

func TestShortPagesHaveNoFingerprint(t *testing.T) {
	t.Parallel()
	var f Fingerprinter
	if x := f.Page(textOf(invent(1, 19), "navigation:"+invent(1, 200))); x != 0 || Near(x, x) {
		t.Errorf("19 words have the fingerprint %x", x)
	}
	if f.Page(textOf(invent(1, 20))) == 0 || f.Page(new(webrace.Text)) != 0 {
		t.Error("20 words have no fingerprint, or none have one")
	}
}

func TestALongPageIsNearItselfWithAnotherClock(t *testing.T) {
	t.Parallel()
	var f Fingerprinter
	body := invent(1, 2000)
	first := f.Page(textOf("It is 12:34:56.", body))
	for hour := range 24 {
		if second := f.Page(textOf(fmt.Sprintf("It is %d:00:01.", hour), body)); !Near(first, second) {
			t.Errorf("%d bits differ", bits.OnesCount64(first^second))
		}
	}
}

func FuzzPage(f *testing.F) {
	f.Add(invent(1, 40))
	f.Add("heading:Überschrift:" + invent(1, 30) + ":“curly” 日本語のテキスト naïve")
	f.Fuzz(func(t *testing.T, s string) {
		text := textOf(strings.Split(s, "\n")...)
		var fast Fingerprinter
		fast.Page(textOf(invent(1, 50)))
		if got, want := fast.Page(text), slowPage(text); got != want {
			t.Errorf("%x, want %x", got, want)
		}
	})
}

func TestAPageCostsNoMemory(t *testing.T) {
	var f Fingerprinter
	text := textOf(invent(1, 1500), "heading:naïve “quotes” "+invent(2, 20))
	f.Page(text)
	if n := testing.AllocsPerRun(10, func() { f.Page(text) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkVotes(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	var hashes [1400]uint64 // about 8 KB of text
	for i := range hashes {
		hashes[i] = random.Uint64()
	}
	b.ReportAllocs()
	for b.Loop() {
		var v Votes
		for _, h := range hashes {
			v.Add(h)
		}
		_ = v.Fingerprint()
	}
}

func BenchmarkPage(b *testing.B) {
	var f Fingerprinter
	text := textOf(prose(8 << 10))
	b.SetBytes(int64(len(text.Bytes)))
	b.ReportAllocs()
	for b.Loop() {
		f.Page(text)
	}
}

// prose is a text with words about as long as those of English.
func prose(size int) string {
	random := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	for b.Len() < size {
		for range 1 + random.IntN(9) {
			b.WriteByte(byte('a' + random.IntN(26)))
		}
		b.WriteByte(' ')
	}
	return b.String()[:size]
}
