package keywordfilter

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/xmlschema"
)

// TestARevisedAudienceIsTheOneThatIsLoaded changes URDs at random, and compares the audience that takes in
// the changes with one that is made anew, and the one before with what it was.
func TestARevisedAudienceIsTheOneThatIsLoaded(t *testing.T) {
	f := newFixture(t)
	env := pipeline.NewEnv("p", "keyword-filter", f.resources)
	load := func() *audience {
		a, err := loadAudience(t.Context(), f.control, defaults, env)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	r := rand.New(rand.NewPCG(1, 2))
	a := load()
	a.mostFew = 2 // as if three were many; the one that is loaded has few
	for range 60 {
		before := view(a)
		for range 1 + r.IntN(4) {
			owner := fmt.Sprint("owner", r.IntN(8))
			uri := fmt.Sprint(start, []string{"", "other", "*", "a*"}[r.IntN(4)])
			switch r.IntN(4) {
			case 0:
				if err := f.control.Delete(t.Context(), owner); err != nil {
					continue // there is none
				}
			default:
				f.urd(owner, uri, []string{"ibm", "java", "!!!"}[r.IntN(3)], levels(1+r.IntN(3)), func(u *xmlschema.URD) {
					u.Paused = r.IntN(4) == 0
					if r.IntN(3) == 0 {
						selects("css", []string{"p", "b"}[r.IntN(2)])(u)
					}
				})
			}
		}
		next, err := a.revised(t.Context(), f.control, env)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := view(next), view(load()); !reflect.DeepEqual(got, want) {
			t.Fatalf("revised to\n%v, want\n%v", got, want)
		}
		if now := view(a); !reflect.DeepEqual(now, before) {
			t.Fatalf("the audience before was\n%v and is\n%v", before, now)
		}
		a = next
	}
}

// view is what can be told of an audience: without the order of equals, and lists of nothing.
func view(a *audience) (all []string) {
	all = append(all, fmt.Sprint("revision ", a.revision))
	d := &webrace.Document{URL: start + "a", Text: textOf("ibm java")}
	for crawl := range a.crawls.All() {
		d.Reach = append(d.Reach, webrace.Reach{Crawl: crawl})
	}
	asked, _ := a.recipientsOf(d, nil)
	for _, who := range asked {
		for alert := range match.Match(d.Text, who.Asking) {
			all = append(all, "matches "+alert.ID)
		}
	}
	for id, u := range a.urds.All() {
		all = append(all, fmt.Sprint("urd ", id, " ", u.URI, u.Revision, u.Interest, u.Depth))
	}
	for crawl, with := range a.crawls.All() {
		for _, id := range a.idsOf(with) {
			all = append(all, "crawl "+crawl+" "+id)
		}
	}
	for site, watching := range a.prefixes.All() {
		for _, id := range a.idsOf(watching) {
			all = append(all, "prefix "+site+" "+id)
		}
	}
	slices.Sort(all)
	return all
}

// idsOf are the members of a crowd, with the rules by which they look at part of a page.
func (a *audience) idsOf(c crowd) (all []string) {
	add := func(m members, rules string) {
		for id := range a.urds.All() {
			_, few := m.few.Get(id)
			if many := m.many != nil && m.many.view.Profile(id) != nil; few || many {
				all = append(all, id+rules)
			}
		}
	}
	add(c.members, "")
	if c.parts != nil {
		for rules, part := range c.parts.byRules.All() {
			add(part.members, " "+rules)
		}
	}
	slices.Sort(all)
	return all
}

func TestAContinuousRunTakesUpChangesOfTheBase(t *testing.T) {
	f := newFixture(t)
	eleni := f.urd("eleni", start, "ibm")
	env := pipeline.NewEnv("p", "keyword-filter", f.resources)
	env.Continuous = true
	made, err := newStage(defaults, env)
	if err != nil {
		t.Fatal(err)
	}
	s := made.(*stage)
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !s.follows.audience.Load().asks(eleni.Crawl.ID, "eleni") {
		t.Error("eleni is not asked")
	}
	maria := f.urd("maria", start, "ibm")
	if err := f.control.Copied(t.Context(), maria.Revision); err != nil {
		t.Fatal(err)
	}
	if a := s.follows.audience.Load(); a.revision != maria.Revision || !a.asks(maria.Crawl.ID, "eleni", "maria") {
		t.Errorf("maria is not asked: %v", view(a))
	}
	if err := f.control.Delete(t.Context(), "eleni"); err != nil {
		t.Fatal(err)
	}
	if err := f.control.Copied(t.Context(), maria.Revision+1); err != nil {
		t.Fatal(err)
	}
	if a := s.follows.audience.Load(); !a.asks(maria.Crawl.ID, "maria") {
		t.Errorf("asked: %v", view(a))
	}
	nikos := f.urd("nikos", start, "ibm")
	if err := s.follows.open(t.Context()); err != nil { // as another stage does that has it in common
		t.Fatal(err)
	}
	now, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.control.Copied(now, nikos.Revision); err != nil || !s.follows.audience.Load().asks(nikos.Crawl.ID, "maria", "nikos") {
		t.Errorf("a stage that has opened does not match with what was there: %v", err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.control.Copied(context.Background(), maria.Revision+99); err != nil {
		t.Error(err)
	}
}

// asks reports whether these are the URDs of a crawl.
func (a *audience) asks(crawl string, ids ...string) bool {
	with, _ := a.crawls.Get(crawl)
	return slices.Equal(a.idsOf(with), ids)
}

func textOf(block string) *webrace.Text {
	return &webrace.Text{Bytes: []byte(block), Blocks: []webrace.Block{{End: int32(len(block))}}}
}
