package match

import (
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/webrace/webrace"
)

// Everyone is told of a page what each profile finds on one whose words were all made ready, however often its words
// were met before, while profiles come and go, of states of the index that are past, and together with others who ask.
func TestOracleOfDismissedWords(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(17, 18))
	l := newLanguage(random, inventWords(random, 600))
	var texts []*webrace.Text
	for range 20 {
		texts = append(texts, l.page())
	}
	whileProfilesComeAndGo(t, l, texts, orInShort(60, 25))
	words, texts := writtenLanguages(t, random)
	whileProfilesComeAndGo(t, newLanguage(random, words), texts, orInShort(60, 25))
}

func TestOracleOfDismissedWordsOnRealPages(t *testing.T) {
	t.Parallel()
	texts := realPages(t, orInShort(12, 4))
	var words []string
	for _, text := range texts {
		words = append(words, foldedWords(string(text.Bytes))...)
	}
	random := rand.New(rand.NewPCG(19, 20))
	random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	whileProfilesComeAndGo(t, newLanguage(random, words), texts, orInShort(50, 15))
}

func whileProfilesComeAndGo(t *testing.T, l *language, texts []*webrace.Text, changes int) {
	t.Helper()
	crowd, other := new(Index), new(Index)
	past := []*View{crowd.View()}
	told, left := 0, 0
	for n := range changes {
		added := compile(t, profileOf(n, &l.groups(1)[0]))
		crowd.Add(added)
		if n > 20 {
			crowd.Remove(idOf(l.IntN(n)))
		}
		if n%10 == 0 {
			crowd.Settle()
			other.Add(compile(t, profileOf(10_000+n, &l.groups(1)[0])))
			past = append(past, crowd.View())
		}
		text := texts[l.IntN(len(texts))]
		o := Options{Everyone: true, Seen: int64(n % 4), Distance: n % 3, Summary: 40 + n%100}
		o.Added, o.Last = inventLast(n, text, texts)
		few := o
		few.Everyone = false
		for id := range other.View().names.All() {
			few.Recipients = append(few.Recipients, Recipient{ID: id, OnlyAdded: l.IntN(2) == 0})
		}
		before := past[l.IntN(len(past))]
		for _, all := range [][]Asking{
			{{View: crowd.View(), Options: o}}, {{View: before, Options: o}}, {{View: other.View(), Options: few}, {View: crowd.View(), Options: o}},
			{{View: other.View(), Options: o}, {View: before, Options: o}}, {{View: crowd.View(), Options: o}},
		} {
			got, want := byID(Match(text, all...)), byID(toldOfPlainPage(text, all))
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%d who ask of page %q\ngot  %+v\nwant %+v", len(all), text.Bytes, got, want)
			}
			told += len(want)
		}
		left += leftOut(crowd.View(), text)
	}
	if told < changes || left < 5*changes {
		t.Errorf("%d alerts, and %d words that are left out, prove too little", told, left)
	}
}

// toldOfPlainPage asks one by one about a page that is confined to no words.
func toldOfPlainPage(text *webrace.Text, all []Asking) iter.Seq[Alert] {
	return func(yield func(Alert) bool) {
		for _, a := range all {
			p := newPage().open(text, a.Added, a.Last)
			tell := func(c *Compiled, among extent) {
				if v := p.judge(c, among); v.reason == Alerts {
					yield(p.alert(c, v, a.Summary))
				}
			}
			for _, to := range a.Recipients {
				tell(a.Profile(to.ID), extentOf(to.OnlyAdded))
			}
			for _, n := range a.names.All() {
				if among, concerned := a.shows(n.Compiled); a.Everyone && concerned {
					tell(n.Compiled, among)
				}
			}
			p.close()
		}
	}
}

// leftOut returns how many words of a text are known to be none that a view asks for.
func leftOut(v *View, text *webrace.Text) (n int) {
	if !v.MayConcern(Options{Everyone: true}) {
		return 0
	}
	p := newPage()
	defer p.close()
	p.wantEveryone(v)
	p.open(text, nil, nil)
	for i := range p.tokens {
		if p.tokens[i].Word == 0 {
			n++
		}
	}
	return n
}

// What is found at last where a phrase, a condition or a part of a word alone asks for it, is asked for.
func TestEveryKindOfKeywordIsAskedFor(t *testing.T) {
	t.Parallel()
	for _, key := range []string{
		"java", "java beans", "near:5 java beans", "java bean*", "near:4 java bea* grinder", "C++", "node.js", "AT&T", "東京都", "title:java beans",
	} {
		for _, kind := range []string{"", "exact", "substring"} {
			for _, mode := range []Mode{Any, All, None} {
				k := Keyword{Key: key, Weight: 5, Exact: kind == "exact", Substring: kind == "substring"}
				in := Group{Match: mode, Keywords: []Keyword{k}}
				g := Group{Match: All, Keywords: []Keyword{{Key: "page", Weight: 5}}, Groups: []Group{in}}
				if mode == Any {
					g = in
				}
				c, _, err := Compile(Profile{ID: "a", Group: g})
				if err != nil {
					continue // not every key may be looked for inside words
				}
				var x Index
				x.Add(c)
				text := textOf("title: java beans", "a page of java, beans and the grinder; C++ with node.js at AT&T in 東京都 now")
				want := slices.Collect(toldOfPlainPage(text, []Asking{{View: x.View(), Options: Options{Everyone: true}}}))
				for range 3 {
					if got := slices.Collect(x.Match(text, Options{Everyone: true})); !reflect.DeepEqual(got, want) {
						t.Errorf("%s %s of a group of kind %d: %+v, want %+v", kind, key, mode, got, want)
					}
				}
				short := kind == "substring" && key == "node.js" // js is looked for in every word
				if left := leftOut(x.View(), text); (left == 0) != short {
					t.Errorf("%s %s: %d words are left out", kind, key, left)
				}
			}
		}
	}
}
