package selection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/htmltree"
)

// rules reads "css #x; -xpath //y": rules between semicolons, those with a minus ignore.
func rules(list string) (all []Rule) {
	for part := range strings.SplitSeq(list, "; ") {
		r := Rule{}
		part, r.Ignore = strings.CutPrefix(part, "-")
		language, text, _ := strings.Cut(part, " ")
		r.Language, r.Text = Language(language), text
		all = append(all, r)
	}
	return all
}

func open(t testing.TB, body, contentType string) *Document {
	t.Helper()
	r, err := extract.Document([]byte(body), contentType, "http://example.org/", extract.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return Open("http://a.example/", []byte(body), r.MediaType, r.Charset, r.Text)
}

// written is a text with its blocks between bars, and fields other than the body before theirs.
func written(t *webrace.Text) string {
	var parts []string
	for _, b := range t.Blocks {
		s := strings.Join(strings.Fields(string(t.Slice(b))), " ")
		if b.Field != webrace.FieldBody {
			s = b.Field.String() + ":" + s
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, "|")
}

func apply(t testing.TB, list string, d *Document) *Part {
	t.Helper()
	s, err := Compile(rules(list))
	if err != nil {
		t.Fatal(err)
	}
	part, err := s.Apply(context.Background(), d, NewBudget())
	if err != nil {
		t.Fatalf("%s: %v", list, err)
	}
	return part
}

const shop = `<!DOCTYPE html><title>Shop</title><nav><a href=/>Home</a> <a href=/new class=hot>New</a></nav>
<h1>The <em id=what>boat</em></h1><p id=price>Price: <b>120</b> €</p>
<p>Text un<b class=ad>Buy!</b>do <!-- no -->and <i class="x ad">more ads</i> more, 35 readers now, 17 readers
later.</p><div class=ad><p>An ad<div id=inner>within</div></div>
<table id=t><tr><th>Size<td>4 m<tr><th>Crew<td>2</table>
<ul><li>one<li>two<li>three</ul><pre>pre  formatted</pre><xmp>a <b> c</xmp><textarea>typed <i></textarea>
<template>hidden</template><script>var hidden</script><footer>Foot</footer>`

func TestParts(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"css #price":                            "Price: 120 €",
		"css #price b":                          "120",
		"css title":                             "title:Shop",
		"css #what":                             "heading:boat",
		"css nav a":                             "navigation:Home|navigation:New",
		"css #price; css h1":                    "heading:The boat|Price: 120 €",
		"css #price b; css body > p; -css .ad":  "Price: 120 €|Text un do and more, 35 readers now, 17 readers later.",
		"css .ad":                               "Buy!|more ads|An ad|within",
		"css .ad; -css #inner":                  "Buy!|more ads|An ad",
		"css .ad; css #inner":                   "Buy!|more ads|An ad|within",
		"css #nothing":                          "",
		"xpath //table[@id='t']//td":            "4 m|2",
		"xpath /html/body/table/tbody/tr[2]/td": "2",
		"css table > tbody > tr:nth-child(2)":   "Crew|2",
		"css li:nth-child(odd)":                 "one|three",
		"xpath //li[position() > 1]; -css li:last-child": "two",
		"xpath //nav/a/@href":                            "navigation:/|navigation:/new",
		"xpath //p[@id='price']/text()":                  "Price:|€",
		"xpath //title/text()":                           "title:Shop",
		`regex \d+ readers`:                              "35 readers|17 readers",
		`css #price; regex \d+`:                          "120",
		`css table; css #price; regex \d+; -regex ^4`:    "120|2",
		`css p; -regex \d+ readers \w+,?; -css .ad`:      "Price: 120 €|Text un do and more, .",
		"css xmp, textarea, pre":                         "pre formatted|a <b> c|typed <i>",
		"css template, script":                           "",
		"-css *":                                         "",
		"css html; -css nav, footer, .ad, table, ul, pre, xmp, textarea": "title:Shop|heading:The boat|Price: 120 €|Text un do and more, 35 readers now, 17 readers later.",
	} {
		want = strings.TrimSuffix(want, "|")
		if got := written(apply(t, list, open(t, shop, "text/html")).Text); got != want {
			t.Errorf("%s\n got %s\nwant %s", list, got, want)
		}
	}
}

func TestXML(t *testing.T) {
	t.Parallel()
	const feed = `<?xml version="1.0" encoding="iso-8859-1"?><rss xmlns:dc="d"><channel><title>News &amp; more</title><link>http://x/</link>
	<item><title>One</title><pubDate>Monday</pubDate><dc:creator>Eleni</dc:creator><description><![CDATA[<p>A <b>caf` + "\xe9" + `</b><p>open]]></description></item>
	<item><title>Two</title><pubDate>Tuesday</pubDate></item></channel></rss>`
	const page = `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>T</title><script/></head><body><h2>H</h2><p>un<b>do</b><i/> x<br/>y</p><p class="a">z</p></body></html>`
	for _, c := range []struct{ body, contentType, rules, want string }{
		{feed, "application/rss+xml", "xpath //item/title", "title:One|heading:Two"},
		{feed, "application/rss+xml", "xpath //item[1]", "title:One|Monday|Eleni|A café|open"},
		{feed, "text/xml", "xpath //item/title/text(); xpath //dc:creator", "title:One|Eleni|heading:Two"},
		{feed, "text/xml", "css item > pubDate", "Monday|Tuesday"},
		{feed, "text/xml", "-css item", "title:News & more"},
		{feed, "text/xml", "-xpath //pubDate; -xpath //description; -xpath //item[2]", "title:News & more|heading:One|Eleni"},
		{page, "application/xhtml+xml", "css h2, p", "heading:H|undo x|y|z"},
		{page, "application/xhtml+xml", "css p b; css p.a", "do|z"},
		{page, "application/xml", "xpath //p/text()", "un|x|y|z"},
		{page, "application/xhtml+xml", "-css b", "title:T|heading:H|un x|y|z"},
		{`<a><b n="1">x</b><b n="2">y</b></a`, "text/xml", "xpath //b[@n=2]/@n; xpath //b[1]", "x|2"},
	} {
		if got := written(apply(t, c.rules, open(t, c.body, c.contentType)).Text); got != c.want {
			t.Errorf("%s of %s\n got %s\nwant %s", c.rules, c.contentType, got, c.want)
		}
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	const (
		prose   = "the ferry leaves at ten in the morning unless\nthe wind of the north blows, and who waits\nhas to wait"
		records = "2026-11-28 ferry lost\n2026-11-29 ferry found"
	)
	for _, c := range []struct{ body, contentType, rules, want string }{
		{prose, "text/plain", "regex (?m)^.*$", "the ferry leaves at ten in the morning unless|the wind of the north blows, and who waits|has to wait"},
		{prose, "text/plain", "regex (?m)^.*wind.*$", "the wind of the north blows, and who waits"},
		{prose, "text/plain", "-regex (?mi)^.*WIND.*$", "the ferry leaves at ten in the morning unless has to wait"},
		{prose, "text/plain", `-regex unless\n`, "the ferry leaves at ten in the morning the wind of the north blows, and who waits has to wait"},
		{prose, "text/plain", "regex unless the wind.*wait$", "unless the wind of the north blows, and who waits has to wait"}, // lines are blanks to what does not ask
		{"<p>" + prose, "text/html", "regex (?m)^.*wind.*$", strings.ReplaceAll(prose, "\n", " ")},
		{"<p>a<pre>" + prose + "</pre>", "text/html", "regex (?m)^.*wind.*$", "the wind of the north blows, and who waits"},
		{"<p>a<pre>" + prose + "</pre>", "text/html", "css pre; regex (?m)^.*wind.*$", "the wind of the north blows, and who waits"},
		{records, "text/plain", "-regex found", "2026-11-28 ferry lost|2026-11-29 ferry"},
		{records, "text/plain", "regex (?m)^.*found$", "2026-11-29 ferry found"},
		{"<pre>" + records, "text/html", "-css b", "2026-11-28 ferry lost|2026-11-29 ferry found"},
	} {
		if got := written(apply(t, c.rules, open(t, c.body, c.contentType)).Text); got != c.want {
			t.Errorf("%s of %s\n got %s\nwant %s", c.rules, c.body, got, c.want)
		}
	}
}

func TestWhatIsNotShownIsSelectedByItsRuleAlone(t *testing.T) {
	t.Parallel()
	const page = "<p>a<div hidden><p id=x>b<p hidden>c<p>d</div><dialog>e</dialog><p>f<b style='" + "color:red;" + "display:none'>g</b>"
	long := strings.Replace(page, "color:red;", strings.Repeat("color:red;", 30), 1)
	for rules, want := range map[string]string{
		"css p":               "a|b|c|d|f",
		"css #x":              "b",
		"css div":             "b|d",
		"css dialog; css b":   "e|g",
		"css body; -css #x":   "a|f",
		"-css #x":             "a|f",
		"xpath //div/p[3]":    "d",
		"xpath //div/p/@id":   "x",
		"xpath //div//text()": "b|c|d",
	} {
		for _, body := range []string{page, long} {
			if got := written(apply(t, rules, open(t, body, "text/html")).Text); got != want {
				t.Errorf("%s\n got %s\nwant %s", rules, got, want)
			}
		}
	}
}

func TestRulesFindWhatLooksTheSame(t *testing.T) {
	t.Parallel()
	const page = "<p title='cafe\u0301'>le cafe\u0301\u200b est ou\u00advert<i>x</i></p><p>fermé"
	for _, c := range []struct{ body, contentType, rules, want string }{
		{page, "text/html", "regex café est ouvert", "le cafe\u0301\u200b est ou\u00advert"[3:]},
		{page, "text/html", "regex caf. e", "cafe\u0301\u200b e"},
		{page, "text/html", "-regex caf\u0065\u0301; -regex fermé", "le est ou\u00advertx"},
		{page, "text/html", "regex ferme\u0301", "fermé"},
		{page, "text/html", "regex [\u00ad\u200b]", ""},
		{page, "text/html", "xpath //p[contains(., 'café est ouvert')]/i; xpath //p[contains(., 'ferme\u0301')]", "x|fermé"},
		{page, "text/html", "xpath //p[@title = 'café']/i", "x"},
		{`{"a": "ou\u00advert"}`, "application/json", `jq select(.a == "ouvert").a`, "a: ou\u00advert"},
		{"le cafe\u0301", "text/plain", "regex café", "cafe\u0301"},
	} {
		if got := written(apply(t, c.rules, open(t, c.body, c.contentType)).Text); got != c.want {
			t.Errorf("%s of %s\n got %q\nwant %q", c.rules, c.body, got, c.want)
		}
	}
}

func TestWhatHasNoElements(t *testing.T) {
	t.Parallel()
	const body = "one 1\n\nwhat is longer than forty columns: two 2 words\nand 22\n\n3" // lines that run on
	for list, want := range map[string]string{
		"css p":                                  "",
		"-css p":                                 "one 1|what is longer than forty columns: two 2 words and 22|3",
		`regex \d+`:                              "1|2|22|3",
		`-regex \d`:                              "one|what is longer than forty columns: two words and",
		`regex \w+ \d; -regex o`:                 "ne 1|tw 2|and 2",
		`regex words and; -regex and; xpath //p`: "",
	} {
		if got := written(apply(t, list, open(t, body, "text/plain")).Text); got != want {
			t.Errorf("%s\n got %s\nwant %s", list, got, want)
		}
	}
	if part := apply(t, `css p; -regex x`, open(t, "%PDF-1.4", "application/pdf")); len(part.Text.Blocks) > 0 || len(part.Unmatched) != 2 {
		t.Errorf("%+v", part)
	}
}

func TestUnmatchedRulesAreNamed(t *testing.T) {
	t.Parallel()
	part := apply(t, `css #price; css #nothing; -css .ad; -xpath //video; regex \d+; -regex zebra`, open(t, shop, "text/html"))
	var got []string
	for _, r := range part.Unmatched {
		got = append(got, r.String())
	}
	if want := `select css "#nothing", ignore xpath "//video", ignore regex "zebra"`; strings.Join(got, ", ") != want {
		t.Errorf("%s", got)
	}
}

func TestEachOfSeveralRulesIsAPart(t *testing.T) {
	t.Parallel()
	for list, want := range map[string][]string{
		"css #price": nil,
		"css #price; -css b; regex Pri; regex €":     nil, // both look at what is chosen
		"css #price; xpath //em; -css b; regex \\w+": {"-css b; css #price; regex \\w+", "-css b; regex \\w+; xpath //em"},
		"regex a; regex b; -css p":                   {"-css p; regex a", "-css p; regex b"},
	} {
		s, err := Compile(rules(list))
		if err != nil {
			t.Fatal(err)
		}
		var got, keys []string
		for _, part := range s.Parts() {
			got = append(got, part.Key())
		}
		for _, part := range want {
			keys = append(keys, Key(rules(part)))
		}
		if !slices.Equal(got, keys) {
			t.Errorf("%s: %q, want %q", list, got, keys)
		}
	}
}

func TestWithoutRulesEverythingIsSelected(t *testing.T) {
	t.Parallel()
	s, err := Compile(nil)
	if s != nil || err != nil {
		t.Fatal(s, err)
	}
	d := open(t, shop, "text/html")
	if part, err := s.Apply(t.Context(), d, NewBudget()); err != nil || part.Text != d.text || part.Unmatched != nil {
		t.Error(part, err)
	}
}

func TestRulesThatAreNoneAreRefusedWithAReason(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		"css ":                               "it is empty",
		"css div >":                          "at character 6: a selector is missing at the end",
		"css a,,b":                           `at character 3: a selector cannot begin with ","`,
		"css #1a":                            `at character 2: the name of an id cannot begin with a digit: write \31 and a blank`,
		"css a[":                             "at character 3: the name of an attribute is missing",
		"css a[b?c]":                         "a ] or one of =",
		"css a[b=c d]":                       `a ']' is missing after [`,
		"css a[b=\"c]":                       "a string is not closed",
		"css p:frist-child":                  `at character 2: there is no pseudo-class :frist-child (did you mean ":first-child"?)`,
		"css p:contains('x')":                "xpath has contains()",
		"css p::before":                      "a pseudo-element is no part of a page",
		"css p:nth-child(x)":                 `"x" is not of the form 2n+1`,
		"css p:not(a":                        `a ')' is missing after :not(`,
		"css p:has(a b":                      `at character 10: a ')' is missing after :has(`,
		"css p:has(> > b)":                   `at character 9: a selector cannot begin with ">"`,
		"css p:nth-child(1 2)":               "at character 15: a ')' is missing after :nth-child(",
		"css p:nth-child(2 of)":              `at character 17: a selector cannot begin with ")"`,
		"css p:nth-of-type(2 of b)":          "at character 17: a ')' is missing after :nth-of-type(",
		"css p:nth-child(+ 1)":               `"+ 1" is not of the form 2n+1`,
		"css p:nth-child(2000000)":           "2000000 is too large a number",
		"css p:lang()":                       "the name of a value",
		"css p:lang(*-CH)":                   `a range of languages with * stands in quotes`,
		"css p:is(a, ::b)":                   "at character 10: a pseudo-element is no part of a page",
		"css p:is()":                         `at character 6: a selector cannot begin with ")"`,
		"css p:any-lnik":                     `did you mean ":any-link"?`,
		"css p:hover":                        "there is no pseudo-class :hover",
		"css é }":                            `at character 3: a selector cannot begin with "}"`,
		"css " + strings.Repeat(":not(", 20): "nested more than 16 deep",
		"css " + strings.Repeat("a", 1025):   "longer than 1024 characters",
		"css \xff":                           "not valid UTF-8",
		"xpath //a[":                         "a [ is not closed",
		"xpath count(//a)":                   "it gives a value, not a part of the page",
		"xpath 'x'":                          "it gives a value",
		"xpath //a[contians(.,'')]":          "did you mean",
		"regex (":                            "missing closing )",
		"regex (?<=x)y":                      "invalid named capture",
		"regex (\\pL{100}){10}":              "it is too costly",
		"html p":                             "\"html\" is not css, xpath, jq, sparql, regex or part",
	} {
		_, err := Compile(rules(rule))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "compile select ") {
			t.Errorf("%s: %v, want %s", rule, err, want)
		}
	}
	if _, err := Compile(make([]Rule, MostRules+1)); err == nil || !strings.Contains(err.Error(), "65 rules are more than 64") {
		t.Error(err)
	}
}

func TestCostlyRulesEndWithTheBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("a lot to compute, and nobody beside it: not in short mode")
	}
	t.Parallel()
	deep := strings.Repeat("<div>", 400) + strings.Repeat("<p>x<p>y", 5000)
	for _, c := range []struct{ rule, body string }{
		{"xpath //*[count(preceding::*) > count(following::*)]", deep},
		{"regex a.*z|a", strings.Repeat("a", 1<<20)},
	} {
		s, err := Compile(rules(c.rule))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = s.Apply(t.Context(), open(t, c.body, "text/html"), NewBudget()); !errors.Is(err, ErrBudget) {
			t.Errorf("%s: %v", c.rule, err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err = s.Apply(ended, open(t, c.body, "text/html"), NewBudget()); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", c.rule, err)
		}
	}
	// what tries all ways elsewhere is cheap here
	part := apply(t, "css "+strings.Repeat("div ", 12)+"video; css div p:nth-child(77)", open(t, deep, "text/html"))
	if written(part.Text) != "x" {
		t.Error(written(part.Text))
	}
}

func TestDocumentsHaveALimit(t *testing.T) {
	t.Parallel()
	s, _ := Compile(rules("css p"))
	for _, body := range []string{strings.Repeat("x", htmltree.MaxInput+1), strings.Repeat("<p>", htmltree.MaxNodes+1)} {
		for _, mediaType := range []string{"text/html", "text/xml"} {
			if _, err := s.Apply(t.Context(), Open("http://a.example/", []byte(body), mediaType, "utf-8", nil), NewBudget()); !errors.Is(err, htmltree.ErrTooLarge) {
				t.Errorf("%s: %v", mediaType, err)
			}
		}
	}
}

