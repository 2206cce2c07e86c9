package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/xmlschema"
)

// shopSays are a shop's offers, of a chair at a price among others that stay the same, in each of the syntaxes that a
// document may state them in. The visit is there as well, and decides which offer comes first.
var shopSays = map[string]func(w *world, visit, price int){
	"/jsonld": func(w *world, visit, price int) {
		w.file("/jsonld", "text/html; charset=utf-8", fmt.Appendf(nil, `<!DOCTYPE html><title>Shop</title><p>Visitor %d</p>
<script type="application/ld+json">{"@context": "https://schema.org", "@graph": [%s]}</script>`, visit, turned(visit, ",",
			`{"@type": "Offer", "@id": "#bench", "name": "Bench", "price": 150}`,
			fmt.Sprintf(`{"@type": "Offer", "@id": "#chair", "name": "Chair", "price": %d}`, price),
			`{"@type": "Demand", "@id": "#lamp", "name": "Lamp", "price": 40}`)))
	},
	"/microdata": func(w *world, visit, price int) {
		item := func(id, kind, name string, price int) string {
			return fmt.Sprintf(`<div itemscope itemtype="https://schema.org/%s" itemid="#%s"><b itemprop=name>%s</b> <data itemprop=price value="%d.00">a price</data></div>`, kind, id, name, price)
		}
		w.file("/microdata", "text/html; charset=utf-8", fmt.Appendf(nil, "<!DOCTYPE html><title>Shop</title><p>Visitor %d</p>%s", visit, turned(visit, "\n",
			item("bench", "Offer", "Bench", 150), item("chair", "Offer", "Chair", price), item("lamp", "Demand", "Lamp", 40))))
	},
	"/rdfa": func(w *world, visit, price int) {
		item := func(id, kind, name string, price int) string {
			return fmt.Sprintf(`<p typeof="%s" resource="#%s"><b property=name>%s</b> <b property=price datatype="xsd:integer">%d</b></p>`, kind, id, name, price)
		}
		w.file("/rdfa", "text/html; charset=utf-8", fmt.Appendf(nil, "<!DOCTYPE html><title>Shop</title><p>Visitor %d</p><div vocab='http://schema.org/'>%s</div>", visit, turned(visit, "\n",
			item("bench", "Offer", "Bench", 150), item("chair", "Offer", "Chair", price), item("lamp", "Demand", "Lamp", 40))))
	},
	"/shop.ttl": func(w *world, visit, price int) {
		w.file("/shop.ttl", "text/turtle", fmt.Appendf(nil, "@prefix s: <http://schema.org/>.\n# visitor %d\n%s", visit, turned(visit, "\n",
			`<#bench> a s:Offer; s:name "Bench"; s:price 150 .`, fmt.Sprintf(`<#chair> a s:Offer; s:name "Chair"; s:price %d.0 .`, price),
			`<#lamp> a s:Demand; s:name "Lamp"; s:price 40 .`)))
	},
	"/shop.rdf": func(w *world, visit, price int) {
		item := func(id, kind, name string, price int) string {
			return fmt.Sprintf(`<%s r:about="#%s"><name>%s</name><price r:datatype="http://www.w3.org/2001/XMLSchema#double">%de0</price></%[1]s>`, kind, id, name, price)
		}
		w.file("/shop.rdf", "application/rdf+xml", fmt.Appendf(nil, `<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://schema.org/"><!-- visitor %d -->%s</r:RDF>`, visit, turned(visit, "\n",
			item("bench", "Offer", "Bench", 150), item("chair", "Offer", "Chair", price), item("lamp", "Demand", "Lamp", 40))))
	},
}

// turned are some texts, another one of which comes first at each visit.
func turned(visit int, between string, all ...string) string {
	first := visit % len(all)
	return strings.Join(append(all[first:len(all):len(all)], all[:first]...), between)
}

func lookingWhen(rule, when string) func(*xmlschema.URD) {
	return func(u *xmlschema.URD) {
		u.Select = []xmlschema.Rule{{Language: xmlschema.RuleSPARQL, Text: rule, When: when}}
	}
}

