package explain

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/xmlschema"
)

// page makes a document of HTML at a URL.
func page(t *testing.T, url, html string) *webrace.Document {
	t.Helper()
	r, err := extract.Document([]byte(html), "text/html; charset=utf-8", "http://a.example/", extract.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &webrace.Document{URL: url, Body: []byte(html), MediaType: r.MediaType, Charset: r.Charset, Language: r.Language, Text: r.Text}
}

// asking makes a URD of any crawl.
func asking(id string, change func(*xmlschema.URD), keys ...string) *xmlschema.URD {
	u := xmlschema.NewURD("eleni", "*")
	u.ID = id
	var words []xmlschema.Keyword
	for _, key := range keys {
		words = append(words, xmlschema.Keyword{Key: key, Weight: 5})
	}
	u.Keywords = xmlschema.NewKeywords(words...)
	if change != nil {
		change(u)
	}
	return u
}

func selecting(css, when string) func(*xmlschema.URD) {
	return func(u *xmlschema.URD) {
		u.Select = []xmlschema.Rule{{Language: xmlschema.RuleCSS, Text: css, When: when}}
	}
}

func TestATrialHasThoseThatAlertFirst(t *testing.T) {
	t.Parallel()
	d := page(t, "http://a.example/", "<title>Boats</title><p>A boat, and <b id=price>12 €</b>.<p>The ferry leaves at nine, and a boat at ten.<p>Nothing.")
	before := *d
	before.Body, before.Text = slices.Clone(d.Body), &webrace.Text{Bytes: slices.Clone(d.Text.Bytes), Blocks: slices.Clone(d.Text.Blocks)}
	trial, err := Try(context.Background(), d, "", []*xmlschema.URD{
		asking("sail", nil, "sail"),
		asking("dear", selecting("#price", "number > 20")),
		asking("ferry", nil, "ferry"),
		asking("boat", nil, "boat", "ferry"),
		asking("cheap", selecting("#price", "number < 20")),
		asking("never", selecting("#never", ""), "boat"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(*d, before) {
		t.Error("the document is changed")
	}
	var order []string
	for i, w := range trial.Scores {
		order = append(order, w.ID)
		if w.Alerts() != (i < trial.Alerting()) || w.Alerts() != (w.Summary != "" && !w.Unmet) {
			t.Errorf("%s is at %d, alerts %t, of %d, summary %q", w.ID, i, w.Alerts(), trial.Alerting(), w.Summary)
		}
		if (w.Condition != "") != (w.Number() != nil) || (w.Selected != nil) != w.Selects() {
			t.Errorf("%s: condition %q, selected %v", w.ID, w.Condition, w.Selected)
		}
		if next := i + 1; next < trial.Alerting() && w.Relevance < trial.Scores[next].Relevance {
			t.Errorf("%s is before what is more relevant", w.ID)
		}
	}
	if trial.Alerting() != 3 || len(order) != 6 || slices.Index(order, "boat") > slices.Index(order, "ferry") {
		t.Errorf("%d alert of %q", trial.Alerting(), order)
	}
	for _, w := range trial.Scores {
		switch w.ID {
		case "dear":
			if !w.Unmet || w.Alerts() || !strings.Contains(w.Condition, "the number is 12") {
				t.Errorf("a number that is not met: %+v", w)
			}
		case "never":
			if !slices.Equal(w.Remarks, []string{`select css "#never" matches nothing`}) || len(w.Selected.Text.Blocks) > 0 {
				t.Errorf("a rule that matches nothing: %q, %+v", w.Remarks, w.Selected)
			}
		}
	}
	if got, want := found(&trial.Whole), []string{"Boats", "boat", "ferry", "boat"}; !slices.Equal(got, want) {
		t.Errorf("%q is marked, want %q", got, want)
	}
}

// found returns what is marked, block by block.
func found(v *MarkedText) (all []string) {
	for _, block := range v.Text.Blocks {
		for _, m := range v.MarksIn(block) {
			all = append(all, string(v.Text.Bytes[m.Start:m.End]))
		}
	}
	return all
}

// What is selected is marked by who selects it alone.
func TestATrialMarksWhatEachLooksAt(t *testing.T) {
	t.Parallel()
	d := page(t, "", "<p>boat<p id=here>ferry boat")
	trial, err := Try(context.Background(), d, "", []*xmlschema.URD{asking("part", selecting("#here", ""), "boat"), asking("whole", nil, "ferry")})
	if err != nil {
		t.Fatal(err)
	}
	if got := found(&trial.Whole); !slices.Equal(got, []string{"ferry"}) {
		t.Errorf("the whole: %q", got)
	}
	part := trial.Scores[slices.IndexFunc(trial.Scores, func(w Score) bool { return w.ID == "part" })].Selected
	if got := found(part); !slices.Equal(got, []string{"boat"}) || string(part.Text.Bytes) != "ferry boat" {
		t.Errorf("the part: %q of %q", got, part.Text.Bytes)
	}
}

func TestATrialSaysWhichCrawlsDoNotCome(t *testing.T) {
	t.Parallel()
	at := func(uri string) *xmlschema.URD {
		return asking("u", func(u *xmlschema.URD) { u.URI = uri }, "boat")
	}
	for _, c := range []struct{ uri, asked, url, want string }{
		{"http://a.example/", "", "http://a.example/page", ""},
		{"http://a.example/", "", "http://b.example/", "outside the scope"},
		{"http://a.example/", "http://a.example/", "http://b.example/", ""}, // its start leads there
		{"http://a.example/", "http://a.example/other", "http://b.example/", "outside the scope"},
		{"http://a.example/", "", "", ""}, // a document of nowhere
		{"http://a.example/news/*", "", "http://a.example/news/1", ""},
		{"http://a.example/news/*", "", "http://a.example/old/1", "does not lie under"},
		{"*", "", "http://b.example/", ""},
	} {
		trial, err := Try(context.Background(), page(t, c.url, "<p>boat"), c.asked, []*xmlschema.URD{at(c.uri)})
		if err != nil {
			t.Fatal(err)
		}
		w := trial.Scores[0]
		if (c.want == "") != (w.Astray == "") || !strings.Contains(w.Astray, c.want) || !w.Alerts() {
			t.Errorf("%+v: %q, alerts %t", c, w.Astray, w.Alerts())
		}
	}
}

func TestATrialEnds(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(context.Background())
	end()
	d := page(t, "", "<p id=here>boat")
	if _, err := Try(ended, d, "", []*xmlschema.URD{asking("part", selecting("#here", ""), "boat")}); !errors.Is(err, context.Canceled) {
		t.Errorf("when the context has ended: %v", err)
	}
	if _, err := Try(context.Background(), d, "", []*xmlschema.URD{asking("part", selecting("p[", ""), "boat")}); err == nil {
		t.Error("a URD that cannot be matched is no error")
	}
	trial, err := Try(context.Background(), d, "", nil)
	if err != nil || len(trial.Scores) != 0 || trial.Alerting() != 0 || trial.Whole.Text != d.Text {
		t.Errorf("without URDs: %+v, %v", trial, err)
	}
}

// TestPiecesAreTheBlock holds that what is cut is put together again, however marks overlap, and that nothing which was
// found is left out of an excerpt.
func TestPiecesAreTheBlock(t *testing.T) {
	t.Parallel()
	far := strings.Repeat("weather ", 100)
	for _, text := range []string{"", "boat", "a boat", "boat house boat", far + "boat house" + far, "é" + strings.Repeat("é", 500) + " boat " + strings.Repeat("é", 1000) + " house"} {
		v := &MarkedText{Text: &webrace.Text{Bytes: []byte("before " + text + " after")}}
		block := webrace.Block{Start: int32(len("before ")), End: int32(len("before ") + len(text))}
		v.Text.Blocks = []webrace.Block{{Start: 0, End: 6}, block}
		words := 0
		for _, key := range []string{"boat house", "boat", "house", "house"} {
			for at := 0; ; {
				i := strings.Index(text[at:], key)
				if i < 0 {
					break
				}
				start := int(block.Start) + at + i
				v.Marks = append(v.Marks, match.Mark{Start: start, End: start + len(key), Keyword: key})
				at += i + len(key)
			}
		}
		slices.SortStableFunc(v.Marks, func(a, b match.Mark) int {
			if a.Start != b.Start {
				return a.Start - b.Start
			}
			return b.End - a.End
		})
		var whole, excerpt string
		for _, p := range v.Pieces(block, true) {
			whole += p.Text
			if p.Keyword != "" {
				words++
			}
		}
		if whole != text {
			t.Errorf("%.40q: the pieces are %.40q", text, whole)
		}
		for _, p := range v.Pieces(block, false) {
			excerpt += p.Text
			if p.Keyword != "" {
				words--
			} else if len(p.Text) > 2*around+len(" … ") {
				t.Errorf("%.40q: %d bytes stand between", text, len(p.Text))
			}
		}
		if words != 0 || strings.ToValidUTF8(excerpt, "") != excerpt {
			t.Errorf("%.40q: %d more are found in the whole than in %q", text, words, excerpt)
		}
	}
}

func TestAnExcerptHasWhatWasFoundAndItsNeighbours(t *testing.T) {
	t.Parallel()
	many := "x|" + strings.Repeat("boat|x|x|", mostMatching+1) + "x"
	for text, want := range map[string][]int{
		"":                  nil,
		"x":                 {0},
		"x|x|x|x|x":         {0, 1, 2},
		"x|x|x|boat|x|x":    {2, 3, 4},
		"boat|x|x|x|x|boat": {0, 1, 4, 5},
		"x|boat|boat|x|x":   {0, 1, 2, 3},
	} {
		v := boats(text)
		if got := v.Excerpt(); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if got := boats(many).Excerpt(); len(got) != 3*mostMatching || got[len(got)-1] != 3*mostMatching-1 {
		t.Errorf("of many: %v", got)
	}
}

// boats makes a text of blocks between bars, in which each boat is marked.
func boats(text string) *MarkedText {
	v := &MarkedText{Text: blocks(text)}
	for i := range text {
		if strings.HasPrefix(text[i:], "boat") {
			v.Marks = append(v.Marks, match.Mark{Start: i, End: i + len("boat"), Keyword: "boat"})
		}
	}
	return v
}
