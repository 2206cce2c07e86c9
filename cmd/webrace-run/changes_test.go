package main

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/xmlschema"
)

// scenario is a site that changes from visit to visit, and what is told of it.
type scenario struct {
	urds    func(w *world) []*xmlschema.URD
	visits  []visit
	options []string // of the runs
}

// visit is what the site has at each path when the crawler comes, as the body of a page; a path without a
// body answers with 404 from then on. What is not mentioned is as it was. Told are the annotations that are
// new then, sorted, as "owner path version: summary".
type visit struct {
	pages map[string]string
	told  []string
}

// at is a visit to a site whose only page has this body.
func at(body string, told ...string) visit { return visit{map[string]string{"/": body}, told} }

func (s scenario) play(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	urds := s.urds(w)
	for i, v := range s.visits {
		for path, body := range v.pages {
			if body == "" {
				w.status(path, http.StatusNotFound)
				continue
			}
			w.handle(path, func(rw http.ResponseWriter, r *http.Request) {
				serveDocument(rw, r, []byte("<!DOCTYPE html><title>News</title>\n"+body))
			})
		}
		w.run(urds, append(s.options, askAll...)...)
		mustBe(t, fmt.Sprintf("told at visit %d", i+1), w.told(), v.told...)
	}
}

// told returns what was told since the last call, sorted.
func (w *world) told() (all []string) {
	w.t.Helper()
	for _, aci := range w.acis() {
		all = append(all, fmt.Sprintf("%s %s %d: %s", aci.Owner, strings.TrimPrefix(aci.URI, w.URL), aci.Docbase.Version, aci.Summary))
	}
	slices.Sort(all)
	return all
}

// asking makes a list of the same request of several owners, each with a change to it.
func asking(path string, owners map[string]func(*xmlschema.URD), all ...func(*xmlschema.URD)) func(*world) []*xmlschema.URD {
	return func(w *world) (urds []*xmlschema.URD) {
		for owner, change := range owners {
			urds = append(urds, w.asks(owner, path, append(slices.Clone(all), change)...))
		}
		slices.SortFunc(urds, func(a, b *xmlschema.URD) int { return cmp.Compare(a.Owner, b.Owner) })
		return urds
	}
}

// wants is what is peculiar to the requests of some owners.
type wants = map[string]func(*xmlschema.URD)

func both(changes ...func(*xmlschema.URD)) func(*xmlschema.URD) {
	return func(u *xmlschema.URD) {
		for _, change := range changes {
			change(u)
		}
	}
}

func looking(change string) func(*xmlschema.URD) { return func(u *xmlschema.URD) { u.Change = change } }

func leavingOut(css string) func(*xmlschema.URD) {
	return func(u *xmlschema.URD) {
		u.Ignore = append(u.Ignore, xmlschema.Rule{Language: xmlschema.RuleCSS, Text: css})
	}
}

func anything(*xmlschema.URD) {}

// front is the front page of a newspaper: its clock, counter and advertisement are other ones at each visit.
func front(visit int, entries ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<nav><a href='#'>Home</a></nav><p class=clock>It is %d:%02d\n", 10+visit, 7*visit%60)
	fmt.Fprintf(&b, "<p class=counter>1,%d readers are online\n<ul>\n", 204+31*visit)
	for _, e := range entries {
		fmt.Fprintf(&b, "<li>%s\n", e)
	}
	products := []string{"shoes", "lamps", "watches", "a cruise by ferry", "insurance", "ferry tickets", "garden chairs", "honey"}
	fmt.Fprintf(&b, "</ul>\n<div class=ad>Buy %s today, number %d in town</div>\n<footer>The Daily</footer>", products[visit%len(products)], visit)
	return b.String()
}

// fronts are visits to a front page whose entries are always the same, with what is told at each.
func fronts(entries []string, told ...[]string) (visits []visit) {
	for i, said := range told {
		visits = append(visits, at(front(i, entries...), said...))
	}
	return visits
}

func paragraphs(texts ...string) string { return "<p>" + strings.Join(texts, "\n<p>") }

const (
	ferry   = "The ferry leaves at nine"
	council = "The council met on Monday and will meet again before the summer"
	museum  = "The museum opens a new wing"
)

func remembering(versions int) func(*xmlschema.URD) {
	return func(u *xmlschema.URD) { u.Remember = versions }
}

// rememberOne lets text be new that the version before had not.
var rememberOne = []string{"--set", "keyword-filter.remember=1"}