// TestQuadInterest watches the price of a chair by what a shop states as RDF: whom prices below 100 concern is told
// when there is a new one, of that offer alone, in whichever syntax it is stated.
func TestQuadInterest(t *testing.T) {
	if testing.Short() {
		t.Skip("six crawls: not in short mode")
	}
	t.Parallel()
	const offer = `{ ?offer a schema:Offer ; schema:name ?name ; schema:price ?n FILTER(?n < %d) }`
	const text = `{ ?offer a schema:Offer ; schema:name ?name ; schema:price ?n FILTER(xsd:decimal(?n) < %d) }` // of Microdata a price is a text
	w := newWorld(t)
	oracle := &quadOracle{world: w}
	oracle.watch("below200", "/jsonld", fmt.Sprintf(offer, 200))
	var urds []*xmlschema.URD
	for path := range shopSays {
		rule := fmt.Sprintf(offer, 100)
		if path == "/microdata" {
			rule = fmt.Sprintf(text, 100)
		}
		oracle.watch("below100", path, rule)
		urd := w.asks("below100", path, lookingBy(xmlschema.RuleSPARQL, rule))
		urd.ID += strings.ReplaceAll(path, "/", ".")
		urds = append(urds, urd)
	}
	urds = append(urds,
		w.asks("below200", "/jsonld", lookingBy(xmlschema.RuleSPARQL, fmt.Sprintf(offer, 200))),
		w.asks("chairs", "/jsonld", about("chair"), lookingBy(xmlschema.RuleSPARQL, fmt.Sprintf(offer, 200))),
		w.asks("lamps", "/jsonld", about("lamp"), lookingBy(xmlschema.RuleSPARQL, fmt.Sprintf(offer, 200))),
		w.asks("when", "/jsonld", lookingWhen(`SELECT ?n { <`+w.URL+`/jsonld#chair> schema:price ?n }`, "number < 100")),
		w.asks("text", "/microdata", lookingWhen(`{ ?offer schema:name "Chair" ; schema:price ?n }`, "number < 100")),
		w.asks("costly", "/jsonld", lookingBy(xmlschema.RuleSPARQL, `{ ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o . ?p ?q ?r FILTER(STR(?a) = CONCAT(STR(?r), "x")) }`)),
	)
	for visit, price := range []int{120, 90, 90, 95, 120, 80} {
		for _, says := range shopSays {
			says(w, visit, price)
		}
		oracle.visit()
		w.start(urds, askAll...).mustExit(cli.OK)
		told := make(map[string]int)
		for _, aci := range w.acis() {
			told[aci.Owner]++
			plain := strings.NewReplacer("«", "", "»", "").Replace(aci.Summary)
			oracle.alert(aci.Owner, aci.URI)
			switch {
			case strings.Contains(plain, "Lamp"), visit > 0 && strings.Contains(plain, "Bench"):
				t.Errorf("visit %d: %s is told of another offer: %s", visit+1, aci.Owner, plain)
			case aci.Owner == "below100" && !strings.Contains(plain, "#chair · name: Chair · n: "),
				visit > 0 && !strings.Contains(plain, fmt.Sprint(price)): // the first time, all of the part is new
				t.Errorf("visit %d: %s is told %q of %s", visit+1, aci.Owner, plain, aci.URI)
			}
		}
		below := len(shopSays)
		want := []map[string]int{
			{"below200": 1, "chairs": 1},
			{"below100": below, "below200": 1, "chairs": 1, "when": 1, "text": 1},
			{},
			{"below100": below, "below200": 1, "chairs": 1, "when": 1, "text": 1},
			{"below200": 1, "chairs": 1},
			{"below100": below, "below200": 1, "chairs": 1, "when": 1, "text": 1},
		}[visit]
		if fmt.Sprint(told) != fmt.Sprint(want) {
			t.Errorf("visit %d: told %v, want %v", visit+1, told, want)
		}
	}
	t.Run("as rdflib answers", oracle.compare)
	said, _ := webraceStore("--data", w.data, "explain", w.URL+"/jsonld", "below100")
	mustSay(t, said, "told of version 2 at", "told of version 4 at", "told of version 6 at", "it looks at what the page says as RDF: 1 block")
	said, _ = webraceStore("--data", w.data, "explain", w.URL+"/jsonld", "costly")
	mustSay(t, said, "no alert: its part of the page cannot be looked at", "select sparql", "need more steps on this document than an owner may take")
	said, _ = webraceStore("--data", w.data, "explain", w.URL+"/jsonld", "lamps")
	mustSay(t, said, "no alert")
}

// What is missing from a document that breaks off is not taken for gone: no one is told of it, and when it is whole
// again, of nothing that was told before.
func TestQuadInterestInDocumentsThatBreak(t *testing.T) {
	if testing.Short() {
		t.Skip("four crawls: not in short mode")
	}
	t.Parallel()
	w := newWorld(t)
	urds := these(w.asks("ann", "/shop.ttl", lookingBy(xmlschema.RuleSPARQL, `{ ?offer schema:price ?n FILTER(?n < 100) }`)),
		w.asks("bob", "/shop.ttl", lookingWhen(`{ ?offer schema:price ?n }`, "number < 100")))
	for visit, v := range []struct {
		body string
		told []string
	}{
		{`<#a> schema:price 90 .`, []string{"ann /shop.ttl 1: offer: " + w.URL + "/shop.ttl#a · n: 90", "bob /shop.ttl 1: offer: " + w.URL + "/shop.ttl#a · n: 90"}},
		{`<#a> schema:price 85 . <#b> schema:price`, nil},
		{`<#a> schema:price 90 . # again`, nil},
		{`<#a> schema:price 90 . <#b> schema:price 70 .`, []string{"ann /shop.ttl 4: «offer: " + w.URL + "/shop.ttl#b · n: 70»"}},
	} {
		w.file("/shop.ttl", "text/turtle", []byte("@prefix schema: <http://schema.org/>.\n"+v.body))
		w.start(urds, askAll...).mustExit(cli.OK)
		mustBe(t, fmt.Sprintf("told at visit %d", visit+1), w.told(), v.told...)
		said, _ := webraceStore("--data", w.data, "explain", w.URL+"/shop.ttl", "ann")
		if visit == 1 {
			mustSay(t, said, "no alert: its part of the page cannot be looked at", "what the document says as RDF cannot be read", "line 2")
		}
	}
}
