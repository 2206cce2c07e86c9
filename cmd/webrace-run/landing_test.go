package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/webrace/webrace/xmlschema"
)

// other is a second host of the same server: "localhost" instead of an address.
func (s *site) other(path string) string {
	return strings.Replace(s.URL, "127.0.0.1", "localhost", 1) + path
}

// movedTo makes a start that leads to a site of three pages on another host, with a link to a third.
func movedTo(w *world, status int) *xmlschema.URD {
	w.handle("/", http.RedirectHandler(w.other("/home"), status).ServeHTTP)
	w.page("/home", "home has tea", "/deep", "http://127.0.0.2:1/")
	w.page("/deep", "deep tea", "/deeper")
	w.page("/deeper", "deeper tea")
	return w.asks("ann", "/", depth(2), about("tea"))
}

func TestAStartThatMovedForGoodIsCrawledWhereItIsNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	urds := these(movedTo(w, http.StatusMovedPermanently))
	report := w.reported(urds)
	mustBe(t, "requests", w.requests(), "200 /deep", "200 /home", "301 /")
	if n := report.Stages["frontier"].Counters["landed"]; n != 1 {
		t.Errorf("landed: %d", n)
	}
	w.run(urds, askAll...)
	mustBe(t, "requests of another round", w.requests(), "301 /", "304 /deep", "304 /home")
	w.run(urds)
	mustBe(t, "requests of a run from the store", w.requests())
	said, _ := w.store("why", w.URL+"/")
	mustSay(t, said, "moved for good", w.other("/home"))
}

func TestAStartThatAnswersElsewhereForAWhileIsNotFollowedOutOfItsDomain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.runInVain(these(movedTo(w, http.StatusFound)))
	mustBe(t, "requests", w.requests(), "302 /")
	w.run(these(movedTo(w, http.StatusFound)), append(askAll, "--set", "frontier.start_redirects=any")...)
	mustBe(t, "requests when that is wanted", w.requests(), "200 /deep", "200 /home", "302 /")
	w.runInVain(these(movedTo(w, http.StatusMovedPermanently)), append(askAll, "--set", "frontier.start_redirects=none")...)
	mustBe(t, "requests when nothing is", w.requests(), "301 /")
}

func TestAnUnfinishedRoundGoesOnWhereItsStartLed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := movedTo(w, http.StatusMovedPermanently)
	ann.Depth = 0
	w.leaveUnfinished(these(ann), "/deep")
	w.requests()
	w.run(these(ann), askAll...)
	mustBe(t, "requests", w.requests(), "200 /deep", "200 /deeper")
}

func TestAContinuousRunGoesOnWhereTheStartLeadsInEachRound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := movedTo(w, http.StatusMovedPermanently)
	ann.Timing = often
	l := w.goOn(these(ann))
	l.untilTold("ann "+w.other("/deep"), "ann "+w.other("/home"))
	l.untilAsked("/", 2)
	w.page("/home", "home has tea", "and more tea")
	l.untilTold("ann "+w.other("/deep"), "ann "+w.other("/home"), "ann "+w.other("/home"))
	w.handle("/", http.RedirectHandler("/new", http.StatusFound).ServeHTTP) // it is back
	w.page("/new", "tea is back")
	l.untilTold("ann /new", "ann "+w.other("/deep"), "ann "+w.other("/home"), "ann "+w.other("/home"))
	home := w.counts()["/home"]
	l.untilAsked("/new", 3)
	l.drain()
	if n := w.counts()["/home"]; n > home+1 {
		t.Errorf("where the start led before was asked for %d times more", n-home)
	}
}
