//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/xmlschema"
)

// roundsSeen is how many rounds of each crawl TestClusterRounds waits for.
const roundsSeen = 3

// A crawl whose rounds follow each other at once leads through all partitions, while nodes and the server of the
// database are killed. By what the sites are asked for, a round begins when the last page of the one before was
// answered, and has every page once.
func TestClusterRounds(t *testing.T) {
	t.Parallel()
	server := postgres.New(t, postgres.Options{})
	for seed := range testutil.Seeds(uint64(*clusterSeeds)) {
		random := rand.New(rand.NewPCG(seed, 31))
		f := newFederation(t, 12)
		start := random.IntN(len(f.sites))
		urds := f.write(these(f.sites[start].asks("ann", "/", depth(0), within(xmlschema.ScopeAny), about("tea"), every(time.Millisecond))))
		alone := crawlAlone(t, f, urds)
		m := newMortalCluster(t, server.Database(t), f, urds, 2+int(seed%2), "--continuous", "--set", "frontier.fresh=0s")
		first := f.url(start, "/")
		for kill := range roundsSeen - 1 {
			at := (1 + kill) * len(alone.requests) * 4 / 3
			m.until(fmt.Sprint(at, " requests"), func() bool { return len(m.log) > at })
			m.disturb(random, server)
		}
		m.until("the last round", func() bool { return len(m.roundsOf(first, alone.urls())) > roundsSeen })
		for _, p := range m.running {
			p.signal(os.Interrupt)
		}
		m.mustEnd()
		rounds := m.roundsOf(first, alone.urls())
		t.Logf("%d rounds of %d URLs", len(rounds), len(alone.urls()))
		for i, round := range rounds {
			m.mustNotRepeat(fmt.Sprint("in round ", i+1), round)
		}
		f.mustBeOneAtATime()
		if t.Failed() {
			t.Fatalf("with -seeds %d, the last of them", seed+1)
		}
	}
}

// roundsOf returns what was answered, in rounds, each of which begins with a URL. Where not all was asked for by then,
// that is asked for again in the same round, because its node was killed before it was done.
func (m *mortalCluster) roundsOf(first string, urls []string) (rounds [][]asked) {
	m.t.Helper()
	missing := make(map[string]bool)
	for _, a := range m.answered() {
		n := len(rounds)
		switch {
		case a.path == first && len(missing) > 0 && m.diedBetween(first, rounds[n-1][0].at, a.at) == 0:
			m.t.Errorf("round %d begins before %d of %d URLs were asked for in the one before", n+1, len(missing), len(urls))
			fallthrough
		case a.path == first && len(missing) == 0:
			rounds = append(rounds, nil)
			for _, url := range urls {
				missing[url] = true
			}
		case n == 0:
			m.t.Fatalf("%s is asked for before %s", a.path, first)
		}
		delete(missing, a.path)
		rounds[len(rounds)-1] = append(rounds[len(rounds)-1], a)
	}
	return rounds
}
