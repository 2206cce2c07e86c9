package fetch

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// happening is a host that comes to ask, or one whose answer has come.
type happening struct {
	at   time.Time
	host int
	turn *addressTurn // whose answer has come
	took time.Duration
}

type happenings []happening

func (h happenings) Len() int           { return len(h) }
func (h happenings) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h happenings) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *happenings) Push(x any)        { *h = append(*h, x.(happening)) }
func (h *happenings) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// TestTurnsAtAnAddress: whatever answers take, and however late hosts come to their turns, no more are in flight
// than one host may have, the pause is kept, every host gets as many turns as the others, and those who wait are
// sent away a few times for each turn, however many they are.
func TestTurnsAtAnAddress(t *testing.T) {
	t.Parallel()
	const hosts, each, pause = 200, 5, time.Second
	for _, parallel := range []int{1, 3} {
		for seed := range uint64(4) {
			random := rand.New(rand.NewPCG(seed, uint64(parallel)))
			turns := newAddressTurns(PolitenessOptions{PerHost: parallel, Delay: pipeline.Duration(pause)})
			var all happenings
			began := time.Unix(1e9, 0)
			for host := range hosts {
				heap.Push(&all, happening{at: began.Add(time.Duration(random.Int64N(int64(time.Second)))), host: host})
			}
			var served [hosts]int
			var rested time.Time
			inFlight, sentAway, most := 0, 0, 0
			for len(all) > 0 {
				next := heap.Pop(&all).(happening)
				if next.turn != nil {
					turns.end(next.turn, next.at, next.took, pause)
					inFlight, rested = inFlight-1, next.at.Add(pause)
					if served[next.host]++; served[next.host] < each {
						heap.Push(&all, happening{at: rested, host: next.host})
					}
					continue
				}
				turn, due := turns.take(netip.IPv6Loopback(), fmt.Sprint(next.host), next.at)
				if turn == nil {
					sentAway++
					if !due.After(next.at) {
						t.Fatalf("a host is sent away until %v, at %v", due, next.at)
					}
					heap.Push(&all, happening{at: due.Add(time.Duration(random.Int64N(int64(100 * time.Millisecond)))), host: next.host})
					continue
				}
				if inFlight++; inFlight > parallel || next.at.Before(rested) {
					t.Fatalf("%d in flight, and the address rests until %v at %v", inFlight, rested, next.at)
				}
				took := time.Duration(random.Int64N(int64(2 * time.Second)))
				heap.Push(&all, happening{at: next.at.Add(took), host: next.host, turn: turn, took: took})
				least := each
				for _, n := range served {
					most, least = max(most, n), min(least, n)
				}
				if most > least+2 {
					t.Fatalf("one host had %d turns, and another %d", most, least)
				}
			}
			if limit := 8 * hosts * each; sentAway > limit {
				t.Errorf("%d in parallel: %d were sent away for %d turns, want at most %d", parallel, sentAway, hosts*each, limit)
			}
		}
	}
}

// TestTurnsThatNobodyComesForAreForgotten: a host that has nothing to ask for any more keeps no other waiting, and
// addresses that rest no more take no memory for ever.
func TestTurnsThatNobodyComesForAreForgotten(t *testing.T) {
	t.Parallel()
	turns := newAddressTurns(PolitenessOptions{PerHost: 1, Delay: pipeline.Duration(time.Second)})
	addr, now := netip.IPv6Loopback(), time.Unix(1e9, 0)
	first, _ := turns.take(addr, "first", now)
	if _, due := turns.take(addr, "gone", now); !due.After(now) {
		t.Fatalf("sent away until %v", due)
	}
	turns.end(first, now, time.Second, time.Second)
	now = now.Add(time.Minute)
	if again, due := turns.take(addr, "first", now); again == nil || len(turns.byAddress[addr].waiting) != 0 {
		t.Errorf("sent away until %v, at %v; waiting %v", due, now, turns.byAddress[addr].waiting)
	}
	for i := range 2 * maxHosts {
		now = now.Add(time.Minute)
		other, _ := turns.take(netip.AddrFrom4([4]byte{1, byte(i >> 16), byte(i >> 8), byte(i)}), "h", now)
		turns.end(other, now, 0, time.Second)
	}
	if n := len(turns.byAddress); n > maxHosts+1 {
		t.Errorf("%d addresses are remembered", n)
	}
}
