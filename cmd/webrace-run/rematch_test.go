package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/xmlschema"
)

// TestRematchTellsWhatAPipelineTold watches a price that falls, leaves the page and comes back: by an element of the
// page, and by what the page states as data. Gone through again as they came, its versions give the annotations that
// the pipeline has made.
func TestRematchTellsWhatAPipelineTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	urds := these(
		w.asks("element", "/", func(u *xmlschema.URD) {
			u.Select = []xmlschema.Rule{{Language: xmlschema.RuleCSS, Text: "#price", When: "number < 100"}}
		}),
		w.asks("number", "/", lookingWhen(`{ ?offer schema:price ?n }`, "number < 100")),
		w.asks("offers", "/", lookingBy(xmlschema.RuleSPARQL, `{ ?offer schema:price ?n FILTER(?n < 100) }`)),
	)
	told := make(map[string][]int) // versions, by owner
	for _, price := range []int{120, 90, 0, 90, 95, 120, 95} {
		offer := ""
		if price > 0 {
			offer = fmt.Sprintf(`<b id=price>%d €</b><script type="application/ld+json">{"@context": "https://schema.org", "@type": "Offer", "@id": "#boat", "price": %[1]d}</script>`, price)
		}
		w.file("/", "text/html; charset=utf-8", []byte("<!DOCTYPE html><title>Boat</title><p>A boat is for sale.</p>"+offer))
		w.run(urds, askAll...)
		for _, aci := range w.acis() {
			told[aci.Owner] = append(told[aci.Owner], aci.Docbase.Version)
		}
	}
	for _, urd := range urds {
		want := []int{2, 5, 7} // in version 3 it is not there, which is no state; in version 6 it is too much, which is one
		if !slices.Equal(told[urd.Owner], want) {
			t.Errorf("%s is told of the versions %v, want %v", urd.Owner, told[urd.Owner], want)
		}
		var again []int
		for line := range strings.Lines(w.mustStore(cli.OK, "rematch", urd.Owner, "--all-versions", "--json")) {
			var would struct {
				Version int
				Told    string
			}
			if err := json.Unmarshal([]byte(line), &would); err != nil || would.Told != "told" {
				t.Errorf("%s: %v: %s", urd.Owner, err, line)
			}
			again = append(again, would.Version)
		}
		if !slices.Equal(again, told[urd.Owner]) {
			t.Errorf("%s would be told of the versions %v, and was of %v", urd.Owner, again, told[urd.Owner])
		}
	}
	said, _ := w.store("explain", w.URL+"/", "number")
	mustSay(t, said, "told of version 7", "it looks at what the page says as RDF: 1 block", `the number is 95, 95 was told or seen before: "number < 100" is met`)
	said, _ = w.store("why", w.URL+"/")
	mustSay(t, said, "webrace: fetched", "version 7 is stored")
}

// TestExplainSaysThatANumberWasWithheld holds that an owner is not said to have been told of what their
// budget kept back.
func TestExplainSaysThatANumberWasWithheld(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mustStore(cli.OK, "owner", "budget", "ann", "--alerts", "1")
	urds := these(w.asks("ann", "/", func(u *xmlschema.URD) {
		u.Select = []xmlschema.Rule{{Language: xmlschema.RuleCSS, Text: "#price", When: "number < 100"}}
	}))
	for _, price := range []int{120, 90, 80} {
		w.file("/", "text/html; charset=utf-8", fmt.Appendf(nil, "<!DOCTYPE html><title>Boat</title><p>It costs <b id=price>%d €</b>", price))
		w.run(urds, askAll...)
	}
	mustBe(t, "told", w.told(), "ann / 2: [\u2212120] «90» €")
	said, _ := w.store("explain", w.URL+"/", "ann")
	mustSay(t, said, "told of version 2", "no alert: it was withheld")
	if strings.Contains(said, "was told that number") {
		t.Errorf("the owner is said to have been told:\n%s", said)
	}
	w.file("/", "text/html; charset=utf-8", []byte("<!DOCTYPE html><title>Boat</title><p>It costs <b id=price>nothing</b>"))
	w.run(urds, askAll...)
	said, _ = w.store("explain", w.URL+"/", "ann")
	mustSay(t, said, "no alert: there is no number in what it selects")
}
