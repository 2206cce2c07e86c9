package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	newsSites     = flag.Int("news", 4, "how many sites TestOracleOfNews watches")
	newsSitesSeed = flag.Uint64("news-seed", 11, "the first site of TestOracleOfNews")
)

// TestOracleOfNews watches random sites of documents of several kinds, and compares who is told of which version, and
// of how much relevance, with the oracle.
func TestOracleOfNews(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := &newsPlay{data: filepath.Join(dir, "data"), dir: dir, set: []string{"frontier.leases=1"}, known: make(map[string]bool)}
	if err := p.configure(nil); err != nil {
		t.Fatal(err)
	}
	var sites []*oracleSite
	for i := range *newsSites {
		s := newOracleSite(t, *newsSitesSeed+uint64(i), p.ask)
		sites = append(sites, s)
	}
	alerts := 0
	for round := range 7 {
		var urds strings.Builder
		want := make(map[string]*oracleTold)
		for _, s := range sites {
			joining := 20 + s.IntN(20)
			if round > 0 {
				s.change()
				joining = s.IntN(3)
			}
			for _, u := range s.follow(joining) {
				urds.WriteString(u.xml(s.URL))
			}
			maps.Copy(want, s.watch())
		}
		file := filepath.Join(dir, "urds.xml")
		if err := os.WriteFile(file, []byte(`<urds xmlns="urn:webrace:1">`+urds.String()+"</urds>"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := p.store("urd", "import", file); err != nil {
			t.Fatal(err)
		}
		if err := p.run(0); err != nil {
			t.Fatal(err)
		}
		all, err := p.alerts()
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[string]toldOf)
		for _, a := range all {
			got[fmt.Sprintf("%s %s %d", a.URD, a.URI, a.Docbase.Version)] = a
		}
		if wrong := compareOracle(p, sites, got, want); wrong != "" {
			t.Fatalf("round %d:\n%s", round+1, wrong)
		}
		alerts += len(got)
	}
	pairs := 0
	for _, s := range sites {
		pairs += s.pairs
	}
	t.Logf("%d pairs of a URD and a version, %d alerts", pairs, alerts)
}

// compareOracle describes what was told otherwise than the oracle has it, of the first such site.
func compareOracle(p *newsPlay, sites []*oracleSite, got map[string]toldOf, want map[string]*oracleTold) string {
	keys := slices.Compact(slices.Sorted(slices.Values(slices.AppendSeq(slices.Collect(maps.Keys(got)), maps.Keys(want)))))
	var b strings.Builder
	for _, key := range keys {
		g, isTold := got[key]
		w := want[key]
		wrong := ""
		switch {
		case !isTold:
			wrong = "is not told, of relevance " + fmt.Sprint(w.relevance)
		case w == nil:
			wrong = fmt.Sprintf("is told, of relevance %d: %s", g.Relevance, g.Summary)
		case g.Relevance != w.relevance:
			wrong = fmt.Sprintf("relevance is %d, want %d", g.Relevance, w.relevance)
		}
		if wrong == "" {
			continue
		}
		fmt.Fprintf(&b, "%s: %s\n", key, wrong)
		for _, s := range sites {
			for _, u := range s.urds {
				if u.id != strings.Fields(key)[0] {
					continue
				}
				explained, _ := webraceStore("explain", "--data", p.data, strings.Fields(key)[1], u.owner)
				fmt.Fprintf(&b, "  seed %d: %s%s%s", s.seed, u.xml(""), s.describe(strings.TrimPrefix(strings.Fields(key)[1], s.URL)), explained)
			}
		}
		if b.Len() > 6000 {
			break
		}
	}
	return b.String()
}

// describe prints the last versions of a document.
func (s *oracleSite) describe(address string) string {
	var b strings.Builder
	d := s.pages[address].doc
	for i := 0; i < 9 && d == nil; i++ {
		address = s.pages[address].location
		d = s.pages[address].doc
	}
	if d == nil {
		return "no such page\n"
	}
	for n, v := range d.versions {
		fmt.Fprintf(&b, "  version %d:", n+1)
		for _, it := range v.items {
			b.WriteString(" |")
			if it.name != "" {
				b.WriteString(" " + it.name + ":")
			}
			for _, block := range it.blocks {
				fmt.Fprintf(&b, " %s%s", block.words, map[bool]string{true: "(" + block.part + ")"}[block.part != ""])
			}
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}
