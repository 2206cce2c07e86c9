package selection

import (
	"context"
	"testing"
)

func TestRangesOfLanguages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		within, language string
		want             bool
	}{
		{"de", "de", true}, {"de", "de-AT", true}, {"de", "deu", false}, {"de", "", false}, {"de", "x-de", false},
		{"de-DE", "de-DE", true}, {"de-de", "de-Latn-DE", true}, {"de-DE", "de-Latn-DE-1996", true}, {"de-DE", "de-DE-x-goethe", true},
		{"de-DE", "de-x-DE", false}, {"de-DE", "de", false}, {"de-DE", "de-Deva", false}, {"de-*-DE", "de-DE", true}, {"de-*", "de", true},
		{"*-CH", "de-CH", true}, {"*-ch", "fr-Latn-CH", true}, {"*-CH", "ch", false}, {"*", "en", true}, {"*", "", false},
		{"", "", true}, {"", "de", false}, {"zh-x-foo", "zh-Hant-x-foo", true}, {"zh-foo", "zh-x-foo", false}, {"de-", "de", false},
	} {
		if got := inRange(c.language, c.within); got != c.want {
			t.Errorf("%q in %q: %v", c.language, c.within, got)
		}
	}
}

// What Level 4 and the HTML standard require beyond what browsers do, and what random pages do not reach.
func TestSelectorsOfLevel4(t *testing.T) {
	t.Parallel()
	const page = `<!doctype html><meta http-equiv=content-language content=" el  x"><p>α</p>
<div lang=de-Latn-AT><p>a</p><p lang="">none</p></div><p lang=fr-CH class=x>c</p><p class=X TYPE=Radio>r</p><p> </p>`
	const feed = `<rss xml:lang="en"><item lang="de"><title>One</title><dc:title>Two</dc:title></item><item xml:lang="de"><title>Three</title></item></rss>`
	for _, c := range []struct{ body, rule, want string }{
		{page, `css p:lang("*-AT", 'fr')`, "a|c"},
		{page, `css p:lang("")`, "none"},
		{page, `css p:lang(el)`, "α|r"},
		{page, `css p:lang("*"):not(:lang(el, de))`, "c"},
		{page, `css p[type=RADIO]`, "r"},
		{page, `css p[type=RADIO s]`, ""},
		{page, `css p[class=X S]`, "r"},
		{page, `css p.x`, "c"},
		{page, `css p:has(+ :empty)`, "r"},
		{page, `css div:has(> p + p), :has(+ p.X)`, "a|none|c"},
		{page, `css p:nth-last-child(2 of p:not(:empty))`, "a|c"},
		{page, `css body:has(~ p.X, [lang=""]) > .x`, "c"},
		{page, "css p[lang='fr-\\\nCH']", "c"},
		{page[len("<!doctype html>"):], `css p.x`, "c|r"},
		{feed, `css title:lang(en)`, "title:One|Two"},
		{feed, `css title:lang(de)`, "title:Three"},
		{feed, `css title:first-of-type`, "title:One|Two|heading:Three"},
	} {
		contentType := "text/html"
		if c.body == feed {
			contentType = "text/xml"
		}
		if got := written(apply(t, c.rule, open(t, c.body, contentType)).Text); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.rule, got, c.want)
		}
	}
}

func TestScopeIsThePartThatIsSearched(t *testing.T) {
	t.Parallel()
	d := open(t, `<ul><li>1<ul><li>2</ul><li>3</ul>`, "text/html")
	search, err := NewSearch(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	count := func(selector string, within Found) []Found {
		f, err := NewFinder(CSS, selector)
		if err != nil {
			t.Fatal(err)
		}
		found, err := search.Find(f, within)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	list := count(":scope > body > ul", Found{})
	if len(list) != 1 {
		t.Fatal(list)
	}
	if items := count(":scope > li", list[0]); len(items) != 2 || len(count(":scope > ul > li", items[0])) != 1 || len(count(":scope > ul > li", items[1])) != 0 {
		t.Error(items)
	}
	if all := count("ul > li", list[0]); len(all) != 3 {
		t.Error(all)
	}
}

func TestOldPagesAreInQuirksMode(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]bool{
		"<!doctype html>": false, " \n<!-- x --><!DOCTYPE HTML>": false, "<!DOCTYPE html SYSTEM 'about:legacy-compat'>": false,
		`<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">`:                       false,
		`<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd"><p>`: false,
		"": true, "<p>": true, "x<!doctype html>": true, "<!doctype>": true, "<!doctype svg>": true,
		`<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN">`:             true,
		`<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">`:     true,
		`<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN" "x">`: false,
	} {
		if got := inQuirksMode([]byte(page)); got != want {
			t.Errorf("%s: %v", page, got)
		}
	}
}
