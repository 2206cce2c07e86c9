package cluster

import (
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/storage/frontier"
)

// An import puts every partition on its way to the node that had it, moved ones too, and notes what waits; begun again
// it does nothing, also when some were taken. Another one is refused, and so is a cluster that runs, or has.
func TestAnImportPutsAllPartitionsOnTheirWay(t *testing.T) {
	t.Parallel()
	url := made(t, Shape{4, 2})
	one, two := mover(t, url, 0, "a"), mover(t, url, 1, "b")
	moved := Way{To: 1, Backup: 5}
	if err := one.Give(t.Context(), 2, moved); err != nil {
		t.Fatal(err)
	}
	mustRefuseImport(t, one, 7, "has a partition that moves")
	if err := two.Take(t.Context(), 2, moved); err != nil {
		t.Fatal(err)
	}
	node := join(t, url, 1, "b")
	mustRefuseImport(t, one, 7, "runs: stop all nodes")
	if err := node.Close(); err != nil {
		t.Fatal(err)
	}
	const backup = 1<<48 - 1
	waits := []frontier.Waits{{Pipeline: "p", Part: 3, Pass: frontier.Pass{Crawl: "c", Number: 4}}}
	for _, m := range []*Mover{one, two, one} {
		if err := m.BeginImport(t.Context(), backup, waits); err != nil {
			t.Fatal(err)
		}
		mustHold(t, m, 1, OnWay(1), &Way{To: 1, Backup: backup})
	}
	if err := one.Take(t.Context(), 0, Way{To: 0, Backup: backup}); err != nil {
		t.Fatal(err)
	}
	if err := two.BeginImport(t.Context(), backup, waits); err != nil {
		t.Fatal(err)
	}
	mustHold(t, one, 0, 0, nil)
	for p := 1; p < 4; p++ {
		mustHold(t, one, p, OnWay(1), &Way{To: 1, Backup: backup})
	}
	mustRefuseImport(t, two, 7, "it was begun with another import, or with this directory in another state (ffffffffffff, and this is 000000000007)")
	rows, err := integers(t.Context(), one.db, `SELECT p FROM webrace.abroad WHERE pipeline = 'p' AND crawl = 'c' AND pass = 4 AND pending`)
	if err != nil || !slices.Equal(rows, []int{3}) {
		t.Errorf("the crawl waits in %v, %v", rows, err)
	}
}

func TestAClusterThatHasRunTakesNoImport(t *testing.T) {
	t.Parallel()
	url := made(t, Shape{1, 1})
	c := join(t, url, 0, "a")
	takePart(t, c, 0)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	mustRefuseImport(t, mover(t, url, 0, "a"), 7, "has run already")
}

func mustRefuseImport(t *testing.T, m *Mover, backup uint64, why string) {
	t.Helper()
	for _, err := range []error{m.MayImport(t.Context(), backup), m.BeginImport(t.Context(), backup, nil)} {
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("an import that is refused because the cluster %s: %v", why, err)
		}
	}
}