func TestAPageIsToldOfByWhatChangesOnIt(t *testing.T) {
	news := []string{council, ferry, museum}
	edition := func(n int, more ...string) string {
		return paragraphs(append([]string{fmt.Sprint("edition ", n)}, more...)...)
	}
	for name, s := range map[string]scenario{
		"a clock, a counter and an advertisement raise no alert": {
			urds:   asking("/", wants{"ann": about("museum"), "bob": both(about("ferry"), leavingOut(".ad")), "eve": both(anything, leavingOut(".clock, .counter, .ad"))}),
			visits: fronts(news, []string{"ann / 1: The «museum» opens a new wing", "bob / 1: The «ferry» leaves at nine", "eve / 1: " + council + " · " + ferry + " · " + museum}, nil, nil, nil, nil, nil, nil, nil),
		},
		"a counter or an advertisement that has a keyword is news, unless it is ignored": {
			urds: asking("/", wants{"ann": about("readers"), "bob": both(about("readers"), leavingOut(".counter")), "eve": about("ferry")}),
			visits: fronts(news,
				[]string{"ann / 1: 1,204 «readers» are online", "eve / 1: The «ferry» leaves at nine"},
				[]string{"ann / 2: 1,235 «readers» are online"},
				[]string{"ann / 3: 1,266 «readers» are online"},
				[]string{"ann / 4: 1,297 «readers» are online", "eve / 4: Buy a cruise by «ferry» today, number 3 in town"},
			),
		},
		"a sentence that appears, goes and appears again is told twice": {
			urds: asking("/", wants{"ann": about("ferry")}),
			visits: []visit{
				at(edition(1)), at(edition(2, ferry), "ann / 2: The «ferry» leaves at nine"), at(edition(3)), at(edition(4)), at(edition(5)), at(edition(6)), at(edition(7)),
				at(edition(8, ferry), "ann / 8: The «ferry» leaves at nine"), at(edition(9, ferry)), at(edition(10, ferry)),
			},
		},
		"a sentence that comes and goes is told each time, and once to who asks for that": {
			urds: asking("/", wants{"ann": about("ferry"), "bob": both(about("ferry"), remembering(5))}),
			visits: []visit{
				at(edition(1, ferry), "ann / 1: The «ferry» leaves at nine", "bob / 1: The «ferry» leaves at nine"), at(edition(2)),
				at(edition(3, ferry), "ann / 3: The «ferry» leaves at nine"), at(edition(4)), at(edition(5)), at(edition(6)), at(edition(7)),
				at(edition(8, ferry), "ann / 8: The «ferry» leaves at nine"), at(edition(9)),
			},
		},
		"what was moved is told once": {
			urds: asking("/", wants{"ann": about("ferry"), "eve": anything, "page": both(anything, looking("page"))}),
			visits: []visit{
				at(paragraphs(council, museum, ferry), "ann / 1: The «ferry» leaves at nine", "eve / 1: "+council+" · "+museum+" · "+ferry, "page / 1: "+council+" · "+museum+" · "+ferry),
				at(paragraphs(ferry, council, museum)), at("<ol><li>" + museum + "<li>" + council + "<li>" + ferry + "</ol>"),
			},
		},
		"white space and markup are no change": {
			urds: asking("/", wants{"ann": about("ferry"), "page": both(about("ferry"), looking("page")), "eve": both(anything, looking("page"))}),
			visits: []visit{
				at(paragraphs(council, ferry), "ann / 1: The «ferry» leaves at nine", "eve / 1: "+council+" · "+ferry, "page / 1: The «ferry» leaves at nine"),
				at("<!-- v2 --><p class=x>  " + council + "\n\n<p>The <b>ferry</b>\n leaves\tat <i>nine</i></p>"), at(paragraphs(council, ferry) + "<script>var v = 3</script>"),
			},
		},
		"a new entry of a list is told alone": {
			urds: asking("/", wants{"ann": about("ferry"), "eve": both(anything, leavingOut(".clock, .counter, .ad"))}),
			visits: []visit{
				at(front(0, council, ferry), "ann / 1: The «ferry» leaves at nine", "eve / 1: "+council+" · "+ferry),
				at(front(1, "A second ferry is to come", council, ferry), "ann / 2: A second «ferry» is to come", "eve / 2: «A second ferry is to come»"),
				at(front(2, museum, "A second ferry is to come", council), "eve / 3: «"+museum+"» · [−"+ferry+"]"),
			},
		},
		"a mirror is told of once, also of what is new": {
			urds: asking("/", wants{"ann": about("ferry")}, depth(2)),
			visits: []visit{
				{map[string]string{"/": "<a href=/a>a</a><p><a href=/b>b</a>", "/a": paragraphs(council), "/b": paragraphs(museum)}, nil},
				{map[string]string{"/a": paragraphs(council, long("Monday"))}, []string{"ann /a 2: " + short("Monday")}},
				{map[string]string{"/b": paragraphs(museum, long("Monday"))}, nil},
			},
		},
		"a few words are told of for each page": {
			urds: asking("/", wants{"ann": about("ferry")}, depth(2)),
			visits: []visit{
				{map[string]string{"/": "<a href=/a>a</a><p><a href=/b>b</a>", "/a": paragraphs(council), "/b": paragraphs(council)}, nil},
				{map[string]string{"/a": paragraphs(council, ferry)}, []string{"ann /a 2: The «ferry» leaves at nine"}},
				{map[string]string{"/b": paragraphs(council, ferry)}, []string{"ann /b 2: The «ferry» leaves at nine"}},
			},
		},
		"each is told of where mirrors are to be": {
			urds: asking("/", wants{"ann": about("ferry")}, depth(2)), options: []string{"--set", "aci-emit.mirrors=each"},
			visits: []visit{
				{map[string]string{"/": "<a href=/a>a</a><p><a href=/b>b</a>", "/a": paragraphs(long("Monday")), "/b": paragraphs(long("Monday"))},
					[]string{"ann /a 1: " + short("Monday"), "ann /b 1: " + short("Monday")}},
			},
		},
		"a mirror is told of once, also when the text comes back": {
			urds: asking("/", wants{"ann": about("ferry")}, depth(2)), options: rememberOne,
			visits: []visit{
				{map[string]string{"/": "<a href=/a>a</a><p><a href=/b>b</a>", "/a": paragraphs(long("Monday"))}, []string{"ann /a 1: " + short("Monday")}},
				{map[string]string{"/b": paragraphs(long("Monday"))}, nil},
				{map[string]string{"/a": paragraphs(museum), "/b": paragraphs(museum)}, nil},
				{map[string]string{"/a": paragraphs(long("Monday"))}, []string{"ann /a 3: " + short("Monday")}},
				{map[string]string{"/b": paragraphs(long("Monday"))}, nil},
			},
		},
		"how many versions are remembered is an option": {
			urds: asking("/", wants{"ann": about("ferry"), "eve": anything}), options: rememberOne,
			visits: []visit{
				at(paragraphs(ferry), "ann / 1: The «ferry» leaves at nine", "eve / 1: "+ferry),
				at(paragraphs(museum), "eve / 2: [−The ferry leaves at nine] «The museum opens a new wing»"),
				at(paragraphs(ferry), "ann / 3: The «ferry» leaves at nine", "eve / 3: [−The museum opens a new wing] «The ferry leaves at nine»"),
				at(paragraphs(museum), "eve / 4: [−The ferry leaves at nine] «The museum opens a new wing»"),
				at(paragraphs(ferry), "ann / 5: The «ferry» leaves at nine", "eve / 5: [−The museum opens a new wing] «The ferry leaves at nine»"),
			},
		},
		"nearly the same text is told once elsewhere, if the same of it matched": {
			urds: asking("/", wants{"ann": about("ferry")}, depth(2)),
			visits: []visit{
				{map[string]string{"/": "<a href=/a>a</a>", "/a": paragraphs(long("Monday"), council, "read by 1204")}, []string{"ann /a 1: " + short("Monday")}},
				{map[string]string{"/": "<a href=/a>a</a><p><a href=/b>b</a>", "/b": paragraphs(long("Monday"), council, "read by 1210")}, nil},
				{map[string]string{"/": "<a href=/a>a</a><p><a href=/c>c</a>", "/c": paragraphs(long("Tuesday"), council, "read by 1204")}, []string{"ann /c 1: " + short("Tuesday")}},
				{map[string]string{"/a": paragraphs(long("Friday"))}, []string{"ann /a 2: " + short("Friday")}},
			},
		},
		"how much of a page that changed is looked at is up to its reader": {
			urds: asking("/", wants{"added": looking("added"), "first": looking("first"), "page": looking("page")}, about("ferry", "museum")),
			visits: []visit{
				at(paragraphs(ferry), "added / 1: The «ferry» leaves at nine", "first / 1: The «ferry» leaves at nine", "page / 1: The «ferry» leaves at nine"),
				at(paragraphs(ferry, council), "page / 2: The «ferry» leaves at nine · «"+council+"»"),
				at(paragraphs(ferry, museum), "added / 3: The «museum» opens a new wing", "page / 3: The «ferry» leaves at nine · [−"+council+"] «"+museum+"»"),
				at(paragraphs(museum)+" soon", "added / 4: The «museum» opens a new wing soon", "page / 4: The «museum» opens a new wing soon · The museum opens a new wing «soon» · [−"+ferry+"]"),
			},
		},
		"a price that changes is told of, and what it was before to who asks for any change": {
			urds: asking("/", wants{"ann": about("price"), "eve": anything, "bob": about("ferry")}),
			visits: []visit{
				at(paragraphs("The price is 12 euro", council), "ann / 1: The «price» is 12 euro", "eve / 1: The price is 12 euro · "+council),
				at(paragraphs("The price is 15 euro", council), "ann / 2: The «price» is 15 euro", "eve / 2: The price is [−12] «15» euro"),
				at(paragraphs("The price is 15 euro", council) + " "),
				at(paragraphs("The price is 12 euro", council), "eve / 4: The price is [−15] «12» euro"), // ann knows it from two versions ago
			},
		},
		"who asks for any change is told what it is": {
			urds: asking("/", wants{"added": looking("added"), "first": looking("first"), "page": looking("page")}),
			visits: []visit{
				at(paragraphs(council, ferry), "added / 1: "+council+" · "+ferry, "first / 1: "+council+" · "+ferry, "page / 1: "+council+" · "+ferry),
				at(paragraphs(council, "The ferry leaves at ten"), "added / 2: The ferry leaves at [−nine] «ten»", "page / 2: The ferry leaves at [−nine] «ten»"),
				at(paragraphs(council), "page / 3: [−The ferry leaves at ten]"),
				at(paragraphs(museum, council), "added / 4: «"+museum+"»", "page / 4: «"+museum+"»"),
			},
		},
		"a keyword in the navigation counts little": {
			urds: asking("/", wants{"mild": about("ferry"), "keen": both(about("ferry"), func(u *xmlschema.URD) { u.Keywords.Threshold = 0 })}),
			visits: []visit{
				at(paragraphs(many(council))),
				at("<nav>Ferry</nav>"+paragraphs(many(council)), "keen / 2: «Ferry»"),
				at("<nav>Ferry</nav>"+paragraphs(many(council), ferry), "keen / 3: The «ferry» leaves at nine", "mild / 3: The «ferry» leaves at nine"),
			},
		},
		"a page that was gone for a while is told of by what is new on it": {
			urds: asking("/", wants{"ann": about("ferry"), "eve": anything}),
			visits: []visit{
				at(paragraphs(ferry), "ann / 1: The «ferry» leaves at nine", "eve / 1: "+ferry), at(""), at(""), at(paragraphs(ferry)), at(""),
				at(paragraphs(ferry, "A second ferry is to come"), "ann / 2: A second «ferry» is to come", "eve / 2: «A second ferry is to come»"),
			},
		},
	} {
		t.Run(name, s.play)
	}
}

