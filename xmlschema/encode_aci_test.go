package xmlschema

import (
	"math"
	"slices"
	"testing"
	"time"
)

func TestAnnotationsAreEncodedAsTheirCanonicalForm(t *testing.T) {
	t.Parallel()
	plain := 0
	count := orInShort(3000, 1000)
	for seed := range uint64(count) {
		if encodedAlike(t, newGenerator(seed).aci()) {
			plain++
		}
	}
	if plain == 0 || plain == count {
		t.Errorf("%d of %d go the short way: one of both ways is not tried", plain, count)
	}
}

func TestHostileAnnotationsAreEncodedAsTheirCanonicalForm(t *testing.T) {
	t.Parallel()
	for _, s := range hostileTexts {
		for _, change := range []func(*ACI){
			func(a *ACI) { a.ID = s }, func(a *ACI) { a.URD = s }, func(a *ACI) { a.Owner = s }, func(a *ACI) { a.URI = s }, func(a *ACI) { a.Title = s }, func(a *ACI) { a.Thread = s },
			func(a *ACI) { a.Extension = s }, func(a *ACI) { a.Format = s }, func(a *ACI) { a.Summary = s }, func(a *ACI) { a.Docbase.Digest = s },
			func(a *ACI) { a.Docbase.Name = s }, func(a *ACI) { a.Docbase.Secret = s }, func(a *ACI) { a.Also = Also{1, []Mirror{{s, 1}}} },
			func(a *ACI) { a.Values = map[string]string{s: s} }, func(a *ACI) { a.Explain = &Explain{Keywords: []KeywordShare{{Key: s, Weight: 1}}} },
		} {
			a := &ACI{ID: "a", URI: "http://a.example/"}
			change(a)
			encodedAlike(t, a)
		}
	}
	for _, n := range []int{-1, 0, 1, 2, 3, 4, 5, 6, 100, 101, math.MaxInt32, math.MaxInt32 + 1, math.MaxInt, math.MinInt} {
		for _, change := range []func(*ACI){
			func(a *ACI) { a.Relevance = n }, func(a *ACI) { a.FileSize = n }, func(a *ACI) { a.Urgency = n }, func(a *ACI) { a.Docbase.Version = n }, func(a *ACI) { a.Docbase.Since = n },
			func(a *ACI) { a.Docbase.Likeness = uint64(n) },
			func(a *ACI) { a.Docbase.Shown, a.Docbase.Matched = uint64(n), ^uint64(n) },
			func(a *ACI) { a.Also.Count = n }, func(a *ACI) { a.Also = Also{n, []Mirror{{"http://b.example/", n}, {"http://c.example/", 0}}} },
			func(a *ACI) {
				a.Also = Also{n, slices.Repeat([]Mirror{{"http://b.example/", 1}}, 1+max(0, min(n, 30)))}
			},
			func(a *ACI) { a.Explain.Relevance = n }, func(a *ACI) { a.Explain.Threshold = n }, func(a *ACI) { a.Explain.Keywords[0].Weight = n },
			func(a *ACI) { a.Explain.Keywords[0].Title = n }, func(a *ACI) { a.UpdateTime = time.Unix(int64(n), 1) },
		} {
			a := &ACI{ID: "a", URI: "http://a.example/", Explain: &Explain{Keywords: []KeywordShare{{Key: "ibm", Weight: 1}}}}
			change(a)
			encodedAlike(t, a)
		}
	}
	for _, f := range []float64{0, math.Copysign(0, -1), 1, 0.1, 1e-20, math.SmallestNonzeroFloat64, 1.0000001, -0.5, math.NaN(), math.Inf(1)} {
		encodedAlike(t, &ACI{URI: "a", Explain: &Explain{Keywords: []KeywordShare{{Key: "ibm", Weight: 1, Share: f, Saturation: 0.5}}}})
	}
}

// FuzzEncode holds that no text makes the two ways of encoding differ.
func FuzzEncode(f *testing.F) {
	f.Add("id", "http://a.example/", "a title", "a «summary» & more", "key", 50)
	f.Add("", " ", "]]>", "\ufffe", "\x00", -1)
	f.Fuzz(func(t *testing.T, id, uri, title, summary, key string, n int) {
		encodedAlike(t, &ACI{
			ID: id, URD: key, Owner: id, URI: uri, Thread: summary, Title: title, Summary: summary, Extension: title, Relevance: n, FileSize: n, Urgency: n % 5,
			UpdateTime: time.Unix(int64(n), int64(n)), Docbase: Docbase{Digest: key, Version: n, Since: n, Likeness: uint64(n), Shown: uint64(n) << 7, Matched: uint64(n) << 9, Secret: key, Name: title},
			Also: Also{n, []Mirror{{title, n}}}, Values: map[string]string{key: title},
			Explain: &Explain{Relevance: n, Threshold: n, Keywords: []KeywordShare{{Key: key, Weight: n, Body: n, Share: 1 / float64(n), Saturation: float64(n)}}},
		})
	})
}
