package main

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/xmlschema"
)

var (
	listsSeed  = flag.Uint64("lists-seed", 11, "the first site of TestOracleOfLists")
	listsSites = flag.Int("lists", 4, "how many sites TestOracleOfLists crawls")
)

// TestOracleOfLists crawls random sites whose lists go over several pages, one URL at a time, and compares who is told
// of which version of which page with the oracle.
func TestOracleOfLists(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var sites []*listSite
	var urds []*xmlschema.URD
	for i := range *listsSites {
		s := newListSite(t, *listsSeed+uint64(i))
		sites, urds = append(sites, s), append(urds, s.follow(oneOf(s.Rand, 20, 60))...)
	}
	alerts := 0
	for round := range 10 {
		var want []string
		for _, s := range sites {
			if round > 0 {
				s.change()
				urds = append(urds, s.join()...)
			}
			s.publish()
		}
		watcher := xmlschema.NewURD(fmt.Sprint("watcher", round), "http://elsewhere.example/*") // so that in each round one joins
		watcher.ID = watcher.Owner
		urds = append(urds, watcher)
		w.run(urds, append(askAll, "--set", "frontier.leases=1", "--set", "frontier.attempts=1", "--set", "fetch.backoff=1ms",
			"--set", "fetch.circuit_failures=0", "--set", "aci-emit.mirrors=each", "--set", "frontier.rules=deny path /o/")...)
		for _, s := range sites {
			want = append(want, s.read()...)
		}
		var got []string
		for _, aci := range w.acis() {
			got = append(got, fmt.Sprintf("%s %s %d", aci.Owner, aci.URI, aci.Docbase.Version))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			compareLists(w, round, sites, got, want)
		}
		alerts += len(got)
	}
	pairs := 0
	for _, s := range sites {
		pairs += s.library.pairs
	}
	t.Logf("%d pairs of a URD and a version, %d alerts", pairs, alerts)
}

// compareLists prints which alerts differ, by what their pages said, and ends the test.
func compareLists(w *world, round int, sites []*listSite, got, want []string) {
	w.t.Helper()
	for _, s := range sites {
		wrong := ""
		for _, f := range s.library.followers {
			for _, key := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(got, want)))) {
				isTold := slices.Contains(got, key)
				if !strings.HasPrefix(key, f.Owner+" ") || isTold == slices.Contains(want, key) {
					continue
				}
				if wrong == "" {
					wrong, _ = webraceStore("explain", "--data", w.data, strings.Fields(key)[1], f.Owner)
				}
				if wrong += fmt.Sprintf("  %s: told %v\n  %s", key, isTold, f.describe()); strings.Count(wrong, "\n") > 32 {
					break
				}
			}
		}
		if wrong != "" {
			w.t.Errorf("seed %d, round %d:\n%s%s", s.seed, round+1, wrong, s.describe())
		}
	}
	w.t.FailNow()
}

func (f *follower) describe() string {
	return fmt.Sprintf("  %v of %v (threshold %d), none of %q, change %s, remember %d, select %v, depth %d\n", f.Keywords.Match, f.Keywords.Keywords, f.Keywords.Threshold,
		f.none, cmp.Or(f.Change, "added"), f.Remember, len(f.Select) > 0, f.Depth)
}

func (s *listSite) describe() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.library.papers)) {
		p := s.library.papers[name]
		for i, e := range p.editions[max(0, len(p.editions)-3):] {
			fmt.Fprintf(&b, "  %s, version %d at %d:", name, max(0, len(p.editions)-3)+i+1, e.at)
			for _, l := range e.sheet {
				fmt.Fprintf(&b, " | %s", l.words)
			}
			fmt.Fprintln(&b)
		}
	}
	return b.String()
}