func TestHostileDocumentsAreTakenApartInTheirLength(t *testing.T) {
	if testing.Short() {
		t.Skip("a lot to compute, and nobody beside it: not in short mode")
	}
	t.Parallel()
	repeated := func(s string) string { return strings.Repeat(s, 100_000/len(s)) }
	var attributes strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&attributes, " a%d=x", i)
	}
	pages := map[string]string{
		"misnested": "<p>" + strings.Repeat("<b><i><u>", 150) + repeated("<p>x</p>"),
		"stray":     strings.Repeat("<span>", 500) + repeated("x</q>"),
		"roots":     repeated("<html a=b><html c=d>"),
		"many roots": func() string {
			var b strings.Builder
			for i := range 30_000 {
				fmt.Fprintf(&b, "<html a%d=x>", i)
			}
			return b.String()
		}(),
		"attributes": "<a" + attributes.String() + ">x</a>",
		"deep":       repeated("<div>"),
		"foreign":    "<svg><desc>" + repeated("<g>x"),
		"tables":     repeated("<table><td>"),
		"headings":   repeated("<h1>x<h2>"),
		"words":      repeated("ab "),
	}
	for name, page := range pages {
		for _, list := range []string{"css :root; -css q", "xpath //@*; xpath //a; regex a; -regex b", "-css [a1][a2] > *, p ~ p"} {
			s, err := Compile(rules(list))
			if err != nil {
				t.Fatal(err)
			}
			for _, mediaType := range []string{"text/html", "text/xml"} {
				part, err := s.Apply(t.Context(), open(t, page, mediaType), NewBudget())
				if err != nil && !errors.Is(err, ErrBudget) {
					t.Errorf("%s, %s: %v", name, list, err)
				}
				if err == nil {
					mustBeSound(t, part.Text)
				}
			}
		}
	}
}

func TestASelectionIsAppliedByManyAtOnce(t *testing.T) {
	t.Parallel()
	s, err := Compile(rules(`css #price, nav a; xpath //td[position() = last()] | //li[2]; sparql { VALUES ?v { 1 2 3 } BIND(CONCAT(STR(?v), "x") AS ?w) FILTER(REGEX(?w, "x$")) }; regex \w+; -regex o; -css .ad; -xpath //li[last()]`))
	if err != nil {
		t.Fatal(err)
	}
	first, err := s.Apply(t.Context(), open(t, shop, "text/html"), NewBudget())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 30 {
				part, err := s.Apply(t.Context(), open(t, shop, "text/html"), NewBudget())
				if err != nil || written(part.Text) != written(first.Text) {
					t.Errorf("%q, not %q: %v", written(part.Text), written(first.Text), err)
				}
			}
		})
	}
	wg.Wait()
}
