package fulltext

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// among asks some indexes, with questions and answers going through JSON, as between machines. Answers are merged two
// by two, as those of nodes are that have several.
func among(parts []*Store) Ask {
	return func(ctx context.Context, q Question) (Answer, error) {
		var merged []Answer
		for two := range slices.Chunk(parts, 2) {
			received := again(q)
			var answers []Answer
			for _, s := range two {
				a, err := s.Answer(ctx, received)
				if err != nil {
					return a, err
				}
				answers = append(answers, a)
				if wanted := q.Query.From + q.Query.Size; q.Given != nil && len(a.Results.Hits) == wanted { // what follows reads no worse ones
					received.Last = &a.Results.Hits[wanted-1]
				}
			}
			a, err := Merge(received, answers)
			if err != nil {
				return a, err
			}
			merged = append(merged, again(a))
		}
		return Merge(q, merged)
	}
}

// again returns what is read of a value that was sent.
func again[T any](v T) (received T) {
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &received)
	}
	if err != nil {
		panic(err)
	}
	return received
}

// inParts indexes documents in one index and, by their hosts, in eight.
func inParts(t *testing.T, documents []Document) (one *Store, parts Ask) {
	t.Helper()
	open := func(name string) *Store {
		s, err := Open(filepath.Join(t.TempDir(), name), Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	index := func(s *Store, all []Document) {
		if err := s.Index(t.Context(), all); err != nil {
			t.Fatal(err)
		}
	}
	one = open("one")
	divided := make([][]Document, 8)
	for _, d := range documents {
		h := fnv.New32a()
		h.Write([]byte(hostOf(d.URL)))
		divided[h.Sum32()%8] = append(divided[h.Sum32()%8], d)
	}
	index(one, documents)
	var stores []*Store
	for i, all := range divided {
		s := open(fmt.Sprint("part", i))
		index(s, all)
		stores = append(stores, s)
	}
	return one, among(stores)
}

func mustAnswerAlike(t *testing.T, one *Store, parts Ask, q Query) {
	t.Helper()
	want, err := one.Search(t.Context(), q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	got, err := SearchParts(t.Context(), q, parts)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	want.Took, got.Took = 0, 0
	for _, r := range []*Results{&want, &got} {
		if len(r.Hits) == 0 {
			r.Hits = nil
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v\nin parts: %+v\nin one:   %+v", q, got, want)
	}
}

// What is found in parts, its order, scores and facets are those of one index of all documents.
func TestPartsAnswerAsOneIndex(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	var documents []Document
	for i := range 600 {
		d := Document{
			URL: fmt.Sprintf("http://host%d.example/%d", r.IntN(40), i), Version: 1,
			Title: strings.Join(randomWords(r), " "), Headings: strings.Join(randomWords(r), " "),
			Body: strings.Repeat(strings.Join(randomWords(r), " ")+" ", 1+r.IntN(4)),
			Type: []string{"text/html", "text/plain", "application/pdf"}[r.IntN(3)], Language: []string{"en", "el", ""}[r.IntN(3)],
		}
		if r.IntN(10) > 0 {
			d.Date = day.AddDate(0, 0, r.IntN(90))
		}
		documents = append(documents, d)
	}
	one, parts := inParts(t, documents)
	relaxed := 0
	for range 150 {
		q := Query{Text: ask(r, r.IntN(4)).text, Size: 1 + r.IntN(30), From: r.IntN(3) * 7, Sort: Sorts[r.IntN(len(Sorts))], Now: day, Facets: r.IntN(2) * 4}
		if r.IntN(4) == 0 {
			q.Text = fmt.Sprint(cmp.Or(strings.Join(randomWords(r), " "), "alpha"), " alpi~1 alpha delta omega unheard")
		}
		mustAnswerAlike(t, one, parts, q)
		if found, err := SearchParts(t.Context(), q, parts); err == nil && found.Relaxed {
			relaxed++
		}
	}
	if relaxed == 0 {
		t.Error("no query was answered with documents that have some of its words")
	}
	for _, query := range []string{"alpa", "betta gama", "alpha", "omege delto", "nothing"} {
		want, err := one.Suggest(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := SuggestFromParts(t.Context(), query, parts); err != nil || got != want {
			t.Errorf("instead of %q the parts suggest %q, %v, and one index %q", query, got, err, want)
		}
	}
}

// Pages of real texts, divided by the first part of their paths, are found in the order in which one index finds them.
func TestPartsOfARealSiteAnswerAsOneIndex(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	var documents []Document
	pages(t, func(d Document) {
		if len(documents) < 250 {
			name := strings.TrimPrefix(d.URL, pythonHome)
			d.URL = fmt.Sprintf("http://h%d.example/%s", len(documents)%31, name)
			documents = append(documents, d)
		}
	})
	one, parts := inParts(t, documents)
	for text := range known {
		mustAnswerAlike(t, one, parts, Query{Text: text, Size: 20})
	}
}

func TestPartsOfDifferentReleasesAreToldApart(t *testing.T) {
	sum := &Statistics{Found: map[string][]uint64{"a": {1, 2}}}
	if err := sum.add(&Statistics{Found: map[string][]uint64{"a": {1}}}); err == nil {
		t.Error("counts of different places are added up")
	}
}
