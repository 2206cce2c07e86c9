package fulltext

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// plain is a document as the oracle sees it: words.
type plain struct {
	url         string
	title, body []string
	day         int
}

// asked is a query as text and as what it demands of a document.
type asked struct {
	text  string
	holds func(plain) bool
	must  bool // also beside a +
}

var oracleWords = []string{"alpha", "alps", "beta", "gamma", "delta", "omega"}

// ask returns a random query of some depth.
func ask(r *rand.Rand, depth int) asked {
	if depth == 0 {
		return askOne(r)
	}
	a, b := ask(r, depth-1), ask(r, r.IntN(depth))
	switch r.IntN(6) {
	case 0:
		return asked{text: a.text + " OR " + b.text, holds: func(d plain) bool { return a.holds(d) || b.holds(d) }}.inParentheses()
	case 1:
		return asked{text: a.text + " AND " + b.text, holds: func(d plain) bool { return a.holds(d) && b.holds(d) }}.inParentheses()
	case 2:
		return asked{text: a.text + " NOT " + b.text, holds: func(d plain) bool { return a.holds(d) && !b.holds(d) }}.inParentheses()
	case 3:
		return asked{text: "-" + a.inParentheses().text, holds: func(d plain) bool { return !a.holds(d) }}.inParentheses()
	case 4:
		return asked{text: "+" + a.text + " " + b.text, holds: func(d plain) bool { return a.holds(d) && (!b.must || b.holds(d)) }}.inParentheses()
	}
	return asked{text: a.text + " " + b.text, holds: func(d plain) bool { return a.holds(d) && b.holds(d) }}.inParentheses()
}

func (a asked) inParentheses() asked { return asked{"(" + a.text + ")", a.holds, a.must} }

func askOne(r *rand.Rand) asked {
	word, other := oracleWords[r.IntN(len(oracleWords))], oracleWords[r.IntN(len(oracleWords))]
	anywhere := func(found func(words []string) bool) func(plain) bool {
		return func(d plain) bool { return found(d.title) || found(d.body) }
	}
	switch r.IntN(7) {
	case 0:
		return asked{text: "title:" + word, holds: func(d plain) bool { return slices.Contains(d.title, word) }}
	case 1:
		return asked{text: "body:" + word, holds: func(d plain) bool { return slices.Contains(d.body, word) }}
	case 2:
		return asked{text: `"` + word + " " + other + `"`, holds: anywhere(func(words []string) bool {
			return strings.Contains(" "+strings.Join(words, " ")+" ", " "+word+" "+other+" ")
		})}
	case 3:
		return asked{text: word[:2] + "*", holds: anywhere(func(words []string) bool {
			return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, word[:2]) })
		})}
	case 4:
		n := r.IntN(9)
		return asked{"before:" + day.AddDate(0, 0, n).Format("2006-01-02"), func(d plain) bool { return d.day < n }, true}
	}
	return asked{text: word, holds: anywhere(func(words []string) bool { return slices.Contains(words, word) })}
}

func randomWords(r *rand.Rand) []string {
	words := make([]string, r.IntN(5))
	for i := range words {
		words[i] = oracleWords[r.IntN(len(oracleWords))]
	}
	return words
}

// TestQueriesFindWhatTheySay compares what random queries find in many segments with what a plain reading of
// each document finds.
func TestQueriesFindWhatTheySay(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 2))
	s, err := Open(filepath.Join(t.TempDir(), "fulltext"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var documents []plain
	for range 8 {
		var group []Document
		for range 40 {
			d := plain{fmt.Sprintf("http://x/%03d", len(documents)), randomWords(r), randomWords(r), r.IntN(8)}
			documents = append(documents, d)
			group = append(group, Document{
				URL: d.url, Version: 1, Title: strings.Join(d.title, " "), Body: strings.Join(d.body, " "), Date: day.AddDate(0, 0, d.day),
			})
		}
		if err := s.Index(t.Context(), group); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 400 {
		q := ask(r, r.IntN(4))
		var want []string
		for _, d := range documents {
			if q.holds(d) {
				want = append(want, d.url)
			}
		}
		got, err := s.Search(t.Context(), Query{Text: q.text, Sort: ByURL, Size: 1000})
		if err != nil {
			t.Fatalf("%s: %v", q.text, err)
		}
		var found []string
		for _, hit := range got.Hits {
			found = append(found, hit.URL)
		}
		if got.Relaxed {
			found = nil
		}
		if !slices.Equal(found, want) {
			t.Fatalf("%s finds %d, want %d", q.text, len(found), len(want))
		}
		if i%8 == 0 {
			mustPage(t, s, q.text)
		}
	}
}

// mustPage wants the pages of an answer to be the answer.
func mustPage(t *testing.T, s *Store, text string) {
	t.Helper()
	whole, err := s.Search(t.Context(), Query{Text: text, Size: 50})
	if err != nil {
		t.Fatal(err)
	}
	for from := 0; from < len(whole.Hits); from += 7 {
		page, err := s.Search(t.Context(), Query{Text: text, Size: 7, From: from})
		if err != nil {
			t.Fatal(err)
		}
		for i, hit := range page.Hits {
			if from+i < len(whole.Hits) && hit != whole.Hits[from+i] {
				t.Fatalf("%s: hit %d is %+v on a page, and %+v among all", text, from+i, hit, whole.Hits[from+i])
			}
		}
	}
}
