package match

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/htmltext"
)

var postgresPages = flag.Int("pages", 6, "how many pages of the documentation of PostgreSQL are matched in every way")

// On real pages crowds, and few who are asked beside them, are told what each of them is who is asked alone of a
// page of which every word was made ready; and that is what the oracle finds.
func TestEveryWayToAskAgreesOnPagesOfPostgreSQL(t *testing.T) {
	t.Parallel()
	texts := pagesOfPostgreSQL(t, orInShort(*postgresPages, 2))
	var words []string
	for _, text := range texts {
		words = append(words, foldedWords(string(text.Bytes))...)
	}
	random := rand.New(rand.NewPCG(15, 16))
	random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	l := newLanguage(random, words)
	if pairs, told := crowdsAgainstOneByOne(t, l.groups(orInShort(600, 100)), texts); told < pairs/20 {
		t.Errorf("%d pairs, of which %d alert, prove too little", pairs, told)
	}
	fewAgainstEveryone(t, l, 20, texts)
	compare(t, l.groups(20), texts)
}

// pagesOfPostgreSQL returns so many pages, evenly spread.
func pagesOfPostgreSQL(t *testing.T, most int) (texts []*webrace.Text) {
	t.Helper()
	files, _ := filepath.Glob("/usr/share/doc/postgresql-doc-15/html/*.html")
	if len(files) == 0 {
		t.Skip("the Debian package postgresql-doc-15 is not installed")
	}
	most = min(most, len(files))
	for i := range most {
		page, err := os.ReadFile(files[i*len(files)/most])
		if err != nil {
			t.Fatal(err)
		}
		var s htmltext.Scanner
		s.Scan(page)
		texts = append(texts, &s.Text)
	}
	return texts
}

// crowdsAgainstOneByOne matches the pages with several crowds at a time, of which the last is asked by name, and
// returns how many pairs it compared, and how many of them alerted.
func crowdsAgainstOneByOne(t *testing.T, groups []wantedGroup, texts []*webrace.Text) (pairs, told int) {
	t.Helper()
	var crowds [3]Index
	profiles := make([]*Compiled, len(groups))
	for i := range groups {
		profiles[i] = compile(t, profileOf(i, &groups[i]))
		crowds[i%3].Add(profiles[i])
	}
	for n, text := range texts {
		added, last := inventLast(n, text, texts)
		asked := make([]Asking, len(crowds))
		for i := range asked {
			asked[i] = Asking{View: crowds[i].View(), Options: Options{
				Everyone: true, Seen: int64((n + i) % 4), Distance: (n + i) % 5, SeenDistance: n % 7, Unchanged: n%2 == 0, Added: added, Last: last, Summary: 100,
			}}
		}
		asked[1].Added = nil
		asked[2].Everyone, asked[2].Recipients = false, []Recipient{{idOf(2), true}, {idOf(5), false}, {idOf(8), n%2 == 0}}
		want := map[string]Alert{}
		for i, c := range profiles {
			if alert, alerts := askedAlone(c, text, &asked[i%3].Options); alerts {
				want[c.ID()] = alert
			}
		}
		got := map[string]Alert{}
		for alert := range Match(text, asked...) {
			if _, twice := got[alert.ID]; twice {
				t.Fatalf("page %d: %s is told of twice", n, alert.ID)
			}
			got[alert.ID] = alert
		}
		for i, c := range profiles {
			if got, want := got[c.ID()], want[c.ID()]; !reflect.DeepEqual(got, want) {
				t.Fatalf("page %d: profile %+v\nis told  %+v\nand alone %+v", n, groups[i], got, want)
			}
		}
		pairs, told = pairs+len(profiles), told+len(want)
	}
	return pairs, told
}

// askedAlone is the alert that a page gives rise to for one profile, whatever words it has.
func askedAlone(c *Compiled, text *webrace.Text, o *Options) (a Alert, alerts bool) {
	among, concerned := o.shows(c)
	if !o.Everyone {
		concerned = false
		for _, to := range o.Recipients {
			if to.ID == c.ID() {
				among, concerned = extentOf(to.OnlyAdded), true
			}
		}
	}
	p := newPage().open(text, o.Added, o.Last)
	defer p.close()
	if v := p.judge(c, among); concerned && v.reason == Alerts {
		return p.alert(c, v, o.Summary), true
	}
	return Alert{}, false
}
