//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/storage/quads"
)

const quadKills = 10

// A crawl of RDF is killed at random moments. In the end its quads are those of a crawl that nothing happened to, and
// what was done before a kill is not asked for again.
func TestKillQuads(t *testing.T) {
	t.Parallel()
	site := startRDFSite(t, func(folder string) bool { return *allQuads || folder != "lsp-plugins.lv2" })
	undisturbed := t.TempDir()
	mustSucceed(t, site.crawl(t, undisturbed, "frontier.fresh=1h"))
	fetched, _ := site.requests(t, 0)
	want := undatedQuads(t, undisturbed)
	if len(want) < 10_000 {
		t.Fatalf("the crawl that nothing happens to has only %d quads", len(want))
	}
	rng := rand.New(rand.NewPCG(17, quadKills))
	repeats, finished := 0, 0
	for done := 0; done < quadKills; {
		_, since := site.requests(t, 0)
		c := &mortalQuads{t: t, site: site, data: t.TempDir(), documents: fetched["200"]}
		for c.dies(rng, done < quadKills) {
			done++
			finished += len(c.finished)
		}
		repeats += site.mustHaveAll(t, c.documents, since, c.kills)
		if got := undatedQuads(t, c.data); !slices.Equal(got, want) {
			t.Errorf("%d quads after %d kills, want the same %d as without:\nlost:\n%.1000s\nmore:\n%.1000s", len(got), c.kills, len(want),
				strings.Join(difference(want, got), "\n"), strings.Join(difference(got, want), "\n"))
		}
		mustSucceed(t, exec.Command("webrace-store", "fsck", "--data", c.data))
	}
	if finished == 0 {
		t.Error("nothing was done before a kill")
	}
	t.Logf("%d kills of a crawl of %d documents with %d quads; before them %d in all were done and not fetched again, %d were in flight and fetched again",
		quadKills, len(fetched["200"]), len(want), finished, repeats)
}

// undatedQuads returns what an export has, sorted, but for when documents were fetched.
func undatedQuads(t *testing.T, data string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(exportQuads(t, data))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		dated := strings.HasSuffix(line, "<"+quads.ProvenanceGraph+"> .\n") && strings.Contains(line, "<http://purl.org/dc/terms/modified>")
		if !dated {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines
}

// mortalQuads is a crawl of RDF that is killed until it is done.
type mortalQuads struct {
	t         *testing.T
	site      rdfSite
	data      string
	documents map[string]int // their paths
	kills     int            // so far
	finished  []string       // the documents that were, when it was last killed
}

// dies runs the crawl, kills it if it may a moment after some requests, and reports whether that came before its end.
func (m *mortalQuads) dies(rng *rand.Rand, may bool) bool {
	m.t.Helper()
	_, before := m.site.requests(m.t, 0)
	after, moment := 1+rng.IntN(len(m.documents)/4), time.Duration(rng.IntN(40))*time.Millisecond
	p := &command{Cmd: m.site.crawl(m.t, m.data, "frontier.fresh=1h", fmt.Sprintf("frontier.leases=%d", killedLeases)), t: m.t}
	p.Stdout, p.Stderr = &p.output, &p.output
	p.begin()
	ended := make(chan struct{})
	var killing sync.WaitGroup
	if may {
		killing.Go(func() {
			for running(ended) {
				if _, now := m.site.requests(m.t, before); now >= before+after {
					time.Sleep(moment) // any may be the one at which it dies
					p.Process.Kill()   // which may have ended meanwhile
					return
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	killed := p.isKilled()
	close(ended)
	killing.Wait()
	m.site.mustNotAskFor(m.t, m.finished, before)
	m.finished = m.site.finished(m.t, m.data, "multicrawler", m.documents)
	if killed {
		m.kills++
	}
	return killed
}
