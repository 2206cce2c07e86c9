package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

func TestAnEditedPageIsToldOnceToWhomItConcernsWithWhatWasAddedAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "an old paragraph about tea", "another about milk")
	urds := these(w.asks("ann", "/", about("tea")), w.asks("bob", "/", about("milk")), w.asks("eve", "/", about("sugar")))
	w.run(urds)
	mustBe(t, "told at first", w.news(), "ann /", "bob /")

	w.page("/", "an old paragraph about tea", "a new one about sugar", "a new paragraph about tea", "another about milk")
	w.run(urds, askAll...)
	acis := w.acis()
	if len(acis) != 2 {
		t.Fatalf("%d were told, want ann and eve: %v", len(acis), acis)
	}
	summaries := map[string]string{"ann": "a new paragraph about «tea»", "eve": "a new one about «sugar»"}
	for _, aci := range acis {
		if aci.Summary != summaries[aci.Owner] {
			t.Errorf("%s was told %q, want %q", aci.Owner, aci.Summary, summaries[aci.Owner])
		}
		if aci.Docbase.Version != 2 {
			t.Errorf("%s was pointed to version %d, want 2", aci.Owner, aci.Docbase.Version)
		}
	}
	w.run(urds, askAll...)
	mustBe(t, "told again", w.news())
}

func TestScopeOfChangeSaysWhatOfAnEditedPageIsMatched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	change := func(c string) func(*xmlschema.URD) { return func(u *xmlschema.URD) { u.Change = c } }
	urds := these(
		w.asks("added", "/", about("tea", "sugar"), change(xmlschema.ChangeAdded)),
		w.asks("page", "/", about("tea", "sugar"), change(xmlschema.ChangePage)),
		w.asks("first", "/", about("tea", "sugar"), change(xmlschema.ChangeFirst)),
	)
	w.page("/", "tea")
	w.run(urds)
	mustBe(t, "told at first", w.news(), "added /", "page /", "first /")
	w.page("/", "tea", "sugar")
	w.run(urds, askAll...)
	for _, aci := range w.acis() {
		var hits []string
		for _, k := range aci.Explain.Keywords {
			if k.Body > 0 {
				hits = append(hits, k.Key)
			}
		}
		want := map[string]string{"added": "tea sugar", "page": "tea sugar"}[aci.Owner]
		if got := strings.Join(hits, " "); got != want {
			t.Errorf("%s was told of %q, want %q", aci.Owner, got, want)
		}
	}
}

func TestTheSameTextIsNotToldAgainWhenItComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	urds := these(w.asks("ann", "/", about("tea"), remembering(5)))
	for i := range 5 {
		paragraphs := []string{fmt.Sprintf("edition %d", i)}
		if i == 0 || i == 4 {
			paragraphs = append(paragraphs, "tea is served")
		}
		w.page("/", paragraphs...)
		w.run(urds, askAll...)
		if i == 0 {
			mustBe(t, "told at first", w.news(), "ann /")
		}
	}
	mustBe(t, "told when the text came back", w.news())
}

func TestAFewWordsAreToldForEachPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "start", "/company/1", "/company/2")
	w.page("/company/1", "tea is served")
	w.page("/company/2", "tea is served")
	w.run(these(w.asks("ann", "/", depth(2), about("tea"))))
	mustBe(t, "told", w.news(), "ann /company/1", "ann /company/2")
}

func TestImportingTheSameRequestsAgainAlertsNobodyTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "tea is served")
	anonymous := func() []*xmlschema.URD { return these(w.asks("ann", "/", about("tea", "milk"), id(""))) }
	w.run(anonymous())
	mustBe(t, "told at first", w.news(), "ann /")
	again := anonymous()
	again[0].LastCheck = time.Now()
	words := again[0].Keywords.Keywords
	words[0], words[1] = words[1], words[0]
	w.run(again, askAll...)
	mustBe(t, "told again", w.news())

	store, closeDir := openControl(t, w.data)
	defer closeDir()
	n := 0
	for _, err := range store.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 1 {
		t.Errorf("%d URDs are stored, want 1", n)
	}
}

func TestAnAlertIsKnownByItsRequestItsInterestAndTheTextThatMatched(t *testing.T) {
	t.Parallel()
	first := []string{"a page about tea"}
	edited := []string{"a page about tea", "and, since lately, about milk"}
	for name, c := range map[string]struct {
		change func(*xmlschema.URD)
		told   bool
	}{
		"keywords":        {about("tea", "milk", "page"), true},
		"threshold":       {func(u *xmlschema.URD) { u.Keywords.Threshold = 1 }, true},
		"scope of change": {func(u *xmlschema.URD) { u.Change = xmlschema.ChangePage }, true},
		"urgency":         {urgency(3), false},
		"timing":          {every(time.Hour), false},
		"nothing":         {func(*xmlschema.URD) {}, false},
	} {
		w := newWorld(t)
		for _, edition := range [][]string{first, edited} {
			w.page("/", edition...)
			w.run(these(w.asks("ann", "/", about("tea", "milk"))), askAll...)
			mustBe(t, name+": told of an edition", w.news(), "ann /")
		}
		w.run(these(w.asks("ann", "/", about("tea", "milk"), c.change)), askAll...)
		if told := len(w.news()) > 0; told != c.told {
			t.Errorf("%s changed: told again %v, want %v", name, told, c.told)
		}
	}
}

func TestOnAnUnchangedDocumentOnlyChangedRequestsAreMatched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "tea, milk and sugar")
	ann, bob := w.asks("ann", "/", about("tea")), w.asks("bob", "/", about("coffee"))
	w.run(these(ann, bob))
	mustBe(t, "told at first", w.news(), "ann /")
	report := w.reported(these(ann, w.asks("bob", "/", about("sugar"))), askAll...)
	mustBe(t, "told of the changed interest", w.news(), "bob /")
	if n := report.Stages["keyword-filter"].Counters["matched"]; n != 1 {
		t.Errorf("%d requests were matched, want that of bob alone", n)
	}
	if report.NotModified != 1 {
		t.Errorf("%d documents were not modified, want 1", report.NotModified)
	}
}

// The second round finds only one of the two pages changed, and its annotation points to the new version.
func TestAnAnnotationPointsToTheVersionItWasMadeOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "tea", "/child")
	w.page("/child", "tea in the kitchen")
	urds := these(w.asks("ann", "/", depth(2), about("tea"), urgency(2)))
	w.run(urds)
	w.acis()
	w.page("/child", "tea in the kitchen", "tea in the garden")
	w.run(urds, askAll...)
	versions := w.versions("/child")
	acis := w.acis()
	if len(acis) != 1 || len(versions) != 2 {
		t.Fatalf("%d annotations of %d versions, want 1 of 2", len(acis), len(versions))
	}
	want := control.ACI{ACI: &xmlschema.ACI{URI: w.URL + "/child", URD: "ann", Urgency: 2,
		Docbase: xmlschema.Docbase{Digest: versions[1].Digest.String(), Version: 2, Since: 1}}}
	got := acis[0]
	got.Docbase.Matched = 0
	if got.URI != want.URI || got.URD != want.URD || got.Urgency != want.Urgency || got.Docbase != want.Docbase {
		t.Errorf("got %+v, want %+v", got.ACI, want.ACI)
	}
}
