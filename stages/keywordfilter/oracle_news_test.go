package keywordfilter

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// The oracle of news knows the words of docs/model.md alone (*News*): it goes through the versions of a page as lists
// of paragraphs, for one URD at a time, with no hash, no index and no text of the stage. What else may be new or known
// (the entries of lists, what came from other pages) is a rule of its reader's, in what [reader.look] returns and in
// [isKnown].

// paragraph is a block of a page. Some stand in one of the parts that URDs select.
type paragraph struct {
	words string
	part  string // its id; empty for none
}

// partIDs are those of all parts. The last one is in the page although it is empty.
var partIDs = []string{"one", "two"}

// edition is a page at one time; without paragraphs it has no text.
type edition []paragraph

func (e edition) html() string {
	of := make(map[string]string)
	for _, p := range e {
		of[p.part] += "<p>" + p.words
	}
	out := of[""]
	for _, id := range partIDs {
		if of[id] != "" || id == "two" {
			out += "<div id=" + id + ">" + of[id] + "</div>"
		}
	}
	return out
}

// reader is the owner of a URD, and what they have seen of the page.
type reader struct {
	*control.URD
	none string // the word that they forbid; empty for none

	seen     bool
	versions [][]string          // what they looked at in each version of the page; nothing where there was nothing
	parts    map[string][]string // what each part had that they look at, when it last had anything
	last     []string            // what all parts had, when one of them last had anything
}

// look returns what the reader looks at, and what there is of it if what is not there is as it was.
func (r *reader) look(e edition) (all, state []string) {
	looksAt := func(id string) bool {
		return len(r.Select) == 0 || slices.ContainsFunc(r.Select, func(rule xmlschema.Rule) bool { return rule.Text == "#"+id })
	}
	for _, id := range append([]string{""}, partIDs...) {
		var part []string
		for _, p := range e {
			if p.part == id && looksAt(id) {
				part = append(part, p.words)
			}
		}
		if all = append(all, part...); len(part) > 0 || len(r.Select) == 0 {
			r.parts[id] = part
		}
		state = append(state, r.parts[id]...)
	}
	return all, state
}

// holds reports whether the condition holds on a text, as far as it is about which words are there and altogether, and
// its relevance.
func (r *reader) holds(text []string) (met, holds bool, relevance int) {
	if r.AnyChange() {
		return true, len(text) > 0, 100
	}
	has := func(word string) bool { return count(text, word) > 0 }
	found := 0
	for _, k := range r.Keywords.Keywords {
		if has(k.Key) {
			found++
		}
	}
	allowed := r.none != "" && !has(r.none)
	if r.Keywords.Match == xmlschema.MatchAll {
		met = found == len(r.Keywords.Keywords) && (r.none == "" || allowed)
	} else {
		met = found > 0 || allowed
	}
	relevance = r.relevance(func(word string) int { return count(text, word) }, length(text))
	return met, met && len(text) > 0 && (r.Keywords.Threshold == 0 || relevance > r.Keywords.Threshold), relevance
}

func (r *reader) relevance(occurs func(word string) int, words int) int {
	rest := 1.0
	for _, k := range r.Keywords.Keywords {
		f := float64(occurs(k.Key))
		s := min(f/(f+0.7+0.3*min(max(float64(words)/800, 0.25), 4)), 0.98)
		rest *= 1 - float64(k.Weight)/5*s
	}
	return int(math.Floor(100*(1-rest) + 0.5 + 1e-9))
}

func count(text []string, word string) (n int) {
	for _, block := range text {
		for _, w := range strings.Fields(block) {
			if w == word {
				n++
			}
		}
	}
	return n
}

func length(text []string) (n int) {
	for _, block := range text {
		n += len(strings.Fields(block))
	}
	return n
}

// remembered returns the last versions that the reader remembers: so many, of those that are whole. Of a page that is
// looked at as a whole, versions with the same paragraphs are one; of a part, those between two that have it count.
func (r *reader) remembered(remember int) (all [][]string) {
	for number := len(r.versions) - 1; number >= 0 && remember > 0; number-- {
		version := r.versions[number]
		switch {
		case len(version) == 0 && (len(all) == 0 || len(r.Select) == 0):
			continue
		case len(r.Select) == 0 && len(all) > 0 && same(all[len(all)-1], version):
			continue
		case len(version) > 0:
			all = append(all, version)
		}
		remember--
	}
	return all
}

func same(x, y []string) bool { return len(without(x, y)) == 0 && len(without(y, x)) == 0 }

