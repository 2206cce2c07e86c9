package fulltext

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/index/scorch"
	index "github.com/blevesearch/bleve_index_api"

	"github.com/webrace/webrace/internal/analyze"
)

// tokenized is what the library makes of a text by itself: a token of each word, all counted in a map.
func tokenized(text []byte, language analyze.Language, common bool) (index.TokenFrequencies, int) {
	var tokens analysis.TokenStream
	position, end := 0, 0
	eachWord(text, language, func(start, stop int, w term) {
		if position++; start > end && strings.Contains(string(text[end:start]), BlockEnd) {
			position += blockGap
		}
		end = stop
		if w.common && !common || len(w.folded) > longestTerm {
			return
		}
		for i, term := range append([]string{w.folded}, w.stems...) {
			if i == 0 || term != w.folded {
				tokens = append(tokens, &analysis.Token{Term: []byte(term), Position: position})
			}
			if i == 0 && w.stems[0] != w.folded {
				tokens[len(tokens)-1].Position = -position // as no phrase asks for it
			}
		}
	})
	return analysis.TokenFrequency(tokens, nil, asText), len(tokens)
}

// terms describes what is counted.
func terms(counted index.TokenFrequencies) string {
	var b strings.Builder
	for _, term := range slices.Sorted(maps.Keys(counted)) {
		fmt.Fprintf(&b, "%q %d:", term, counted[term].Frequency())
		for _, l := range counted[term].Locations {
			if l.Position > 0 {
				fmt.Fprintf(&b, " %d", l.Position)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func mustCountAlike(t *testing.T, counter *termCounter, text, tag, field string) {
	t.Helper()
	language := analyze.ParseLanguage(tag)
	f := &wordField{name: field, text: text, options: asText}
	whole := counter.count(f, language)
	want, length := tokenized([]byte(text), language, hasCommon(field))
	if got, want := terms(f.AnalyzedTokenFrequencies()), terms(want); got != want {
		t.Errorf("%q in %q: counted\n%swant\n%s", text, tag, got, want)
	}
	if f.AnalyzedLength() != length || !whole {
		t.Errorf("%q: length %d, want %d; whole: %v", text, f.AnalyzedLength(), length, whole)
	}
}

func TestWordsAreCountedAsTokensAre(t *testing.T) {
	t.Parallel()
	words := strings.Fields("crawl crawling Crawls crawler the with and θάλασσα Θάλασσες maison maisons Häuser Haus x _id 2026 " +
		strings.Repeat("long", longestTerm/4) + " " + strings.Repeat("longer", longestTerm/6+1))
	var counter termCounter
	counter.begin()
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var b strings.Builder
		for range r.IntN(60) {
			b.WriteString(words[r.IntN(len(words))])
			b.WriteString([]string{" ", ", ", BlockEnd, " \f \f"}[r.IntN(4)])
		}
		if r.IntN(4) == 0 {
			counter.end(true)
			counter.begin()
		}
		mustCountAlike(t, &counter, b.String(), []string{"en", "el", "fr", "de", "", "zz"}[r.IntN(6)], []string{fieldBody, fieldTitle}[r.IntN(2)])
	}
}

func TestVocabularyIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	var counter termCounter
	for round := range 3 {
		counter.begin()
		var b strings.Builder
		for i := range maxTerms {
			fmt.Fprintf(&b, "%x%xs ", round, i)
		}
		f := &wordField{name: fieldBody, text: b.String(), options: asText}
		counter.count(f, analyze.ParseLanguage("en"))
		if n := len(counter.terms.terms); n < len(f.terms) || n > maxVocabulary {
			t.Errorf("%d terms after %d texts", n, round+1)
		}
		counter.end(true)
	}
}

func FuzzWordsAreCountedAsTokensAre(f *testing.F) {
	f.Add("crawling the crawls\fof crawlers", "en")
	f.Add("\ufdfa 漢字かな naïve\u0301 \xff", "fr")
	f.Fuzz(func(t *testing.T, text, tag string) {
		var counter termCounter
		counter.begin()
		mustCountAlike(t, &counter, text, tag, fieldBody)
	})
}

func TestHostileDocumentsAreShortened(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	s, err := Open(filepath.Join(t.TempDir(), "fulltext"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var rare, long strings.Builder
	rare.WriteString("needle ")
	for i := range maxTerms + 1000 {
		fmt.Fprintf(&rare, "w%x ", i)
	}
	rare.WriteString("needle lastword")
	long.WriteString("quick needle ")
	for range maxPlaces {
		long.WriteString("filler ")
	}
	long.WriteString("slow needle")
	documents := []Document{
		{URL: "http://x/rare", Version: 1, Body: rare.String()},
		{URL: "http://x/long", Version: 1, Body: long.String()},
		{URL: "http://x/small", Version: 1, Body: "needle"},
		{URL: "http://x/word", Version: 1, Body: "needle " + strings.Repeat("\ufdfa", 1<<20)},
	}
	if err := s.Index(t.Context(), documents); err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, true, false, false} {
		if documents[i].Shortened != want {
			t.Errorf("%s: shortened %v", documents[i].URL, documents[i].Shortened)
		}
	}
	for query, want := range map[string]uint64{
		"needle": 4, "w0": 1, fmt.Sprintf("w%x", maxTerms-2): 1, "lastword": 0, // rarest words are left out
		`"quick needle"`: 1, "slow": 1, `"slow needle"`: 0, "slow needle": 1, // words are found anywhere, phrases before
	} {
		if r, err := s.Search(t.Context(), Query{Text: query}); err != nil || r.Total != want && !r.Relaxed {
			t.Errorf("%s finds %d, want %d: %v", query, r.Total, want, err)
		}
	}
}

func TestValuesOutliveMergesWithDocumentsThatHaveNone(t *testing.T) {
	t.Parallel()
	s, err := Open(filepath.Join(t.TempDir(), "fulltext"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	full := Document{URL: "http://x/full", Version: 3, Title: "Full", Language: "en-GB", Type: "text/html", Date: day, Body: "word"}
	for _, d := range []Document{{URL: "http://x/bare", Version: 1, Body: "word"}, full, {URL: "http://x/bare2", Version: 1, Body: "word"}} {
		if err := s.Index(t.Context(), []Document{d}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.index.Index.(*scorch.Scorch).ForceMerge(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	r, err := s.Search(t.Context(), Query{Text: "word", Sort: ByURL, Facets: 9})
	if err != nil || r.Total != 3 {
		t.Fatalf("%d documents: %v", r.Total, err)
	}
	for _, hit := range r.Hits {
		switch hit.URL {
		case full.URL:
			if hit.Title != full.Title || hit.Version != full.Version || hit.Language != "en-gb" || hit.Type != full.Type || !hit.Date.Equal(full.Date) {
				t.Errorf("%+v", hit)
			}
		default:
			if hit.Title != "" || hit.Language != "" || hit.Type != "" || !hit.Date.IsZero() {
				t.Errorf("%+v", hit)
			}
		}
	}
	if got := r.Facets["language"].Counts; len(got) != 1 || got[0] != (Count{"en-gb", 1}) {
		t.Errorf("languages %v", got)
	}
}
