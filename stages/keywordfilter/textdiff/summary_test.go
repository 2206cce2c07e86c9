package textdiff

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/webrace/webrace"
)

func textOf(blocks ...string) *webrace.Text {
	t := new(webrace.Text)
	for _, b := range blocks {
		start := int32(len(t.Bytes))
		t.Bytes = append(t.Bytes, b...)
		t.Blocks = append(t.Blocks, webrace.Block{Start: start, End: int32(len(t.Bytes))})
	}
	return t
}

func TestASummarySaysWhatCameAndWhatWent(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word after word ", 20)
	for name, c := range map[string]struct {
		old, now []string
		added    []bool
		want     string
	}{
		"nothing":            {old: []string{"a", "b"}, now: []string{"a", "b"}},
		"white space":        {old: []string{" a  long\tline "}, now: []string{"a long line", ""}},
		"moved":              {old: []string{"one", "two", "three"}, now: []string{"three", "one", "two"}},
		"repeated":           {old: []string{"one", "two"}, now: []string{"one", "two", "one"}},
		"a block came":       {old: []string{"one", "three"}, now: []string{"one", "two", "three"}, want: "«two»"},
		"a block went":       {old: []string{"one", "two", "three"}, now: []string{"one", "three"}, want: "[−two]"},
		"a word":             {old: []string{"the price is 12 euro"}, now: []string{"the price is 15 euro"}, want: "the price is [−12] «15» euro"},
		"words in a row":     {old: []string{"it is cold and wet today"}, now: []string{"it is warm, dry today"}, want: "it is [−cold and wet] «warm, dry» today"},
		"a word came":        {old: []string{"a house by the sea"}, now: []string{"a white house by the sea"}, want: "a «white» house by the sea"},
		"a word went":        {old: []string{"a white house by the sea"}, now: []string{"a house by the sea"}, want: "a [−white] house by the sea"},
		"the last word":      {old: []string{"we are open"}, now: []string{"we are closed"}, want: "we are [−open] «closed»"},
		"a price":            {old: []string{"now € 1.234,50 net"}, now: []string{"now € 1.199,50 net"}, want: "now € [−1.234,50] «1.199,50» net"},
		"a price grows":      {old: []string{"it costs CHF 1"}, now: []string{"it costs CHF 1’200.50"}, want: "it costs CHF [−1] «1’200.50»"},
		"an end is no part":  {old: []string{"we have 3."}, now: []string{"we have 4."}, want: "we have [−3] «4»."},
		"within a word":      {old: []string{"release v1.2 is out"}, now: []string{"release v1.3 is out"}, want: "release v1.[−2] «3» is out"},
		"another text":       {old: []string{"all is well"}, now: []string{"the bridge fell"}, want: "[−all is well] «the bridge fell»"},
		"far apart":          {old: []string{"old " + long + "old"}, now: []string{"new " + long + "new"}, want: "[−old] «new» word after word word after word word after word … word after word word after word word after word [−old] «new»"},
		"what came is first": {old: []string{"gone", "stays"}, now: []string{"stays", "new"}, want: "«new» · [−gone]"},
		"an edit among others": {
			old: []string{"first", "we close at 9 pm", "last"}, now: []string{"first", "a new entry", "we close at 8 pm", "last"},
			want: "«a new entry» · we close at [−9] «8» pm",
		},
		"known from before": {old: []string{"stays"}, now: []string{"flaps", "stays", "new"}, added: []bool{false, false, true}, want: "«new»"},
		"a short text":      {old: []string{"10 €"}, now: []string{"13 €"}, want: "[−10] «13» €"},
		"a blank":           {old: []string{"tea,milk"}, now: []string{"tea, milk"}, want: "tea, milk"},
		"Greek":             {old: []string{"η τιμή είναι δώδεκα ευρώ"}, now: []string{"η τιμή είναι δεκαπέντε ευρώ"}, want: "η τιμή είναι [−δώδεκα] «δεκαπέντε» ευρώ"},
	} {
		t.Run(name, func(t *testing.T) {
			got, changed := Summary(textOf(c.old...), textOf(c.now...), c.added, 300)
			if got != c.want || changed != (c.want != "") {
				t.Errorf("got %q %v, want %q", got, changed, c.want)
			}
		})
	}
	if got, _ := Summary(nil, textOf("known", "new"), []bool{false, true}, 300); got != "«new»" {
		t.Errorf("without an old text: %q", got)
	}
}

func TestASummaryHasRoomForSeveralChanges(t *testing.T) {
	t.Parallel()
	long := strings.TrimSpace(strings.Repeat("long winded ", 40))
	for _, c := range []struct {
		size     int
		old, now []string
		want     string
	}{
		{80, nil, []string{long}, "«long winded long winded long winded long winded long winded long winded…»"},
		{100, nil, []string{long, long + " again", "short"}, "«long winded long winded…» · «long winded long winded…» · «short»"},
		{60, []string{long}, []string{"in short"}, "[−long winded…] «in short»"},
		{40, nil, []string{"the first entry", "the second entry", "the third entry"}, "«the first entry» · …"},
		{8, nil, []string{"the first entry"}, "the firs"},
		{8, []string{"the first entry"}, nil, "the firs"},
	} {
		got, changed := Summary(textOf(c.old...), textOf(c.now...), nil, c.size)
		if got != c.want || !changed || len(got) > c.size {
			t.Errorf("in %d bytes: %q, want %q", c.size, got, c.want)
		}
	}
}

