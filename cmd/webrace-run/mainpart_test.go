package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/webrace/webrace/xmlschema"
)

// Who selects the main part of a page is told of what changes there, and of nothing beside it; nor does cache diff
// --main show that.
func TestTheMainPartAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	edition := func(beside, sails string) {
		const prose = "<p>The harbour is open to all, and those who come early find a place for their car and a coffee to go with it.</p>"
		w.file("/", "text/html", fmt.Appendf(nil, `<title>Ferry</title><div class="sidebar"><p>%s</p></div><article><h2>Ferries</h2>%s<p>%s</p></article>`,
			beside, strings.Repeat(prose, 4), sails))
	}
	urds := []*xmlschema.URD{
		w.asks("all", "/", anything),
		w.asks("main", "/", anything, lookingBy(xmlschema.RulePart, "main")),
	}
	diff := func(flags ...string) (string, error) {
		return webraceStore(append([]string{"--data", w.data, "cache", "diff", w.URL + "/"}, flags...)...)
	}
	edition("Tea is 3 euro.", "It sails at nine.")
	w.run(urds)
	w.told()

	edition("Tea is 4 euro.", "It sails at nine.")
	w.run(urds, askAll...)
	mustBe(t, "told of what is beside the main part", w.told(), "all / 2: Tea is [−3] «4» euro.")
	if said, err := diff("--main"); err != nil || said != "" {
		t.Errorf("cache diff --main: %v\n%s", err, said)
	}
	if said, err := diff(); err == nil || !strings.Contains(said, "+Tea is 4 euro.") {
		t.Errorf("cache diff: %v\n%s", err, said)
	}

	edition("Tea is 5 euro.", "It sails at ten.")
	w.run(urds, askAll...)
	mustBe(t, "told of both", w.told(), "all / 3: Tea is [−4] «5» euro. · It sails at [−nine] «ten».", "main / 3: It sails at [−nine] «ten».")
	if said, err := diff("--main"); err == nil || !strings.Contains(said, "+It sails at ten.") || strings.Contains(said, "Tea") {
		t.Errorf("cache diff --main: %v\n%s", err, said)
	}

	w.file("/", "text/html", []byte("<title>Ferry</title><ul><li>Fares: 6 euro.</ul>"))
	w.run(urds, askAll...)
	if said, err := diff("--main"); err == nil || !strings.Contains(said, "no part of version 4 stands out as what a reader comes for: all of it is compared\n") || !strings.Contains(said, "+Fares") || strings.Contains(said, "version 3 stands") {
		t.Errorf("cache diff --main of a page without a main part: %v\n%s", err, said)
	}
	if _, err := diff("--main", "--raw"); err == nil || !strings.Contains(err.Error(), "give one of them") {
		t.Errorf("cache diff --main --raw: %v", err)
	}
}
