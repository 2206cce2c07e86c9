package main

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/webrace/webrace/xmlschema"
)

func selecting(css string) func(*xmlschema.URD) {
	return func(u *xmlschema.URD) { u.Select = []xmlschema.Rule{{Language: xmlschema.RuleCSS, Text: css}} }
}

func ignoring(css, regex string) func(*xmlschema.URD) {
	return func(u *xmlschema.URD) {
		u.Ignore = []xmlschema.Rule{{Language: xmlschema.RuleCSS, Text: css}, {Language: xmlschema.RuleRegex, Text: regex}}
	}
}

// A shop whose clock, counter and advertisement change on every visit is watched for its price.
func TestAShopIsWatchedForItsPrice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	visits := 0
	shop := func(price string) {
		w.handle("/", func(out http.ResponseWriter, r *http.Request) {
			visits++
			serveDocument(out, r, fmt.Appendf(nil, `<title>Boat</title><p>At 12:%02d the boat costs <b id=price>%s</b>; %d have seen it.
				<div class=ad>Buy lamp number %d</div><p>A fine boat.`, visits, price, 1000+visits, visits))
		})
	}
	urds := these(
		w.asks("price", "/", selecting("#price")),
		w.asks("rest", "/", ignoring(".ad", `12:\d+|\d+ have seen it`)),
		w.asks("lamps", "/", about("lamp"), ignoring(".ad", "x")),
		w.asks("gone", "/", selecting("#gone")),
	)
	shop("10 €")
	w.run(urds)
	mustBe(t, "told at first", w.news(), "price /", "rest /")
	for range 3 {
		w.run(urds, askAll...)
		mustBe(t, "told of a clock, a counter and an advertisement", w.news())
	}
	shop("12 €")
	w.run(urds, askAll...)
	acis := w.acis()
	if len(acis) != 2 || acis[0].Docbase.Version != 5 {
		t.Fatalf("told %v", acis)
	}
	for _, aci := range acis {
		if want := map[string]string{"price": "[−10] «12» €", "rest": "At the boat costs [−10] «12» €; ."}[aci.Owner]; aci.Summary != want {
			t.Errorf("%s is told %q, want %q", aci.Owner, aci.Summary, want)
		}
	}
	w.run(urds, askAll...)
	mustBe(t, "told again", w.news())
}
