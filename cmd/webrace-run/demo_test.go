package main

import (
	"bytes"
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/webrace-run/demosite"
	"github.com/webrace/webrace/storage/control"
	"go.uber.org/goleak"
)

// visitDemo runs the demo over a site and returns what it printed, and how many annotations each owner
// has then.
func visitDemo(t *testing.T, data, base string) (printed string, told map[string]int) {
	t.Helper()
	var out bytes.Buffer
	c := &cobra.Command{}
	c.SetContext(context.Background())
	c.SetOut(&out)
	c.SetErr(&out)
	if err := runDemo(c, data, base, runFlags{set: []string{"frontier.fresh=0s"}}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	store, closeDir := openControl(t, data)
	defer closeDir()
	told = make(map[string]int)
	for aci, err := range store.ACIs(context.Background(), control.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		told[aci.Owner]++
	}
	return out.String(), told
}

func TestDemoTellsThreeOwnersDifferentThings(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	site := demosite.New()
	server := httptest.NewServer(site)
	defer server.Close()
	printed, told := visitDemo(t, t.TempDir(), server.URL)
	for owner, least := range map[string]int{"eleni": 5, "costas": 3, "maria": 5} {
		if told[owner] < least {
			t.Errorf("%s was told of %d pages, want at least %d", owner, told[owner], least)
		}
	}
	for _, want := range []string{"eleni was told of", "why: ", "404 Not Found", "410 Gone", "refused by robots.txt", "webrace-store --data"} {
		if !strings.Contains(printed, want) {
			t.Errorf("the demo does not print %q:\n%s", want, printed)
		}
	}
	requests, asked := site.Requests(), 0
	for _, page := range site.Pages() {
		asked += requests[page]
		if requests[page] > 1 {
			t.Errorf("%s was asked for %d times", page, requests[page])
		}
	}
	if requests["/private/"] != 0 || asked < 40 {
		t.Errorf("%d pages were asked for, among them /private/ %d times", asked, requests["/private/"])
	}
}

func TestOnlyWhomAnEditConcernsIsToldOfIt(t *testing.T) {
	site := demosite.New()
	server := httptest.NewServer(site)
	defer server.Close()
	data := t.TempDir()
	_, before := visitDemo(t, data, server.URL)
	if _, again := visitDemo(t, data, server.URL); !same(before, again) {
		t.Fatalf("a second visit of a site that did not change told an owner: %v, then %v", before, again)
	}

	if !site.Edit("/port/timetable.html", func(page string) string {
		return strings.Replace(page, "</main>", "<p>Because of the storm, every ferry of the timetable stays in port. A storm like this was never seen.</p></main>", 1)
	}) {
		t.Fatal("the site has no such page")
	}
	_, after := visitDemo(t, data, server.URL)
	if after["eleni"] != before["eleni"]+1 || after["costas"] != before["costas"] || after["maria"] != before["maria"] {
		t.Errorf("told before %v, after a storm in the timetable %v: want one more for eleni alone", before, after)
	}

	site.Edit("/council/budget.html", func(page string) string {
		return strings.Replace(page, "</main>", "<p>The reserve grows by a tenth.</p></main>", 1)
	})
	before = after
	if _, after = visitDemo(t, data, server.URL); after["maria"] != before["maria"]+1 || after["eleni"] != before["eleni"] || after["costas"] != before["costas"] {
		t.Errorf("told before %v, after a change of the budget %v: want one more for maria alone", before, after)
	}
}

func same(a, b map[string]int) bool {
	for owner, n := range a {
		if b[owner] != n {
			return false
		}
	}
	return len(a) == len(b)
}
