package cluster

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/testutil/postgres"
)

func mover(t *testing.T, url string, node int, place string) *Mover {
	t.Helper()
	m, err := OpenMover(t.Context(), url, node, place)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func mustHold(t *testing.T, m *Mover, p, node int, way *Way) {
	t.Helper()
	has, on, err := m.Holder(t.Context(), p)
	if err != nil || has != node || (way == nil) != (on == nil) || way != nil && *way != *on {
		t.Fatalf("partition %d is node %d's, on its way %+v, %v; want %d, %+v", p, has, on, err, node, way)
	}
}

func TestAWayIsReadAsItWasStored(t *testing.T) {
	for _, w := range []Way{{0, 0}, {1023, 0}, {0, 1}, {MostPartitions - 1, 1<<48 - 1}, {7, 0x123456789abc}} {
		if node, back := holderOf(w.stored()); back == nil || *back != w || OnWay(node) != w.To || node >= 0 {
			t.Errorf("%+v is read as %d, %+v", w, node, back)
		}
	}
}

// A partition on its way is nobody's, whoever starts; it comes to the node that it is for, by the very way that it is
// on, once.
func TestAPartitionMovesFromANodeToAnother(t *testing.T) {
	t.Parallel()
	url := made(t, Shape{4, 2})
	if err := join(t, url, 0, "a").Close(); err != nil {
		t.Fatal(err)
	}
	gives, takes := mover(t, url, 0, "a"), mover(t, url, 1, "b")
	way := Way{To: 1, Backup: 1<<48 - 1}
	if err := takes.Take(t.Context(), 2, way); err == nil || !strings.Contains(err.Error(), "partition 2 is node 0's") {
		t.Fatal(err)
	}
	if err := gives.Give(t.Context(), 1, way); err == nil || !strings.Contains(err.Error(), "partition 1 is node 1's") {
		t.Fatal(err)
	}
	if err := gives.Give(t.Context(), 2, way); err != nil {
		t.Fatal(err)
	}
	mustHold(t, takes, 2, OnWay(1), &way)
	if err := gives.Give(t.Context(), 2, Way{To: 1, Backup: 5}); err == nil || !strings.Contains(err.Error(), "in backup ffffffffffff") {
		t.Fatal(err)
	}
	for node, want := range [][]int{{0}, {1, 3}} {
		c := join(t, url, node, []string{"a", "b"}[node])
		if !slices.Equal(c.Mine(), want) || len(c.Coming()) != node {
			t.Fatalf("node %d has %v, and %+v comes", node, c.Mine(), c.Coming())
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	w, err := WhereOf(t.Context(), url)
	if err != nil || !slices.Equal(w.Node, []int{0, 1, OnWay(1), 1}) || w.Nodes[1].Place != "b" {
		t.Fatalf("%+v, %v", w, err)
	}
	s, err := StatusOf(t.Context(), url)
	if err != nil || len(s.Moves) != 1 || s.Moves[0] != (Move{Partition: 2, Way: way}) {
		t.Fatalf("%+v, %v", s, err)
	}
	if err := takes.Take(t.Context(), 2, Way{To: 1, Backup: 5}); err == nil {
		t.Fatal("it came by another way")
	}
	if err := takes.Take(t.Context(), 2, way); err != nil {
		t.Fatal(err)
	}
	if err := gives.Take(t.Context(), 2, way); err == nil {
		t.Fatal("it came twice")
	}
	mustHold(t, gives, 2, 1, nil)
}

// Who has another directory than the node's is not to say what it has.
func TestAPartitionMovesWhereTheNodeKeepsIt(t *testing.T) {
	t.Parallel()
	url := made(t, Shape{4, 2})
	if err := join(t, url, 0, "a").Close(); err != nil {
		t.Fatal(err)
	}
	for _, do := range []func(m *Mover) error{
		func(m *Mover) error { _, _, err := m.Holder(t.Context(), 0); return err },
		func(m *Mover) error { return m.Give(t.Context(), 0, Way{To: 1}) },
		func(m *Mover) error { return m.Take(t.Context(), 0, Way{To: 1}) },
	} {
		if err := do(mover(t, url, 0, "elsewhere")); err == nil || !strings.Contains(err.Error(), "node 0 keeps its partitions at a, and this is elsewhere") {
			t.Fatal(err)
		}
	}
	if _, err := OpenMover(t.Context(), url, 2, "a"); err == nil || !strings.Contains(err.Error(), "from 0 to 1") {
		t.Fatal(err)
	}
	if _, err := OpenMover(t.Context(), postgres.Database(t), 0, "a"); !errors.Is(err, ErrNone) {
		t.Fatal(err)
	}
}

// A process becomes the node, with another data directory, at the moment in which the partition is given away: either
// it does not have the partition, or that is not given away.
func TestAPartitionIsNotGivenAwayUnderANodeThatStarts(t *testing.T) {
	t.Parallel()
	url := made(t, Shape{64, 2})
	var given int
	for p := 0; p < 64; p += 2 {
		place := string(rune('a' + p))
		if err := join(t, url, 0, place).Close(); err != nil {
			t.Fatal(err)
		}
		m := mover(t, url, 0, place)
		var giving sync.WaitGroup
		var gave error
		giving.Go(func() {
			time.Sleep(rand.N(20 * time.Millisecond)) // the other process is at any step of its start by then
			gave = m.Give(t.Context(), p, Way{To: 1, Backup: uint64(p)})
		})
		c, err := Open(context.Background(), url, 0, Options{Place: place + " moved"})
		giving.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if has := slices.Contains(c.Mine(), p); has == (gave == nil) {
			t.Fatalf("partition %d: it is the new node's: %v; given away: %v", p, has, gave)
		}
		if gave == nil {
			given++
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d of 32 were given away", given)
}
