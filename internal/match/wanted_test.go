package match

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
)

// Few who are asked are told what they are told among everyone, for whom every word of a page is made ready.
func TestFewRecipientsAreToldWhatTheyAreAmongEveryone(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 10))
	l := newLanguage(random, inventWords(random, 600))
	var texts []*webrace.Text
	for range 20 {
		texts = append(texts, l.page())
	}
	told := fewAgainstEveryone(t, l, 150, texts)
	words, texts := writtenLanguages(t, random)
	told += fewAgainstEveryone(t, newLanguage(random, words), 150, texts)
	if told < 500 {
		t.Errorf("%d alerts prove too little", told)
	}
}

func TestFewRecipientsAreToldWhatTheyAreAmongEveryoneOnRealPages(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	texts := realPages(t, 20)
	var words []string
	for _, text := range texts {
		words = append(words, foldedWords(string(text.Bytes))...)
	}
	rand.New(rand.NewPCG(11, 12)).Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	if told := fewAgainstEveryone(t, newLanguage(rand.New(rand.NewPCG(13, 14)), words), 100, texts); told < 100 {
		t.Errorf("%d alerts prove too little", told)
	}
}

// writtenLanguages returns words of all languages, and pages of which most are in several.
func writtenLanguages(t *testing.T, random *rand.Rand) (words []string, texts []*webrace.Text) {
	t.Helper()
	files, err := filepath.Glob("../analyze/testdata/languages/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no texts in the languages: ", err)
	}
	var paragraphs []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		paragraphs = append(paragraphs, strings.Split(strings.TrimSpace(string(text)), "\n")...)
		words = append(words, foldedWords(string(text))...)
	}
	random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	for range 20 {
		text := new(webrace.Text)
		for range 1 + random.IntN(8) {
			start := int32(len(text.Bytes))
			text.Bytes = append(text.Bytes, paragraphs[random.IntN(len(paragraphs))]...)
			text.Blocks = append(text.Blocks, webrace.Block{Start: start, End: int32(len(text.Bytes)), Field: webrace.Field(random.IntN(fields))})
		}
		texts = append(texts, text)
	}
	return words, texts
}

// fewAgainstEveryone compares all that is told of the pages to few with what is told to everyone, and with what a page
// that is not confined to their words tells them. It returns how many alerts there are.
func fewAgainstEveryone(t *testing.T, l *language, profiles int, texts []*webrace.Text) (told int) {
	t.Helper()
	x, _ := indexed(t, l.groups(profiles))
	x.Add(compile(t, Profile{ID: idOf(profiles)})) // for any change
	for n, text := range texts {
		o := Options{Everyone: true, Seen: int64(n % 4), Summary: 40 + n%100}
		o.Added, o.Last = inventLast(n, text, texts)
		everyone := byID(x.Match(text, o))
		for i := 0; i <= profiles; i++ {
			few := o
			few.Everyone = false
			for range 1 + l.IntN(3) {
				few.Recipients = append(few.Recipients, Recipient{ID: idOf(l.IntN(profiles))})
			}
			few.Recipients = append(few.Recipients, Recipient{ID: idOf(i)})
			slices.SortFunc(few.Recipients, func(a, b Recipient) int { return strings.Compare(a.ID, b.ID) })
			few.Recipients = slices.Compact(few.Recipients)
			want := map[string]Alert{}
			for j, to := range few.Recipients {
				among, _ := o.shows(x.Profile(to.ID))
				few.Recipients[j].OnlyAdded = among == additions
				if alert, alerted := everyone[to.ID]; alerted {
					want[to.ID] = alert
				}
			}
			if got := byID(x.Match(text, few)); !reflect.DeepEqual(got, want) {
				t.Fatalf("%+v of %+v\npage %q\ngot  %+v\nwant %+v", few.Recipients, x.Profile(idOf(i)), text.Bytes, got, want)
			}
			told += len(want)
			mustSayTheSame(t, x.Profile(idOf(i)), text, few)
		}
	}
	return told
}

// mustSayTheSame compares Explain and Marks.
func mustSayTheSame(t *testing.T, c *Compiled, text *webrace.Text, o Options) {
	t.Helper()
	at := slices.IndexFunc(o.Recipients, func(to Recipient) bool { return to.ID == c.ID() })
	p := newPage().open(text, o.Added, o.Last)
	defer p.close()
	among := extentOf(o.Recipients[at].OnlyAdded)
	if got, want := Explain(c, text, o), p.explain(c, p.judge(c, among)); !reflect.DeepEqual(got, want) {
		t.Fatalf("page %q\nexplained as %+v\nwant %+v", text.Bytes, got, want)
	}
	var want []Mark
	for _, f := range p.found(c, everything) {
		want = append(want, Mark{int(f.from), int(f.to), c.atoms[f.atom].written})
	}
	if got := Marks(c, text); !reflect.DeepEqual(got, want) {
		t.Fatalf("page %q\nmarks %+v\nwant %+v", text.Bytes, got, want)
	}
}