// without returns the blocks that one text has and others have not.
func without(text []string, others ...[]string) (only []string) {
	for _, block := range text {
		if !isKnown(block, others) {
			only = append(only, block)
		}
	}
	return only
}

func isKnown(block string, texts [][]string) bool {
	return slices.ContainsFunc(texts, func(text []string) bool { return slices.Contains(text, block) })
}

// told returns whether the reader is told of a version, and the relevance.
func (r *reader) told(e edition) (told bool, relevance int) {
	now, state := r.look(e)
	isFirst, last := !r.seen, r.last
	known := append(r.remembered(r.Remembers(defaults.Remember)), last)
	r.seen, r.versions = r.seen || len(r.Select) == 0 || len(now) > 0, append(r.versions, now)
	if len(now) > 0 {
		r.last = state
	}
	_, holds, relevance := r.holds(now)
	added := without(now, known...)
	switch {
	case !holds, same(state, last) && !isFirst:
		return false, 0
	case isFirst:
		return true, relevance
	case r.Change == xmlschema.ChangeFirst:
		return false, 0
	case r.Change == xmlschema.ChangePage:
		return len(added) > 0 || r.Remembers(defaults.Remember) == 1, relevance
	}
	return r.isNews(now, added) || r.comesToHold(now, state, last), relevance
}

// isNews reports whether what makes the condition hold is among what was added.
func (r *reader) isNews(now, added []string) bool {
	if !slices.ContainsFunc(r.Keywords.Keywords, func(k xmlschema.Keyword) bool { return count(now, k.Key) > 0 }) || r.AnyChange() {
		return len(added) > 0
	}
	if !slices.ContainsFunc(r.Keywords.Keywords, func(k xmlschema.Keyword) bool { return count(added, k.Key) > 0 }) {
		return false
	}
	byItself := r.relevance(func(word string) int { return count(added, word) }, length(now))
	if r.Keywords.Threshold == 0 || byItself > r.Keywords.Threshold {
		return true
	}
	old := without(now, added)
	met, _, _ := r.holds(old)
	return !met || r.relevance(func(word string) int { return count(old, word) }, length(now)) <= r.Keywords.Threshold
}

// comesToHold reports whether the condition did not hold on the last version, and something that it asks for came or
// went.
func (r *reader) comesToHold(now, state, last []string) bool {
	if r.Remember > 1 || r.AnyChange() {
		return false
	}
	met, held, _ := r.holds(last)
	came := without(now, last)
	if slices.ContainsFunc(r.Keywords.Keywords, func(k xmlschema.Keyword) bool { return count(came, k.Key) > 0 }) {
		return !held
	}
	return !met && len(without(last, state)) > 0
}

var newsPairs = flag.Int("news", 100_000, "how many pairs of a URD and a version are compared with the oracle of news")

// TestOracleOfNews compares whom the stage tells of versions of a page, and how relevant they are, with the oracle. Now
// and then the page moves for good: of that the oracle knows nothing, because it changes nothing.
func TestOracleOfNews(t *testing.T) {
	t.Parallel()
	least, readers, editions := *newsPairs, 250, 50
	if testing.Short() {
		least, readers = 5_000, 60
	}
	pairs, alerts := 0, 0
	for seed := uint64(0); pairs < least; seed++ {
		w := newWorld(t, seed, "requesters", []int{0, mostFew}[seed%2])
		all := w.readers(readers)
		var page edition
		var visit *webrace.Visit
		at := oracleSites[0]
		for number := range editions {
			if visit != nil && w.IntN(8) == 0 {
				at, visit = movedForGood(at, visit)
			}
			page = w.edit(page)
			now := w.fail(page)
			if visit == nil {
				now = append(page, paragraph{"about", ""})
			}
			told := make(map[string]int)
			before := visit
			visit = w.tell(at, now.html(), visit, told)
			if before != nil && visit.Version == before.Version {
				if len(told) > 0 {
					t.Fatalf("%d are told of the same version", len(told))
				}
				continue
			}
			for _, r := range all {
				tells, relevance := r.told(now)
				got, was := told[r.ID]
				if was != tells || tells && got != relevance {
					t.Fatalf("seed %d, version %d, %q: %+v, none of %q, who saw %q, is told %v with relevance %d, want %v with %d",
						seed, number+1, now.html(), r.URD.URD, r.none, r.versions, was, got, tells, relevance)
				}
				pairs++
			}
			alerts += len(told)
		}
	}
	if alerts < pairs/50 {
		t.Errorf("%d alerts of %d pairs prove too little", alerts, pairs)
	}
	t.Logf("%d pairs of a URD and a version, %d alerts, 0 differences", pairs, alerts)
}