// What is known of an annotation that was taken and trimmed is enough.
func TestTextThatComesBackIsToldAgainWhenItsFirstAnnotationIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	urds := these(w.asks("ann", "/", about("ferry")))
	visit := func(entry string, told ...string) {
		t.Helper()
		w.page("/", entry)
		for range 2 { // the second visit finds nothing new
			w.run(urds, append(rememberOne, askAll...)...)
			mustBe(t, "told of "+entry, w.told(), told...)
			told = nil
		}
	}
	visit(ferry, "ann / 1: The «ferry» leaves at nine")
	w.trim("ann")
	visit(museum)
	visit(ferry, "ann / 3: The «ferry» leaves at nine")
	w.trim("ann")
	visit(museum)
	visit(ferry, "ann / 5: The «ferry» leaves at nine")
}

// trim lets an owner take everything, and removes it.
func (w *world) trim(owner string) {
	w.t.Helper()
	store, closeDir := openControl(w.t, w.data)
	defer closeDir()
	if _, err := store.Take(w.t.Context(), owner); err != nil {
		w.t.Fatal(err)
	}
	if n, err := store.Trim(w.t.Context(), time.Now().Add(time.Hour)); n == 0 || err != nil {
		w.t.Fatal(n, err)
	}
}

// long is a report, of a day; short is its summary.
func long(day string) string {
	return "The ferry to the islands will leave an hour later than usual because of the strong wind that is expected in the strait on " + day +
		", the harbour master said, and asked passengers to be there in time"
}

func short(day string) string {
	return "The «ferry» to the islands will leave an hour later than usual because of the strong wind that is expected in the strait on " + day + ", the harbour master said, and …"
}

// many is a text long enough that what stands beside it counts little.
func many(text string) string { return strings.Repeat(text+". ", 70) }
