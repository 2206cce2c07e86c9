package keywordfilter

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// publication is an entry of a feed, which is known by its number.
type publication struct {
	number int
	words  string
}

// issue is a feed at one time.
type issue []publication

func (i issue) rss() string {
	out := "<rss version=\"2.0\"><channel><title>News</title>"
	for _, p := range i {
		out += fmt.Sprintf("<item><guid>%d</guid><description>%s</description></item>", p.number, p.words)
	}
	return out + "</channel></rss>"
}

// subscriber is a reader of a feed, and its versions so far, the last one at the end.
type subscriber struct {
	*reader
	issues []issue
}

// told returns whether the subscriber is told of a version of a feed, and the relevance: each entry is as a page.
func (s *subscriber) told(now issue) (told bool, relevance int) {
	isFirst, before := !s.seen, s.issues
	s.seen = true
	isSame := len(before) > 0 && slices.Equal(before[len(before)-1], now)
	if !isSame {
		s.issues = append(s.issues, now)
	}
	if !isFirst && (isSame || s.Change == xmlschema.ChangeFirst) {
		return false, 0
	}
	remember := s.Remembers(defaults.Remember)
	isNew := func(p publication) bool {
		return !slices.ContainsFunc(before[max(0, len(before)-remember):], func(i issue) bool { return slices.Contains(i, p) })
	}
	if !isFirst && s.Change == xmlschema.ChangePage && remember > 1 && !slices.ContainsFunc(now, isNew) {
		return false, 0
	}
	for _, p := range now {
		_, holds, worth := s.holds([]string{p.words})
		if holds && (isFirst || s.Change == xmlschema.ChangePage || isNew(p) || s.comes(p, before[len(before)-1])) {
			told, relevance = true, max(relevance, worth)
		}
	}
	return told, relevance
}

// comes reports whether an entry was edited, and the condition did not hold on what it was.
func (s *subscriber) comes(p publication, last issue) bool {
	i := slices.IndexFunc(last, func(was publication) bool { return was.number == p.number })
	if i < 0 || last[i] == p || s.AnyChange() || s.Remember > 1 {
		return false
	}
	_, held, _ := s.holds([]string{last[i].words})
	return !held
}

// publish makes the next version of a feed, of which the last entries go: one comes, or some are edited, often back to
// what they were.
func (w *world) publish(i issue, next *int) issue {
	words := func() string {
		all := make([]string, 1+w.IntN(3))
		for k := range all {
			all[k] = w.word()
		}
		return strings.Join(all, " ")
	}
	i = slices.Clone(i)
	for k := range i {
		if w.IntN(4) == 0 {
			i[k].words = some(w, words(), oracleWords[i[k].number%4], oracleWords[i[k].number%4+4])
		}
	}
	for w.IntN(2) == 0 || len(i) == 0 {
		*next++
		i = slices.Insert(i, 0, publication{*next, words()})
	}
	return i[:min(len(i), 6)]
}

// instead is what comes in the place of a feed now and then, for fewer rounds than it would take to be taken for it;
// false if the feed comes.
func (w *world) instead(rounds *int) (body string, is bool) {
	if *rounds == placeholderRounds || w.IntN(4) > 0 {
		*rounds = 0
		return "", false
	}
	*rounds++
	return some(w, "", "<title>Back soon</title><p>"+w.word(), fmt.Sprintf(`{"error":"no %s"}`, w.word())), true
}

// TestOracleOfNewsOfFeeds compares whom the stage tells of versions of a feed, and how relevant they are, with the
// oracle. Now and then something else comes in its place, and half of the subscribers come later.
func TestOracleOfNewsOfFeeds(t *testing.T) {
	t.Parallel()
	least, readers := *newsPairs/4, 250
	if testing.Short() {
		least, readers = 3_000, 60
	}
	pairs, alerts, placeholders := 0, 0, 0
	for seed := uint64(0); pairs < least; seed++ {
		w := newWorld(t, seed, "requesters", []int{0, mostFew}[seed%2])
		var all []*subscriber
		for _, r := range w.readers(readers) {
			if len(r.Select) == 0 {
				all = append(all, &subscriber{reader: r})
			}
		}
		all, late := all[:len(all)/2], all[len(all)/2:]
		w.revised(late, func(*control.URD) *control.URD { return nil })
		joining := w.IntN(15)
		var feed issue
		var visit *webrace.Visit
		next, rounds := 0, 0
		for number := range 30 {
			if number == joining {
				w.audience.revision++
				w.revised(late, func(u *control.URD) *control.URD { u.Interest = w.audience.revision; return u })
				for _, s := range late {
					s.issues = slices.Clone(all[0].issues)
				}
				all = append(all, late...)
			}
			told := make(map[string]int)
			if body, is := w.instead(&rounds); is && number > 0 {
				if visit = w.tell(oracleSites[0], body, visit, told); len(told) > 0 {
					t.Fatalf("seed %d, version %d: %q in the place of a feed is told to %v", seed, number+1, body, told)
				}
				placeholders++
				continue
			}
			feed = w.publish(feed, &next)
			visit = w.tell(oracleSites[0], feed.rss(), visit, told)
			for _, s := range all {
				tells, relevance := s.told(feed)
				if got, was := told[s.ID]; was != tells || tells && got != relevance {
					t.Fatalf("seed %d, version %d, %s: %+v, none of %q, who saw %v, is told %v with relevance %d, want %v with %d",
						seed, number+1, feed.rss(), s.URD, s.none, s.issues, was, got, tells, relevance)
				}
				pairs++
			}
			alerts += len(told)
		}
	}
	if alerts < pairs/50 || placeholders == 0 {
		t.Errorf("%d alerts of %d pairs and %d placeholders prove too little", alerts, pairs, placeholders)
	}
	t.Logf("%d pairs of a URD and a version of a feed, %d alerts, %d placeholders, 0 differences", pairs, alerts, placeholders)
}

// revised changes the URDs of some subscribers.
func (w *world) revised(some []*subscriber, to func(*control.URD) *control.URD) {
	all := make(map[string]*control.URD)
	for _, s := range some {
		all[s.ID] = to(s.URD)
	}
	w.audience = w.audience.with(all, w.stage.env)
}