func TestAHugeBlockIsSummarizedToo(t *testing.T) {
	t.Parallel()
	start, end := strings.Repeat("same as ever ", 100_000), strings.Repeat(" and so on", 100_000)
	ever, soOn := "… as ever same as ever same as ever same as ever ", " and so on and so on and so on and so on and so …"
	east := strings.Repeat("東", 16)
	for name, c := range map[string]struct{ old, now, want string }{
		"a word":          {start + "old" + end, start + "new" + end, ever + "[−old] «new»" + soOn},
		"at its end":      {start, start + "and new", ever + "«and new»"},
		"without a blank": {strings.Repeat(east, 5000) + "京", strings.Repeat(east, 5000) + "都", "… " + east + "[−" + east + east[:18] + "京] «" + east + east[:18] + "都»"},
		"much":            {start + end, start + strings.Repeat("more ", 10_000) + end, ever + "«" + strings.Repeat("more ", 47) + "more…»"},
		"in two places":   {"old " + start + "old" + end, "new " + start + "new" + end, "[−old] «new» same as ever same as ever same as ever same as …"},
		"all of it":       {strings.Repeat("a b ", 100_000), strings.Repeat("b a ", 100_000), "[−a] " + strings.Repeat("b a ", 12) + "…"},
	} {
		got, _ := Summary(textOf(c.old), textOf(c.now), nil, 300)
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// FuzzSummary holds that a summary has the size asked for, is valid, closes what it opens, and is there if
// and only if one text has a block that the other has not.
func FuzzSummary(f *testing.F) {
	f.Add("one\ntwo two three\nthree", "one\ntwo five three\nfour", uint16(100))
	f.Add("a b c d e f g", "a x c y e z g", uint16(30))
	f.Add("東京都 は", "東京 は\n\xff", uint16(9))
	f.Fuzz(func(t *testing.T, old, now string, size uint16) {
		a, b := strings.Split(old, "\n"), strings.Split(now, "\n")
		got, changed := Summary(textOf(a...), textOf(b...), nil, int(size))
		if len(got) > int(size) || !utf8.ValidString(got) {
			t.Fatalf("%q in %d bytes", got, size)
		}
		differ := false
		x, y := keys(units(textOf(a...), nil, nil)), keys(units(textOf(b...), nil, nil))
		inX, inY := setOf(append(x, "")), setOf(append(y, ""))
		for text := range inX {
			differ = differ || !inY[text]
		}
		for text := range inY {
			differ = differ || !inX[text]
		}
		if changed != differ || changed && size > 8 && got == "" || !changed && got != "" {
			t.Fatalf("%q and %q: %q, changed %v", old, now, got, changed)
		}
		if !strings.ContainsAny(old+now, "«»[]−") && (strings.Count(got, "«") != strings.Count(got, "»") || strings.Count(got, "[−") != strings.Count(got, "]")) {
			t.Fatalf("%q is not closed", got)
		}
	})
}

func TestHostileCutsAreNoChanges(t *testing.T) {
	t.Parallel()
	cut := func(blocks ...string) *webrace.Text {
		text := textOf(blocks...)
		text.Cut = true
		return text
	}
	for _, c := range []struct {
		old, now *webrace.Text
		want     string
	}{
		{cut("one", "two", "three"), cut("two", "three", "four"), "[−one]"},
		{cut("one", "two", "three"), cut("new", "one", "two"), "«new»"},
		{textOf("one", "two", "three"), cut("one", "two"), ""},
		{textOf("one", "two"), cut("one", "two", "three"), "«three»"},
		{cut("one"), cut("two"), "[−one] «two»"},
	} {
		if got, changed := Summary(c.old, c.now, nil, 100); got != c.want || changed != (c.want != "") {
			t.Errorf("%q, %v, want %q", got, changed, c.want)
		}
	}
}

func TestWhatLooksTheSameIsNoChange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, now, want string }{
		{"Le café est ouvert", "Le cafe\u0301 est ouvert", ""},
		{"The ferry sails", "The fer\u00adry sails\u200b", ""},
		{"Le café coûte 4 euros", "Le cafe\u0301 cou\u0302te 5 euros", "Le cafe\u0301 cou\u0302te [−4] «5» euros"},
		{"The ferry sails at ten", "The fer\u00adry sails at nine", "The fer\u00adry sails at [−ten] «nine»"},
	} {
		if got, changed := Summary(textOf(c.old), textOf(c.now), nil, 100); got != c.want || changed != (c.want != "") {
			t.Errorf("%q to %q: %q (%v), want %q", c.old, c.now, got, changed, c.want)
		}
	}
}
