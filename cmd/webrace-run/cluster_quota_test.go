//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/internal/testutil/postgres"
	"github.com/webrace/webrace/storage/cluster"
	"github.com/webrace/webrace/xmlschema"
)

// account is the crawls of an owner with a quota, one of which begins at each node. Each leads to pages of its own at
// all sites.
type account struct {
	*mortalCluster
	crawls [][]string // the URLs of each
}

const quotaNodes, quotaOfAnn = 3, 150

// newAccount starts nodes that crawl for ann, who has a quota, and for bob, who has nothing to fear of his.
func newAccount(t *testing.T, database string) *account {
	t.Helper()
	f := &federation{t: t, open: make(map[*site]int)}
	for node := range quotaNodes {
		for range 2 {
			f.sites = append(f.sites, siteOf(t, node))
		}
	}
	a := new(account)
	urds := these(f.sites[0].asks("bob", "/bob", about("tea"), every(1)))
	f.sites[0].page("/bob", "tea")
	for node := range quotaNodes {
		start, links := fmt.Sprintf("/ann%d", node), []string{"All about tea."}
		crawl := []string{f.url(2*node, start)}
		for i, s := range f.sites {
			path := fmt.Sprintf("/ann%d/%d", node, i)
			s.page(path, fmt.Sprintf("Tea of page %s, and %d words of its own.", path, i))
			crawl = append(crawl, s.URL+path)
		}
		f.sites[2*node].page(start, append(links, crawl[1:]...)...)
		urds = append(urds, f.sites[2*node].asks("ann", start, id(fmt.Sprint("ann", node)), depth(2), within(xmlschema.ScopeAny), about("tea"), every(1)))
		a.crawls = append(a.crawls, crawl)
	}
	for _, s := range f.sites {
		for path, answer := range s.pages {
			s.handle(path, f.atWork(s, answer))
		}
	}
	a.mortalCluster = newMortalCluster(t, database, f, f.write(urds), quotaNodes, "--continuous",
		"--set", "frontier.fresh=0s", "--set", "urds.policy=fixed", "--set", fmt.Sprint("urds.quota=", quotaOfAnn))
	a.store(0, "owner", "quota", "bob", "9000000")
	return a
}

// siteOf returns a site that a node has.
func siteOf(t *testing.T, node int) *site {
	t.Helper()
	for {
		s := newSite(t)
		u, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		if cluster.PartitionOf(u.Host, 8)%quotaNodes == node {
			return s
		}
	}
}

// rounds returns how many requests the rounds of ann's crawls had, each URL counted once a round, by what the sites
// were asked for. Where a round is not over, what is missing in it counts as not asked.
func (a *account) rounds() (requests int, whole bool) {
	asked := make(map[string]int)
	for _, r := range a.answered() {
		asked[r.path]++
	}
	whole = true
	for _, crawl := range a.crawls {
		rounds, most := asked[crawl[0]], 0
		for _, url := range crawl {
			rounds, most = min(rounds, asked[url]), max(most, asked[url])
		}
		requests += rounds * len(crawl)
		whole = whole && rounds > 0
	}
	return requests, whole
}

// askedFor returns how many requests were answered whose path begins so.
func (a *account) askedFor(owner string) (n int) {
	for _, r := range a.answered() {
		if strings.Contains(r.path, "/"+owner) {
			n++
		}
	}
	return n
}

// used is what was charged to ann today, as any node says.
func (a *account) used() float64 {
	a.t.Helper()
	for line := range strings.Lines(a.store(1, "owner", "list")) {
		if fields := strings.Fields(line); len(fields) == 5 && fields[0] == "ann" {
			used, err := strconv.ParseFloat(fields[3], 64)
			if err != nil {
				a.t.Fatal(err)
			}
			return used
		}
	}
	return 0
}

// An owner has a quota, and crawls that begin at each of three nodes and lead through all, while nodes and the server
// of the database are killed. By what the sites were asked for, each page of each round is charged once; and no more
// than a round of each crawl is opened beyond the quota.
func TestClusterQuotas(t *testing.T) {
	t.Parallel()
	server := postgres.New(t, postgres.Options{})
	for seed := range testutil.Seeds(uint64(max(1, *clusterSeeds/3))) {
		random := rand.New(rand.NewPCG(seed, 32))
		a := newAccount(t, server.Database(t))
		for kill := range 2 {
			a.until("a third more of the quota", func() bool { return a.askedFor("ann") > (1+kill)*quotaOfAnn/3 })
			a.disturb(random, server)
		}
		var used float64
		spent, bobs := -1, 0
		a.until("all that was asked for is charged, the quota is spent, and only what else there is goes on", func() bool {
			requests, whole := a.rounds()
			used = a.used()
			if !whole || used < quotaOfAnn || used != float64(requests) {
				return false
			}
			if now := a.askedFor("ann"); now != spent { // a round that was open already goes on
				spent, bobs = now, a.askedFor("bob")
			}
			return a.askedFor("bob") > bobs+20
		})
		for _, p := range a.running {
			p.signal(os.Interrupt)
		}
		a.mustEnd()
		requests, _ := a.rounds()
		most := quotaOfAnn + len(a.crawls)*len(a.crawls[0])
		if now := a.used(); a.askedFor("ann") != spent || now != float64(requests) || requests >= most {
			t.Errorf("of a quota of %d, %v were charged for %d requests in rounds, and %d asked for, %d of them when it was spent; at most %d may be",
				quotaOfAnn, now, requests, a.askedFor("ann"), spent, most)
		}
		t.Logf("charged %v of %d; asked for %d, %d of bob", used, quotaOfAnn, a.askedFor("ann"), a.askedFor("bob"))
		if t.Failed() {
			t.Fatalf("with -seeds %d, the last of them", seed+1)
		}
	}
}
