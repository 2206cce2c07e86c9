package match

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/webrace/webrace"
)

// Who is told only what is new of a feed is told what each profile finds of one whose words were all made ready, though
// those of old entries are not: few who ask, everyone, and both.
func TestOracleOfFeedsOfWhichOnlyWhatIsNewIsMadeReady(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(21, 22))
	l := newLanguage(random, inventWords(random, 600))
	var texts []*webrace.Text
	for range 30 {
		texts = append(texts, l.page())
	}
	told := onlyWhatIsNew(t, l, texts, orInShort(300, 60))
	words, texts := writtenLanguages(t, random)
	told += onlyWhatIsNew(t, newLanguage(random, words), texts, orInShort(300, 60))
	if told < orInShort(500, 100) {
		t.Errorf("%d alerts prove too little", told)
	}
	t.Logf("%d alerts, 0 differences", told)
}

func onlyWhatIsNew(t *testing.T, l *language, texts []*webrace.Text, profiles int) (told int) {
	t.Helper()
	x := new(Index)
	for i, group := range l.groups(profiles) {
		p := profileOf(i, &group)
		p.Change, p.Levels = ChangeAdded, 0
		x.Add(compile(t, p))
	}
	x.Add(compile(t, Profile{ID: idOf(profiles)})) // for any change
	for n, text := range texts {
		feed := inventFeed(n, text, texts)
		everyone := Options{Everyone: true, Seen: 9, Added: feed.added, Last: feed.last, Summary: 40 + n%100}
		few := everyone
		few.Everyone = false
		for range 20 {
			few.Recipients = append(few.Recipients, Recipient{ID: idOf(l.IntN(profiles + 1)), OnlyAdded: true})
		}
		for _, all := range [][]Asking{
			{{View: x.View(), Options: everyone}}, {{View: x.View(), Options: few}},
			{{View: x.View(), Options: few}, {View: x.View(), Options: everyone}},
		} {
			for i := range all {
				if all[i].looksAtAll() {
					t.Fatal("somebody is shown all of the feed")
				}
			}
			got, want := byID(Match(feed.text, all...)), byID(toldOfPlainPage(feed.text, all))
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%d who ask of feed %q\ngot  %+v\nwant %+v", len(all), text.Bytes, got, want)
			}
			told += len(want)
		}
	}
	return told
}