// readers makes URDs of all kinds for one page.
func (w *world) readers(n int) (all []*reader) {
	revised := make(map[string]*control.URD)
	for i := range n {
		u := xmlschema.NewURD("owner", oracleSites[0])
		u.ID, u.Depth = fmt.Sprint("u", i), 0
		u.Change = some(w, xmlschema.ChangeAdded, xmlschema.ChangeAdded, xmlschema.ChangeAdded, xmlschema.ChangePage, xmlschema.ChangeFirst)
		u.Remember = some(w, 0, 0, 0, 1, 2, 5)
		u.Keywords.Match, u.Keywords.Threshold = some(w, xmlschema.MatchAny, xmlschema.MatchAny, xmlschema.MatchAll), some(w, 0, 20, 20, 40)
		keys := map[string]bool{}
		for range some(w, 0, 1, 1, 2, 2, 3) {
			keys[w.word()] = true
		}
		r := &reader{parts: make(map[string][]string)}
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			u.Keywords.Keywords = append(u.Keywords.Keywords, xmlschema.Keyword{Key: key, Weight: 1 + w.IntN(5)})
		}
		if word := w.word(); len(keys) > 0 && !keys[word] && w.IntN(3) == 0 {
			r.none = word
			u.Keywords.Groups = []xmlschema.Group{{Match: xmlschema.MatchNone, Keywords: []xmlschema.Keyword{{Key: word, Weight: 1}}}}
		}
		for _, id := range some(w, nil, nil, nil, partIDs[:1], partIDs[1:], partIDs) {
			selects("css", "#"+id)(u)
		}
		r.URD = &control.URD{URD: u, Revision: 1, Interest: 1, Crawl: webrace.Crawl{ID: "crawl", Start: u.URI}}
		all, revised[u.ID] = append(all, r), r.URD
	}
	w.audience = w.audience.with(revised, w.stage.env)
	w.audience.revision = 1
	return all
}

// fail shows a page, but for parts that vanish for a while, and for an answer without text now and then.
func (w *world) fail(page edition) edition {
	if w.IntN(10) == 0 {
		return nil
	}
	gone := some(w, "", "", "", "one", "two", "both")
	return slices.DeleteFunc(slices.Clone(page), func(p paragraph) bool { return p.part != "" && (p.part == gone || gone == "both") })
}

// edit makes the next version of a page: paragraphs come, go, and come back.
func (w *world) edit(page edition) edition {
	page = slices.Clone(page)
	for range w.IntN(4) {
		if len(page) > 3 || len(page) > 0 && w.IntN(3) == 0 {
			i := w.IntN(len(page))
			page = slices.Delete(page, i, i+1)
			continue
		}
		words := make([]string, 1+w.IntN(3))
		for i := range words {
			words[i] = w.word()
		}
		page = slices.Insert(page, w.IntN(len(page)+1), paragraph{strings.Join(words, " "), some(w, "", "", "one", "two")})
	}
	return page
}

// movedForGood returns where a page has moved to, and what is known of it there before it is asked for.
func movedForGood(at string, visit *webrace.Visit) (string, *webrace.Visit) {
	there := *visit
	there.Former = webrace.Former{URL: at, Version: visit.Version}
	return fmt.Sprint(oracleSites[0], visit.Version), &there
}

// tell lets the stage match a version, notes who is told with what relevance, and returns what the visit leaves behind.
func (w *world) tell(at, body string, visit *webrace.Visit, told map[string]int) *webrace.Visit {
	w.Helper()
	reach := []webrace.Reach{{Crawl: "crawl"}}
	d := w.fetchedFrom(at, "", body, visit, reach)
	end := pipeline.ProcessOne(w.Context(), asked{w}, d, func(_ string, value any) error {
		aci := value.(*xmlschema.ACI)
		told[aci.URD] = aci.Relevance
		return nil
	})
	if end.Err != nil {
		w.Fatal(end.Err)
	}
	var next webrace.Visit
	if visit != nil {
		next = *visit
	}
	next.Digest, next.Version = d.Digest, d.Version
	for _, what := range end.Learned {
		what.(webrace.Learned)(&next)
	}
	next.Shown = shown(next, reach)
	return &next
}
